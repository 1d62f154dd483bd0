import re
from pathlib import Path

import pytest

from config.settings_checks import (
    SETTINGS,
    WrongValue,
    master_keys,
    unread_settings,
    wrong_settings,
)

ONE = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
TWO = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI="
NEEDED = {"SECRET_KEY": "for-one-check-" + "0123456789abcdef" * 3, "MASTER_KEYS": f"1:{ONE}"}
ADDRESS = {"PORTAL_BASE_URL": "https://portal.example.com"}
SECRET = "es1_live_do-not-show-this-one"
ROOT = Path(__file__).parents[2]


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
        {"DASHBOARD_BASE_URL": "https://api.example.com", "DASHBOARD_TIMEOUT_SECONDS": "20.5"},
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
    assert wrong_settings(NEEDED | ADDRESS | values) == []


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
        ("DASHBOARD_TIMEOUT_SECONDS", "60"),
        ("DASHBOARD_TIMEOUT_SECONDS", "soon"),
        ("DASHBOARD_TIMEOUT_SECONDS", "nan"),
        ("DASHBOARD_TIMEOUT_SECONDS", "inf"),
        ("DASHBOARD_TIMEOUT_SECONDS", "-1"),
        ("DASHBOARD_TIMEOUT_SECONDS", "0.5"),
        ("DASHBOARD_TIMEOUT_SECONDS", "45.1"),
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
        ("ENABLE_API", "2"),
        ("ENABLE_PORTAL", "nein"),
    ],
)
def test_a_wrong_value_is_reported_in_a_line_that_begins_with_its_name(name, value):
    others = {"PORTAL_ACCOUNT_REF": "acct_0001", "SITE_API_SECRET": SECRET, "ALLOW_PRIVATE_HOSTS": "true"}
    [line] = wrong_settings(NEEDED | ADDRESS | others | {name: value})
    assert line.startswith(f"{name} ")


def test_an_unknown_placeholder_is_named_with_the_one_there_is():
    [line] = wrong_settings(NEEDED | ADDRESS | {"RENEW_URL": "https://example.com/?ref={account}"})
    assert line.startswith("RENEW_URL has {account}, which is no placeholder: the only one is {billing_ref}")


@pytest.mark.parametrize(
    "values",
    [
        {"PORTAL_ACCOUNT_REF": "acct_0001"},
        {"SITE_API_SECRET": SECRET},
        {"ENABLE_API": "false", "ENABLE_PORTAL": "no"},
        {"DEBUG": "true", "ALLOWED_HOSTS": "portal.example.com"},
        {"LOCALHOST_WEBSITES": "demo.localhost:8001"},
    ],
)
def test_settings_that_contradict_each_other_are_reported(values):
    [line] = wrong_settings(NEEDED | ADDRESS | values)
    assert any(name in line for name in values)


def test_no_line_shows_a_secret():
    values = {"SECRET_KEY": "abc-secret", "MASTER_KEYS": f"1:{ONE};{TWO}", "SITE_API_SECRET": "short-secret"}
    shown = "\n".join(
        wrong_settings(values | {"EMAIL_URL": "me:pw-secret@mail", "DATABASE_URL": "pw-secret"})
    )
    assert len(shown.splitlines()) == 7
    assert "-secret" not in shown
    assert ONE not in shown


def test_master_keys_are_read_newest_first():
    assert master_keys(f"1:{ONE}, 2:{TWO}") == [TWO, ONE]


@pytest.mark.parametrize("text", [f"0:{ONE}", f"one:{ONE}", "1:short", f"1:{ONE},", f"1:{ONE};2:{TWO}"])
def test_master_keys_of_another_shape_are_refused(text):
    with pytest.raises(WrongValue, match="must look like"):
        master_keys(text)


def test_a_misspelt_name_in_the_file_is_refused_and_other_programs_names_are_not():
    [line] = wrong_settings(NEEDED, ["DATABSE_URL", "COMPOSE_PROJECT_NAME", "SECRET_KEY"])
    assert line == "DATABSE_URL is no setting: did you mean DATABASE_URL?"


def test_a_misspelt_name_in_the_environment_is_reported():
    assert unread_settings({"ALLOWED_HOST": "a", "PATH": "/bin", "DEBUG": "false"}) == [
        "ALLOWED_HOST is not read: did you mean ALLOWED_HOSTS?"
    ]


def test_secrets_of_stripe_need_its_library(monkeypatch):
    monkeypatch.setattr("config.settings_checks.find_spec", lambda _: None)
    [line] = wrong_settings(NEEDED | {"CALLBACK_SECRETS_STRIPE": "whsec_0123456789abcdefgh"})
    assert "make stripe" in line


def test_every_setting_that_is_read_is_checked_and_documented():
    read = set(re.findall(r'env(?:\.\w+)?\("(\w+)"', (ROOT / "config" / "settings.py").read_text()))
    table = (ROOT / "docs" / "operating.md").read_text().partition("## Settings")[2].partition("\n## ")[0]
    documented = set(re.findall(r"`([A-Z][A-Z_]+)`", "".join(re.findall(r"^\|[^|]*\|", table, re.MULTILINE))))
    assert read == SETTINGS - {"DEMO_PASSWORD"} == documented
