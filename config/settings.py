"""Settings, read from the environment or an ignored ``.env``; docs/operating.md lists every name."""

import os
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from config.databases import caches, databases
from config.env_file import names_in, read_env_file
from config.settings_checks import (
    LOOPBACK_HOSTS,
    callback_secrets,
    hosts_in,
    localhost_websites,
    master_keys,
    resolvers_in,
    stripe_secrets,
    wrong_settings,
)

BASE_DIR = Path(__file__).resolve().parent.parent

if sys.argv[1:2] == ["demo"]:
    # The demo must write its .env before any setting is read.
    from config.demo.environment import prepare_environment

    prepare_environment(BASE_DIR, sys.argv[2:])

env = environ.Env()
env_file = read_env_file(BASE_DIR / ".env")
env.read_env(StringIO(env_file))
# An empty value counts as absent; ``ENABLE_API=`` in a file would switch the service off.
values = {name: text for name, value in os.environ.items() if (text := value.strip())}
if wrong := wrong_settings(values, names_in(env_file)):
    raise ImproperlyConfigured("\n".join(wrong))
env.ENVIRON = values  # type: ignore[assignment]

SECRET_KEY = env.str("SECRET_KEY")
DEBUG = env.bool("DEBUG", default=False)
ALLOWED_HOSTS = hosts_in(env.str("ALLOWED_HOSTS", default=",".join(sorted(LOOPBACK_HOSTS))))
MASTER_KEYS = master_keys(env.str("MASTER_KEYS"))

ENABLE_API = env.bool("ENABLE_API", default=True)
ENABLE_PORTAL = env.bool("ENABLE_PORTAL", default=True)
CALLS_PER_SECOND = env.int("CALLS_PER_SECOND", default=10)
CALLS_BURST = env.int("CALLS_BURST", default=40)
ALLOW_PRIVATE_HOSTS = env.bool("ALLOW_PRIVATE_HOSTS", default=False)
LOCALHOST_WEBSITES = localhost_websites(env.str("LOCALHOST_WEBSITES", default=""))
DNS_RESOLVERS = resolvers_in(env.str("DNS_RESOLVERS", default=""))
CALLBACK_SECRETS = {
    "standard": callback_secrets(env.str("CALLBACK_SECRETS_STANDARD", default="")),
    "stripe": stripe_secrets(env.str("CALLBACK_SECRETS_STRIPE", default="")),
}
STRIPE_API_KEY = env.str("STRIPE_API_KEY", default="")
CALLBACK_LIVEMODE = env.bool("CALLBACK_LIVEMODE", default=True)
CRAWLER_ENABLED = env.bool("CRAWLER_ENABLED", default=False)
CRAWLER_ADDRESSES = env.list("CRAWLER_ADDRESSES", default=[])
CRAWLER_ENGINES = BASE_DIR / env.str("CRAWLER_ENGINES", default="deploy/engines.toml")

SIGN_UP = env.str("SIGN_UP", default="off")

# Without an address, the portal calls the service in its own process, without HTTP (decision record 0040).
DASHBOARD_BASE_URL = env.str("DASHBOARD_BASE_URL", default="")
DASHBOARD_APPLICATION = "config.in_process.application" if ENABLE_API else ""
DASHBOARD_CA_FILE = env.str("DASHBOARD_CA_FILE", default="")
DASHBOARD_CALLS_AT_ONCE = env.int("DASHBOARD_CALLS_AT_ONCE", default=3)
DASHBOARD_TIMEOUT_SECONDS = env.float("DASHBOARD_TIMEOUT_SECONDS", default=15)
PORTAL_BASE_URL = env.str("PORTAL_BASE_URL", default="")
PORTAL_ACCOUNT_REF = env.str("PORTAL_ACCOUNT_REF", default="")
SITE_API_SECRET = env.str("SITE_API_SECRET", default="")
# The page about scans, for those who are scanned; their User-Agent has its address.
SCANNER_URL = env.str("SCANNER_URL", default=f"{PORTAL_BASE_URL}/scanner" if PORTAL_BASE_URL else "")
METRICS_TOKEN = env.str("METRICS_TOKEN", default="")
SUPPORT_URL = env.str("SUPPORT_URL", default="")
REPORT_LOGO = env.str("REPORT_LOGO", default="")
REPORT_COLOR = env.str("REPORT_COLOR", default="#2450c4")
SAMPLE_WEBSITE = env.str("SAMPLE_WEBSITE", default="")
RENEW_URL = env.str("RENEW_URL", default="")
LINK_URL = env.str("LINK_URL", default="")
IMPRINT_URL = env.str("IMPRINT_URL", default="")
PRIVACY_URL = env.str("PRIVACY_URL", default="")
TERMS_URL = env.str("TERMS_URL", default="")
# Statistics and the live feed for everyone; PUBLIC_DEMO publishes made-up websites instead of the own ones.
PUBLIC_TELEMETRY = env.bool("PUBLIC_TELEMETRY", default=True)
PUBLIC_DEMO = env.bool("PUBLIC_DEMO", default=False)
STATUS_URL = env.str("STATUS_URL", default="")
SECURITY_TXT_URL = env.str("SECURITY_TXT_URL", default="")

# https everywhere except in a deployment that only this machine can reach (the demo, the tests).
HTTPS = not LOOPBACK_HOSTS.issuperset(ALLOWED_HOSTS)
TRUST_PROXY = env.bool("TRUST_PROXY", default=False)
STAFF_SECOND_FACTOR = env.bool("STAFF_SECOND_FACTOR", default=True)

INSTALLED_APPS = [
    "audit",
    *(["dashboard_api"] if ENABLE_API else []),
    *(["portal"] if ENABLE_PORTAL else []),
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "csp",
    "django_htmx",
    "config.apps.OperationsConfig",  # django.contrib.admin with our site
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "config",  # after allauth, whose admin it corrects
]

MIDDLEWARE = [
    "config.request_ids.RequestIds",  # first: every response has an id
    "config.health.probes",
    "config.guards.refuse_script_name",
    "config.guards.same_origin_only",
    "django.middleware.security.SecurityMiddleware",
    "config.static_files.StaticFiles",
    "config.caching.without_cookies",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "config.caching.no_store",
    "config.language.language",
    "config.guards.Guard",  # before anything that reads a body
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "config.audit_hooks.on_record",
    "config.sessions.end_old_sessions",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "config.form_limit.FormLimit",
    "config.errors.page_for_not_allowed",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": ["config.templatetags.hosts"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "config.theme.theme",
                "config.keyboard.keyboard",
                *(["config.public_feed.public_feed"] if ENABLE_API else []),
                *(["portal.navigation.navigation"] if ENABLE_PORTAL else []),
            ],
        },
    }
]

SQLITE_SYNCHRONOUS = env.str("SQLITE_SYNCHRONOUS", default="NORMAL")
DATABASES = databases(
    env.str("DATABASE_URL", default="sqlite:///var/records.sqlite3"),
    BASE_DIR,
    short_lived=SQLITE_SYNCHRONOUS,
)
REPORTS_FOLDER = BASE_DIR / env.str("REPORTS_FOLDER", default="var/reports")
DATABASE_ROUTERS = ["config.databases.ShortLivedRouter"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.str("REDIS_URL", default="")
CACHES = caches(REDIS_URL)

AUTHENTICATION_BACKENDS = ["config.sign_in.PasswordBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
ACCOUNT_ADAPTER = "config.sign_in.SignIn"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
# Not that of allauth, which keeps each address that a person ever had.
ACCOUNT_PASSWORD_RESET_TOKEN_GENERATOR = "config.reset_tokens.ResetTokens"  # noqa: S105
ACCOUNT_LOGOUT_ON_GET = False
ACCOUNT_SESSION_REMEMBER = False
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_REAUTHENTICATION_METHODS = ["password", "mfa"]  # no code by e-mail
# Sign-ins, right ones too, as of an office in the morning; failures by address, and by person and address;
# the page that creates a session (config.urls); and what a member does that is on record.
ACCOUNT_RATE_LIMITS = {
    "login": "300/m/ip",
    "login_failed": "5/15m/key",
    "sign_in": "20/h/ip",
    "passkey": "300/m/ip",
    "sample": "120/m/ip",
    "shared": "120/m/ip",
    "form": "300/h/key,900/h/user",  # of a session, and of the person
    "refused": "100/h/user",
    "export": "300/h/user",
    "own_password": "10/h/key,30/h/user",  # of a session, and of the person (config.form_limit)
    "proof": "10/m/key,30/m/user",
    "change_password": "",  # allauth's own two count the person only
    "reauthenticate": "",
}
ALLAUTH_TRUSTED_PROXY_COUNT = int(TRUST_PROXY)
ACCOUNT_FORMS = {
    "change_password": "config.passwords.ChangePasswordForm",
    "reset_password": "config.passwords.ResetPasswordForm",
    "set_password": "config.passwords.SetPasswordForm",
    "reset_password_from_key": "config.passwords.ResetPasswordKeyForm",
}
MFA_ADAPTER = "config.second_factors.SecondFactors"
MFA_FORMS = {
    "activate_totp": "config.second_factors.ActivateForm",
    "add_webauthn": "config.second_factors.AddPasskeyForm",
    "authenticate": "config.second_factors.AuthenticateForm",
    "authenticate_webauthn": "config.second_factors.AuthenticateByPasskeyForm",
    "login_webauthn": "config.second_factors.LoginForm",
    "reauthenticate": "config.second_factors.ReauthenticateForm",
    "reauthenticate_webauthn": "config.second_factors.ReauthenticateByPasskeyForm",
}
MFA_RATE_LIMITS = {"webauthn_login": "300/m/ip"}  # answers of passkeys; "passkey" counts what they answer
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_ALLOW_UNVERIFIED_EMAIL = True  # a link proves the address before a person is made
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_TOTP_ISSUER = "Threat Dashboard"
MFA_TOTP_TOLERANCE = 1  # a code is accepted for half a minute before and after its own
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
# Without a mail server, the page of a lost password names whom to ask (config.sign_in).
EMAIL_URL = env.str("EMAIL_URL", default="")
vars().update(env.email_url_config(EMAIL_URL or "dummymail://"))
EMAIL_TIMEOUT = 10
_SENDER = env.str("DEFAULT_FROM_EMAIL", default="threat-dashboard@localhost")
DEFAULT_FROM_EMAIL = _SENDER if "<" in _SENDER else f"Threat Dashboard <{_SENDER}>"

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = "config.formats"
TIME_ZONE = "UTC"
USE_TZ = True
USE_THOUSAND_SEPARATOR = True

STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "var" / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_ROOT = BASE_DIR / "static" / "root"  # favicon.ico and robots.txt have fixed addresses
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "config.static_files.CollectedFiles"},
}

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "object-src": [NONE],
        "frame-ancestors": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^v1/(?!(docs|public)$)"]  # a signed call is never redirected
# Browsers insist on https for this long, even with an expired certificate: keep it short until renewals work.
SECURE_HSTS_SECONDS = env.int("HSTS_SECONDS", default=3600) if HTTPS else 0
# The deployment owns its subdomains, and leaving a preload list takes months.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUST_PROXY else None
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_NAME = "__Host-sessionid" if HTTPS else "sessionid"
CSRF_COOKIE_NAME = "__Host-csrftoken" if HTTPS else "csrftoken"
THEME_COOKIE_NAME = "__Host-theme" if HTTPS else "theme"
KEYS_COOKIE_NAME = "__Host-keys" if HTTPS else "keys"
LANGUAGE_COOKIE_NAME = "__Host-language" if HTTPS else "language"
LANGUAGE_COOKIE_SECURE = HTTPS
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
CSRF_COOKIE_HTTPONLY = True
MESSAGE_STORAGE = "config.messages.MessageStorage"
CSRF_FAILURE_VIEW = "config.errors.stale_form"
SESSION_ENGINE = "config.sessions"
SESSION_COOKIE_AGE = 14 * 24 * 3600

# People read the log of a deployment that only this machine can reach.
LOG_FORMAT = env.str("LOG_FORMAT", default="json" if HTTPS else "text")
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "json": {"()": "config.logs.JsonLines"},
        "text": {"()": "config.logs.TextLines"},
    },
    "filters": {
        "hosts": {"()": "config.logs.OneInAHundred"},
        "forms": {"()": "config.logs.OneInAHundred"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "loggers": {
        "stripe": {"level": "WARNING"},  # it logs what it sends and gets
        "urllib3.connection": {"level": "ERROR"},  # it logs odd headers that others send, whole
        # The code that refuses a request logs it once.
        "django.request": {"level": "ERROR"},
        "django.security.DisallowedHost": {"filters": ["hosts"]},
        "django.security.csrf": {"filters": ["forms"]},
        # gunicorn sets its own handler, which writes another format.
        "gunicorn.error": {"level": "INFO", "handlers": [], "propagate": True},
    },
    "root": {"handlers": ["console"], "level": "INFO"},
}
# Its events are JSON for programs that collect logs; at a terminal, they would bury what a command prints.
if LOG_FORMAT == "text" or sys.stderr.isatty():
    LOGGING["loggers"]["audit"] = {"level": "WARNING"}
