import pytest
from django.core.checks import run_checks

from portal.checks import calls_another_deployment


def problems():
    return [problem for problem in run_checks() if problem.id and problem.id.startswith("portal.")]


def test_settings_of_the_tests_pass_the_checks():
    assert problems() == []


@pytest.mark.parametrize(
    "url", ["https://api.example.com", "https://api.example.com:8443", "http://127.0.0.1:8000"]
)
def test_base_url_of_a_usable_shape_passes(settings, url):
    settings.DASHBOARD_BASE_URL = url
    assert problems() == []


def test_without_a_base_url_the_service_is_in_this_process(settings):
    settings.DASHBOARD_BASE_URL = ""
    assert problems() == []


def test_without_a_base_url_a_portal_alone_has_nothing_to_ask(settings):
    settings.DASHBOARD_BASE_URL = settings.DASHBOARD_APPLICATION = ""
    [problem] = problems()
    assert (problem.id, "DASHBOARD_BASE_URL" in problem.hint) == ("portal.E001", True)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000", "http://localhost:8000", "http://[::1]:8000"])
def test_asking_this_machine_by_a_name_that_it_refuses_is_an_error(settings, url):
    settings.DASHBOARD_BASE_URL, settings.ALLOWED_HOSTS = url, ["portal.example.com"]
    [problem] = problems()
    assert (problem.id, "ALLOWED_HOSTS" in problem.msg) == ("portal.E005", True)
    settings.DASHBOARD_APPLICATION = ""  # then another process answers there, under names of its own
    assert problems() == []


@pytest.mark.parametrize("url", ["http://api.example.com", "https://api.example.com/"])
def test_base_url_that_cannot_be_used_is_an_error_that_names_the_setting(settings, url):
    settings.DASHBOARD_BASE_URL = url
    [problem] = problems()
    assert problem.id == "portal.E001"
    assert "DASHBOARD_BASE_URL" in problem.hint


def test_a_logo_that_cannot_be_used_is_a_warning(settings):
    settings.REPORT_LOGO = "/nowhere/logo.png"
    [problem] = problems()
    assert (problem.id, problem.is_serious(), "/nowhere/logo.png" in problem.msg) == (
        "portal.W006",
        False,
        True,
    )


@pytest.mark.parametrize(
    ("url", "application", "warns"),
    [
        ("http://127.0.0.1:8001", "config.in_process.application", True),
        ("https://portal.example.com", "config.in_process.application", True),
        ("https://api.example.com", "config.in_process.application", False),
        ("http://127.0.0.1:8001", "", False),
        ("", "config.in_process.application", False),
    ],
)
def test_a_deployment_that_calls_itself_over_http_is_a_warning(settings, url, application, warns):
    settings.DASHBOARD_BASE_URL, settings.DASHBOARD_APPLICATION = url, application
    settings.PORTAL_BASE_URL = "https://portal.example.com"
    assert [problem.id for problem in calls_another_deployment()] == (["portal.W008"] if warns else [])
