"""Settings that work and are unsafe: each has its line for operators, and a safe deployment has none."""

from types import SimpleNamespace

import pytest

from config import doctor
from config import unsafe_settings as checks
from config.unsafe_settings import unsafe_settings

PASSWORD = "a-password-that-no-line-shows"


@pytest.fixture(autouse=True)
def settings(monkeypatch, tmp_path):
    """Settings of a safe deployment."""
    (tmp_path / ".env").touch(mode=0o600)
    (tmp_path / "records.sqlite3").touch(mode=0o600)
    safe = SimpleNamespace(
        HTTPS=True,
        STAFF_SECOND_FACTOR=True,
        ALLOW_PRIVATE_HOSTS=False,
        SECURE_HSTS_SECONDS=3600,
        SQLITE_SYNCHRONOUS="FULL",
        PUBLIC_DEMO=False,
        SAMPLE_WEBSITE="",
        BASE_DIR=tmp_path,
        REDIS_URL="redis://localhost:6379/0",
        EMAIL_URL=f"smtp+tls://user:{PASSWORD}@mail.example.com:587",
        DATABASES={"default": {"ENGINE": "sqlite3", "NAME": tmp_path / "records.sqlite3"}},
    )
    monkeypatch.setattr(checks, "settings", safe)
    return safe


def test_a_safe_deployment_has_no_line():
    assert list(unsafe_settings()) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("STAFF_SECOND_FACTOR", False),
        ("ALLOW_PRIVATE_HOSTS", True),
        ("SQLITE_SYNCHRONOUS", "NORMAL"),
        ("PUBLIC_DEMO", True),
        ("SAMPLE_WEBSITE", "acct_0001/shop.example.com"),
        ("REDIS_URL", f"redis://:{PASSWORD}@cache.example.com:6379/0"),
        ("EMAIL_URL", f"smtp://user:{PASSWORD}@mail.example.com:25"),
    ],
)
def test_an_unsafe_setting_has_a_line_that_names_it_and_shows_no_secret(settings, name, value):
    setattr(settings, name, value)
    [line] = unsafe_settings()
    assert line.startswith(f"{name} ")
    assert PASSWORD not in line
    settings.HTTPS = False
    assert list(unsafe_settings()) == []


def test_browsers_must_insist_on_https(settings):
    settings.SECURE_HSTS_SECONDS = 0
    [line] = unsafe_settings()
    assert line.startswith("HSTS_SECONDS is 0")


def test_postgresql_has_no_line_about_sqlite(settings):
    settings.SQLITE_SYNCHRONOUS = "NORMAL"
    assert len(list(unsafe_settings())) == 1
    settings.DATABASES = {"default": {"ENGINE": "postgresql", "HOST": "", "OPTIONS": {}}}
    assert list(unsafe_settings()) == []


@pytest.mark.parametrize(
    ("host", "mode", "is_safe"),
    [
        ("db.example.com", None, False),
        ("db.example.com", "prefer", False),
        ("db.example.com", "verify-full", True),
        ("127.0.0.1", None, True),
        ("/run/postgresql", None, True),
        ("", None, True),
    ],
)
def test_a_database_elsewhere_needs_encryption(settings, host, mode, is_safe):
    settings.DATABASES = {"default": {"ENGINE": "postgresql", "HOST": host, "OPTIONS": {"sslmode": mode}}}
    assert [line.split()[0] for line in unsafe_settings()] == ([] if is_safe else ["DATABASE_URL"])


@pytest.mark.parametrize("name", [".env", "records.sqlite3"])
def test_files_are_for_their_user_alone(tmp_path, name):
    (tmp_path / name).chmod(0o640)
    [line] = unsafe_settings()
    assert f"chmod 600 {tmp_path / name}" in line


@pytest.mark.django_db
def test_doctor_has_these_lines(settings, monkeypatch):
    settings.STAFF_SECOND_FACTOR = False
    monkeypatch.setattr(doctor, "_database_problems", lambda **_: iter(()))
    assert any(line.startswith("STAFF_SECOND_FACTOR is off") for line in doctor.problems())
