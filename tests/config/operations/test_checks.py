"""The system checks of the deployment: each line names its setting, and a safe deployment has none."""

from itertools import chain
from types import SimpleNamespace

import pytest

from config.operations import checks
from config.settings import ENVIRONMENT

PASSWORD = "a-password-that-no-line-shows"
SAFE = {
    "ENABLE_API": True,
    "ENABLE_PORTAL": True,
    "PORTAL_ACCOUNT_REF": "",
    "SITE_API_SECRET": "",
    "LOCALHOST_WEBSITES": {},
    "ALLOW_PRIVATE_HOSTS": False,
    "DEBUG": False,
    "ALLOWED_HOSTS": ["api.example.com", ".example.com"],
    "HTTPS": True,
    "TRUST_PROXY": True,
    "SIGN_UP": "open",
    "EMAIL_URL": f"smtp+tls://user:{PASSWORD}@mail.example.com:587",
    "PORTAL_BASE_URL": "https://Portal.example.com:8443",
    "STAFF_SECOND_FACTOR": True,
    "SQLITE_SYNCHRONOUS": "FULL",
    "PUBLIC_DEMO": False,
    "SAMPLE_WEBSITE": "",
    "CRAWLER_ENABLED": True,
    "CRAWLER_WALL": True,
    "SUPPORT_URL": "mailto:help@example.com",
    "REDIS_URL": "redis://localhost:6379/0",
    "ENVIRONMENT": SimpleNamespace(misspelt=lambda _environ: []),
}


@pytest.fixture(autouse=True)
def settings(monkeypatch, tmp_path):
    """Settings of a safe deployment."""
    (tmp_path / ".env").touch(mode=0o600)
    (tmp_path / "records.sqlite3").touch(mode=0o600)
    databases = {"default": {"ENGINE": "sqlite3", "NAME": tmp_path / "records.sqlite3"}}
    paths = {"BASE_DIR": tmp_path, "REPORTS_FOLDER": tmp_path / "var" / "reports"}
    safe = SimpleNamespace(**SAFE, **paths, DATABASES=databases)
    monkeypatch.setattr(checks, "settings", safe)
    return safe


def found():
    """Return the messages by their ids."""
    parts = (checks.contradictions(), checks.private_hosts(), checks.own_address(), checks.risks())
    return {each.id: each.msg for each in chain(*parts)}


def test_a_safe_deployment_has_no_line():
    assert found() == {}


@pytest.mark.parametrize(
    ("number", "values"),
    [
        ("E001", {"ENABLE_API": False, "ENABLE_PORTAL": False, "SIGN_UP": "off"}),
        ("E002", {"PORTAL_ACCOUNT_REF": "acct_0001"}),
        ("E002", {"SITE_API_SECRET": PASSWORD}),
        ("E003", {"LOCALHOST_WEBSITES": {"demo.localhost": 8001}}),
        ("E004", {"DEBUG": True}),
        ("E005", {"SIGN_UP": "invite", "ENABLE_API": False}),
        ("E006", {"SIGN_UP": "open", "EMAIL_URL": ""}),
        ("E007", {"PORTAL_BASE_URL": ""}),
        ("E008", {"ALLOW_PRIVATE_HOSTS": True}),
        ("W013", {"ALLOW_PRIVATE_HOSTS": True, "SIGN_UP": "invite"}),
        ("W001", {"PORTAL_BASE_URL": "https://portal.example.org"}),
        ("W001", {"PORTAL_BASE_URL": "https://portal.example.org", "HTTPS": False}),
        ("W002", {"TRUST_PROXY": False}),
        ("W004", {"STAFF_SECOND_FACTOR": False}),
        ("W005", {"SQLITE_SYNCHRONOUS": "NORMAL"}),
        ("W006", {"PUBLIC_DEMO": True}),
        ("W007", {"SAMPLE_WEBSITE": "acct_0001/shop.example.com"}),
        ("W008", {"CRAWLER_ENABLED": True, "SUPPORT_URL": ""}),
        ("W013", {"CRAWLER_ENABLED": True, "CRAWLER_WALL": False}),
        ("W010", {"REDIS_URL": f"redis://:{PASSWORD}@cache.example.com:6379/0"}),
        ("W010", {"EMAIL_URL": f"smtp://user:{PASSWORD}@mail.example.com:25"}),
    ],
)
def test_a_line_names_the_setting_and_shows_no_secret(settings, number, values):
    vars(settings).update(values)
    [(found_id, line)] = found().items()
    assert found_id == f"config.{number}"
    assert any(name in line for name in values)
    assert PASSWORD not in line


@pytest.mark.parametrize(
    ("values", "needed"),
    [
        ({"HTTPS": False, "ENABLE_PORTAL": True, "EMAIL_URL": ""}, False),
        ({"HTTPS": False, "ENABLE_PORTAL": False}, True),
        ({"HTTPS": True, "ENABLE_PORTAL": False, "EMAIL_URL": ""}, False),
    ],
    ids=["this machine", "mail of the service alone", "service without mail"],
)
def test_the_address_that_links_lead_to_is_needed_for_mail_and_for_a_portal(settings, values, needed):
    vars(settings).update(values, PORTAL_BASE_URL="", SIGN_UP="off")
    assert ("config.E007" in found()) is needed


def test_links_of_a_service_alone_lead_to_a_portal_elsewhere(settings):
    settings.ENABLE_PORTAL, settings.SIGN_UP = False, "off"
    settings.PORTAL_BASE_URL = "https://portal.example.org"
    assert found() == {}


def test_a_misspelt_setting_in_the_environment_is_named(settings, monkeypatch):
    settings.ENVIRONMENT = ENVIRONMENT
    monkeypatch.setenv("DATABSE_URL", "postgres://here/there")
    assert found() == {"config.W003": "DATABSE_URL is not a setting: did you mean DATABASE_URL?"}


def test_postgresql_has_no_line_about_sqlite(settings):
    settings.SQLITE_SYNCHRONOUS = "NORMAL"
    settings.DATABASES = {"default": {"ENGINE": "postgresql", "HOST": "", "OPTIONS": {}}}
    assert found() == {}


@pytest.mark.parametrize(
    ("host", "mode", "is_safe"),
    [
        ("db.example.com", None, False),
        ("db.example.com", "prefer", False),
        ("db.example.com", "verify-full", True),
        ("127.0.0.1", None, True),
        ("/run/postgresql", None, True),
    ],
)
def test_a_database_elsewhere_needs_encryption(settings, host, mode, is_safe):
    settings.DATABASES = {"default": {"ENGINE": "postgresql", "HOST": host, "OPTIONS": {"sslmode": mode}}}
    assert list(found()) == ([] if is_safe else ["config.W009"])


@pytest.mark.parametrize("name", [".env", "records.sqlite3"])
def test_files_are_for_their_user_alone(tmp_path, name):
    (tmp_path / name).chmod(0o640)
    assert f"chmod 600 {tmp_path / name}" in found()["config.W011"]


def test_a_folder_for_reports_that_cannot_be_used_is_named(tmp_path):
    (tmp_path / "var").write_text("a file")
    assert "reports are refused" in found()["config.W012"]
