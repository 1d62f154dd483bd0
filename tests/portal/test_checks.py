import pytest
from django.core.checks import run_checks


def problems():
    return [
        error_page for error_page in run_checks() if error_page.id and error_page.id.startswith("portal.")
    ]


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
    [error_page] = problems()
    assert (error_page.id, "DASHBOARD_BASE_URL" in error_page.hint) == ("portal.E001", True)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000", "http://localhost:8000", "http://[::1]:8000"])
def test_asking_this_machine_by_a_name_that_it_refuses_is_an_error(settings, url):
    settings.DASHBOARD_BASE_URL, settings.ALLOWED_HOSTS = url, ["portal.example.com"]
    [error_page] = problems()
    assert (error_page.id, "ALLOWED_HOSTS" in error_page.msg) == ("portal.E005", True)
    settings.DASHBOARD_APPLICATION = ""  # then another process answers there, under names of its own
    assert problems() == []


@pytest.mark.parametrize("url", ["http://api.example.com", "https://api.example.com/"])
def test_base_url_that_cannot_be_used_is_an_error_that_names_the_setting(settings, url):
    settings.DASHBOARD_BASE_URL = url
    [error_page] = problems()
    assert error_page.id == "portal.E001"
    assert "DASHBOARD_BASE_URL" in error_page.hint


@pytest.mark.parametrize("seconds", [1, 15, 45.0])
def test_timeout_that_a_page_may_wait_passes(settings, seconds):
    settings.DASHBOARD_TIMEOUT_SECONDS = seconds
    assert problems() == []


@pytest.mark.parametrize("seconds", [-1, 0, 0.5, 45.1, float("inf"), float("nan")])
def test_timeout_out_of_bounds_is_an_error_that_names_the_setting(settings, seconds):
    settings.DASHBOARD_TIMEOUT_SECONDS = seconds
    [error_page] = problems()
    assert error_page.id == "portal.E002"
    assert "1 to 45 seconds" in error_page.msg
    assert "DASHBOARD_TIMEOUT_SECONDS" in error_page.hint


def test_account_of_the_environment_needs_reference_and_secret(settings):
    settings.PORTAL_ACCOUNT_REF, settings.SITE_API_SECRET = "acct_0001", "0123456789abcdef"
    assert problems() == []


@pytest.mark.parametrize("name", ["PORTAL_ACCOUNT_REF", "SITE_API_SECRET"])
def test_account_of_the_environment_given_by_half_is_an_error_without_the_value(settings, name):
    setattr(settings, name, "canary-0123456789abcdef")
    [error_page] = problems()
    assert error_page.id == "portal.E003"
    assert "manage.py connect_account" in error_page.hint
    assert "canary" not in str(error_page)


@pytest.mark.parametrize("url", ["", "https://portal.example.com", "http://127.0.0.1:8000"])
def test_an_own_address_to_which_links_can_lead_passes(settings, url):
    settings.PORTAL_BASE_URL = url
    assert problems() == []


@pytest.mark.parametrize(
    "url", ["portal.example.com", "http://portal.example.com", "https://example.com/portal"]
)
def test_an_own_address_that_cannot_be_used_is_an_error_that_names_the_setting(settings, url):
    settings.PORTAL_BASE_URL = url
    [error_page] = problems()
    assert (error_page.id, "PORTAL_BASE_URL" in error_page.hint) == ("portal.E004", True)
