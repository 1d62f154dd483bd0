import pytest
from django.core.checks import run_checks

from portal.checks import service_is_elsewhere


def problems():
    return [problem for problem in run_checks() if problem.id and problem.id.startswith("portal.")]


def test_settings_of_the_tests_pass_the_checks():
    assert problems() == []


def test_without_a_base_url_the_service_is_in_this_process(settings):
    settings.DASHBOARD_BASE_URL = ""
    assert problems() == []


def test_without_a_base_url_a_portal_alone_has_nothing_to_ask(settings):
    settings.DASHBOARD_BASE_URL = settings.DASHBOARD_APPLICATION = ""
    [problem] = problems()
    assert (problem.id, "DASHBOARD_BASE_URL" in problem.msg) == ("portal.E001", True)


def test_a_logo_that_cannot_be_used_is_a_warning(settings):
    settings.REPORT_LOGO = "/nowhere/logo.png"
    [problem] = problems()
    assert (problem.id, problem.is_serious(), "/nowhere/logo.png" in problem.msg) == (
        "portal.W001",
        False,
        True,
    )


@pytest.mark.parametrize(
    ("url", "application", "is_refused"),
    [
        ("http://127.0.0.1:8001", "config.web.in_process.application", True),
        ("https://portal.example.com", "config.web.in_process.application", True),
        ("https://api.example.com", "config.web.in_process.application", False),
        ("http://127.0.0.1:8001", "", False),
        ("", "config.web.in_process.application", False),
    ],
)
def test_a_deployment_that_calls_itself_over_http_is_refused(settings, url, application, is_refused):
    settings.DASHBOARD_BASE_URL, settings.DASHBOARD_APPLICATION = url, application
    settings.PORTAL_BASE_URL = "https://portal.example.com"
    assert [problem.id for problem in service_is_elsewhere()] == (["portal.E002"] if is_refused else [])
