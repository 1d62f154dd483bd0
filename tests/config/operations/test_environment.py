import os
import re
import runpy
from pathlib import Path
from unittest.mock import patch

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.operations import environment
from config.operations.environment import Environment, WrongValue, master_keys
from config.settings import env

ONE = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
TWO = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI="
NEEDED = {"SECRET_KEY": "for-one-check-" + "0123456789abcdef" * 3, "MASTER_KEYS": f"1:{ONE}"}
SECRET = "es1_live_do-not-show-this-one"
ROOT = Path(__file__).parents[3]


def wrong_settings(values):
    """Return the lines with which the settings refuse an environment."""
    with patch.dict(os.environ, values, clear=True):
        try:
            runpy.run_path(str(ROOT / "config" / "settings.py"))
        except ImproperlyConfigured as error:
            return str(error).splitlines()
    return []


def test_the_two_required_settings_are_enough():
    assert wrong_settings(NEEDED) == []


@pytest.mark.parametrize(
    "values",
    [
        {"ALLOWED_HOSTS": "portal.example.com, .example.org,localhost,127.0.0.1,[::1]"},
        {"DEBUG": "true", "ALLOWED_HOSTS": "localhost,127.0.0.1"},
        {"DATABASE_URL": "postgres://shop@db.example.com/dashboard", "REDIS_URL": "redis://cache:6379/0"},
        {
            "EMAIL_URL": "smtp+tls://me:pw@mail.example.com:587",
            "DEFAULT_FROM_EMAIL": "Alerts <a@example.com>",
        },
        {"SUPPORT_URL": "mailto:help@example.com", "RENEW_URL": "https://example.com/renew"},
        {"RENEW_URL": "https://example.com/{billing_ref}?ref={billing_ref}"},
        {"RENEW_URL": "mailto:sales@example.com?subject={billing_ref}"},
        {"DASHBOARD_BASE_URL": "https://api.example.com", "DASHBOARD_TIMEOUT_SECONDS": "20"},
        {"DASHBOARD_CALLS_AT_ONCE": "7", "HSTS_SECONDS": "0"},
        {"REPORT_LOGO": "/srv/logo.png", "REPORT_COLOR": "#7A1f5c"},
        {"PORTAL_ACCOUNT_REF": "acct_0001", "SITE_API_SECRET": SECRET},
        {"ENABLE_API": "false", "TRUST_PROXY": "1", "ALLOW_PRIVATE_HOSTS": "off"},
        {"MASTER_KEYS": f"2:{TWO},1:{ONE}"},
        {"DNS_RESOLVERS": "9.9.9.9, 127.0.0.1:5353,2620:fe::fe,[2620:fe::fe]:53"},
        {"CALLBACK_SECRETS_STRIPE": "whsec_0123456789abcdefgh,whsec_fedcba9876543210"},
        {"STRIPE_API_KEY": "rk_live_0123456789abcdef"},
        {"DEBUG": "", "DATABASE_URL": ""},
    ],
)
def test_right_values_pass(values):
    assert wrong_settings(NEEDED | values) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SECRET_KEY", ""),
        ("SECRET_KEY", "abc"),
        ("REPORT_COLOR", "red"),
        ("REPORT_COLOR", "#ffcc00"),
        ("SECRET_KEY", "a" * 60),
        ("SECRET_KEY", "django-insecure-" + "0123456789abcdef" * 3),
        ("MASTER_KEYS", ""),
        ("MASTER_KEYS", ONE),
        ("MASTER_KEYS", "1:" + "A" * 43 + "="),
        ("MASTER_KEYS", f"1:{ONE},1:{TWO}"),
        ("DEBUG", "ja"),
        ("ALLOWED_HOSTS", "*"),
        ("ALLOWED_HOSTS", "portal.example.com,*"),
        ("ALLOWED_HOSTS", "https://portal.example.com"),
        ("ALLOWED_HOSTS", "portal.example.com:443"),
        ("ALLOWED_HOSTS", "portal.example.com."),
        ("ALLOWED_HOSTS", "portal.example.com api.example.com"),
        ("TRUST_PROXY", "10.0.0.1"),
        ("DATABASE_URL", "mysql://root@127.0.0.1/dashboard"),
        ("DATABASE_URL", "records.sqlite3"),
        ("DATABASE_URL", "sqlite://"),
        ("DATABASE_URL", "sqlite:///"),
        ("DATABASE_URL", "sqlite://:memory:"),
        ("REDIS_URL", "http://127.0.0.1:6379"),
        ("REDIS_URL", "cache.example.com:6379"),
        ("REDIS_URL", "redis://"),
        ("EMAIL_URL", "mail.example.com"),
        ("DEFAULT_FROM_EMAIL", "alerts"),
        ("DASHBOARD_BASE_URL", "http://api.example.com"),
        ("DASHBOARD_BASE_URL", "https://api.example.com/"),
        ("DASHBOARD_CALLS_AT_ONCE", "0"),
        ("HSTS_SECONDS", "a year"),
        ("DASHBOARD_CA_FILE", "/missing/authority.pem"),
        ("DASHBOARD_CA_FILE", __file__),
        ("DASHBOARD_TIMEOUT_SECONDS", "46"),
        ("DASHBOARD_TIMEOUT_SECONDS", "soon"),
        ("DASHBOARD_TIMEOUT_SECONDS", "-1"),
        ("PORTAL_BASE_URL", "portal.example.com"),
        ("PORTAL_BASE_URL", "http://portal.example.com"),
        ("PORTAL_BASE_URL", "https://example.com/portal"),
        ("SITE_API_SECRET", "short"),
        ("ALLOW_PRIVATE_HOSTS", "maybe"),
        ("LOCALHOST_WEBSITES", "shop.example.com:8001"),
        ("LOCALHOST_WEBSITES", "localhost:8001"),
        ("LOCALHOST_WEBSITES", "demo.localhost"),
        ("LOCALHOST_WEBSITES", "demo.localhost:65536"),
        ("DNS_RESOLVERS", "dns.example.com"),
        ("DNS_RESOLVERS", "9.9.9.9:0"),
        ("SUPPORT_URL", "javascript:alert(1)"),
        ("RENEW_URL", "example.com/renew"),
        ("RENEW_URL", "https://example.com/renew?ref={account}"),
        ("RENEW_URL", "https://example.com/renew?ref={billing_ref}&to={}"),
        ("RENEW_URL", "https://example.com/renew?ref={billing_ref"),
        ("RENEW_URL", "https://example.com/renew?ref=billing_ref}"),
        ("RENEW_URL", "https://{billing_ref}.example.com/renew"),
        ("LINK_URL", "//example.com"),
        ("CALLBACK_SECRETS_STRIPE", "sk_live_0123456789abcdef"),
        ("CALLBACK_SECRETS_STRIPE", "whsec_0123456789abcdef,whsec_1,whsec_2"),
        ("STRIPE_API_KEY", "sk_live_0123456789abcdef"),
        ("SIGN_UP", "everyone"),
        ("ENABLE_API", "2"),
        ("ENABLE_PORTAL", "nein"),
    ],
)
def test_a_wrong_value_is_reported_in_a_line_that_begins_with_its_name(name, value):
    [line] = wrong_settings(NEEDED | {name: value})
    assert line.startswith(f"{name} ")


def test_no_line_shows_a_secret():
    values = {"SECRET_KEY": "abc-secret", "MASTER_KEYS": f"1:{ONE};{TWO}", "SITE_API_SECRET": "short-secret"}
    shown = "\n".join(
        wrong_settings(values | {"EMAIL_URL": "me:pw-secret@mail", "DATABASE_URL": "pw-secret"})
    )
    assert len(shown.splitlines()) == 5
    assert "-secret" not in shown
    assert ONE not in shown


def test_master_keys_are_read_newest_first():
    assert master_keys(f"1:{ONE}, 2:{TWO}") == [TWO, ONE]


@pytest.mark.parametrize("text", [f"0:{ONE}", f"one:{ONE}", "1:short", f"1:{ONE},", f"1:{ONE};2:{TWO}"])
def test_master_keys_of_another_shape_are_refused(text):
    with pytest.raises(WrongValue, match="must look like"):
        master_keys(text)


def test_misspelt_names_are_named_and_other_programs_names_are_not():
    names = ["DATABSE_URL", "COMPOSE_PROJECT_NAME", "SECRET_KEY"]
    assert env.misspelt(names) == ["DATABSE_URL is not a setting: did you mean DATABASE_URL?"]


def test_secrets_of_stripe_need_its_library(monkeypatch):
    monkeypatch.setattr(environment, "find_spec", lambda _: None)
    [line] = wrong_settings(NEEDED | {"CALLBACK_SECRETS_STRIPE": "whsec_0123456789abcdefgh"})
    assert "make stripe" in line


def test_every_setting_that_is_read_is_documented():
    table = (ROOT / "docs" / "operating" / "settings.md").read_text()
    documented = set(re.findall(r"`([A-Z][A-Z_]+)`", "".join(re.findall(r"^\|[^|]*\|", table, re.MULTILINE))))
    assert env.names - {"DEMO_PASSWORD"} == documented


FORMS = ["DEBUG=false", "export DEBUG=false", "DEBUG=", "DEBUG= false ", "DEBUG='a # b'", 'DEBUG="a = b"']
FORMS += ["DEBUG=a=b", "debug_2=on", "", "# DEBUG here", "  ", "\t", "  # indented"]
BROKEN = [
    f"SITE_API_SECRET {SECRET}",
    f"SITE_API_SECRET = {SECRET}",
    f" SITE_API_SECRET={SECRET}",
    f"export  SITE_API_SECRET={SECRET}",
    f"SITE-API-SECRET={SECRET}",
    f"SITE_API_SECRET: {SECRET}",
    f"={SECRET}",
    f"SITE_API_SECRET={SECRET}\0",
    SECRET,
    "export",
]


@pytest.fixture
def file(tmp_path):
    return tmp_path / ".env"


def refusal_of(file):
    with pytest.raises(ImproperlyConfigured) as refusal:
        Environment(file).refuse_wrong()
    return str(refusal.value)


@pytest.mark.parametrize("line", BROKEN)
def test_a_broken_line_has_its_number_and_is_not_shown(file, line):
    file.write_text(f"# first\n{line}\nDEBUG=false\n")
    assert refusal_of(file) == (
        f"Line 2 of {file} is not NAME=value: leave no blanks around NAME, write lists on one line."
    )


@pytest.mark.once
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_of_all_forms_are_read_without_a_warning(fresh_checkout, end):
    text = end.join([*FORMS, "DEBUG=false", ""])
    (fresh_checkout.folder / ".env").write_bytes(text.encode("utf-8-sig"))
    done = fresh_checkout.manage("check", "--fail-level", "WARNING", **NEEDED)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_file_in_another_encoding_is_refused_with_the_line(file):
    file.write_bytes(b"DEBUG=false\nSUPPORT_URL=mailto:j\xf6rg@example.com\n")
    assert refusal_of(file) == f"Line 2 of {file} is not UTF-8: save the file as UTF-8."


def test_a_misspelt_name_in_the_file_is_refused(file):
    file.write_text("export DEMO_PASWORD=abc\n")
    assert refusal_of(file) == "DEMO_PASWORD is not a setting: did you mean DEMO_PASSWORD?"
