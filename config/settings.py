"""Settings from the environment or a ``.env`` file; docs/operating/settings.md lists every name."""

import sys
from pathlib import Path
from typing import Any

import environ
from csp.constants import NONE, SELF

from config.operations import environment as read
from config.operations.databases import caches, databases
from config.operations.environment import LOOPBACK_HOSTS, Environment

BASE_DIR = Path(__file__).resolve().parent.parent

if sys.argv[1:2] == ["demo"]:
    # The demo writes its .env before any setting is read.
    from config.demo.environment import prepare_environment

    prepare_environment(BASE_DIR, sys.argv[2:])

# env(NAME, READER, DEFAULT) is the value of a setting; wrong values are refused at the end of this file.
ENVIRONMENT = env = Environment(BASE_DIR / ".env")

SECRET_KEY = env.required(
    "SECRET_KEY",
    read.secret_key,
    "",
    "Set 50 or more random characters, or run 'manage.py demo' to try the product.",
)
MASTER_KEYS: list[str] = env.required(
    "MASTER_KEYS", read.master_keys, [], "Set numbered keys, newest first, such as '1:<44 characters>'."
)
DEBUG = env("DEBUG", read.boolean, False)
ALLOWED_HOSTS = env("ALLOWED_HOSTS", read.hosts, sorted(LOOPBACK_HOSTS))

ENABLE_API = env("ENABLE_API", read.boolean, True)
ENABLE_PORTAL = env("ENABLE_PORTAL", read.boolean, True)
CALLS_PER_SECOND = env("CALLS_PER_SECOND", read.number(1, 9999), 10)
CALLS_BURST = env("CALLS_BURST", read.number(1, 9999), 40)
ALLOW_PRIVATE_HOSTS = env("ALLOW_PRIVATE_HOSTS", read.boolean, False)
LOCALHOST_WEBSITES: dict[str, int] = env("LOCALHOST_WEBSITES", read.localhost_websites, {})
DNS_RESOLVERS: list[tuple[str, int]] = env("DNS_RESOLVERS", read.resolvers, [])
RDAP_SERVICE = env("RDAP_SERVICE", read.base_url, "")
CALLBACK_SECRETS: dict[str, list[str]] = {
    "standard": env("CALLBACK_SECRETS_STANDARD", read.callback_secrets, []),
    "stripe": env("CALLBACK_SECRETS_STRIPE", read.stripe_secrets, []),
}
STRIPE_API_KEY = env(
    "STRIPE_API_KEY",
    read.matching(
        "rk_(live|test)_[A-Za-z0-9_]{10,240}",
        "must be a restricted key that may read subscriptions and nothing else: rk_live_... or rk_test_...",
    ),
    "",
)
CALLBACK_LIVEMODE = env("CALLBACK_LIVEMODE", read.boolean, True)
CRAWLER_ENABLED = env("CRAWLER_ENABLED", read.boolean, False)
CRAWLER_WALL = env("CRAWLER_WALL", read.boolean, True)
CRAWLER_ADDRESSES: list[str] = env("CRAWLER_ADDRESSES", read.prefixes, [])
CRAWLER_ENGINES = BASE_DIR / env("CRAWLER_ENGINES", str, "deploy/engines.toml")
RETIREJS_FILE = env("RETIREJS_FILE", str, "")

SIGN_UP = env("SIGN_UP", read.matching("off|invite|open", "is {!r}: set off, invite or open."), "off")

# Without an address, the portal calls the service in its own process, without HTTP.
DASHBOARD_BASE_URL = env("DASHBOARD_BASE_URL", read.base_url, "")
DASHBOARD_APPLICATION = "config.web.in_process.application" if ENABLE_API else ""
DASHBOARD_CA_FILE = env("DASHBOARD_CA_FILE", read.certificates, "")
DASHBOARD_CALLS_AT_ONCE = env("DASHBOARD_CALLS_AT_ONCE", read.number(1, 9999), 3)
DASHBOARD_TIMEOUT_SECONDS = env("DASHBOARD_TIMEOUT_SECONDS", read.number(1, 45), 15)
PORTAL_BASE_URL = env("PORTAL_BASE_URL", read.base_url, "")
PORTAL_ACCOUNT_REF = env("PORTAL_ACCOUNT_REF", str, "")
SITE_API_SECRET = env(
    "SITE_API_SECRET", read.matching(".{16,}", "is too short: the service issues longer ones."), ""
)
# The page about scans, for owners of scanned websites; the User-Agent of scans has its address.
SCANNER_URL = env("SCANNER_URL", read.page, f"{PORTAL_BASE_URL}/scanner" if PORTAL_BASE_URL else "")
METRICS_TOKEN = env(
    "METRICS_TOKEN",
    read.matching("[!-~]{32,}", "must have 32 or more printable characters without spaces."),
    "",
)
DISPUTE_DAYS = env("DISPUTE_DAYS", read.number(1, 30), 2)  # working days in which analysts answer
SUPPORT_URL = env("SUPPORT_URL", read.page, "")
REPORT_LOGO = env("REPORT_LOGO", str, "")
REPORT_COLOR = env("REPORT_COLOR", read.color, "#2450c4")
SAMPLE_WEBSITE = env(
    "SAMPLE_WEBSITE",
    read.matching(
        r"[!-.0-~]{1,128}/[a-z0-9.-]+",
        "must be an account's reference and a host, such as acct_0001/shop.example.com.",
    ),
    "",
)
RENEW_URL = env("RENEW_URL", read.renewal, "")
LINK_URL = env("LINK_URL", read.page, "")
IMPRINT_URL = env("IMPRINT_URL", read.page, "")
PRIVACY_URL = env("PRIVACY_URL", read.page, "")
TERMS_URL = env("TERMS_URL", read.page, "")
# Public statistics and live feed; PUBLIC_DEMO publishes made-up websites instead of real ones.
PUBLIC_TELEMETRY = env("PUBLIC_TELEMETRY", read.boolean, True)
PUBLIC_DEMO = env("PUBLIC_DEMO", read.boolean, False)
STATUS_URL = env("STATUS_URL", read.page, "")
SECURITY_TXT_URL = env("SECURITY_TXT_URL", read.page, "")

# https everywhere except in a deployment that only this machine can reach (the demo, the tests).
HTTPS = not LOOPBACK_HOSTS.issuperset(ALLOWED_HOSTS)
TRUST_PROXY = env("TRUST_PROXY", read.boolean, False)
STAFF_SECOND_FACTOR = env("STAFF_SECOND_FACTOR", read.boolean, True)

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
    "config",  # after allauth: it replaces allauth's admin pages
]

MIDDLEWARE = [
    "config.web.request_ids.RequestIds",  # first: every response has an id
    "config.operations.probes.probes",
    "config.web.guards.refuse_script_name",
    "config.web.guards.same_origin_only",
    "django.middleware.security.SecurityMiddleware",
    "config.web.static_files.StaticFiles",
    "config.web.caching.without_cookies",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "config.web.caching.no_store",
    "config.web.language.language",
    "config.web.guards.Guard",  # before anything that reads a body
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "config.admin_pages.audit_hooks.on_record",
    "config.identity.sessions.end_old_sessions",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "config.web.form_limit.FormLimit",
    "config.web.errors.page_for_not_allowed",
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
                "config.web.theme.theme",
                "config.web.keyboard.keyboard",
                *(["config.web.public_feed.public_feed"] if ENABLE_API else []),
                *(["portal.pages.navigation.navigation"] if ENABLE_PORTAL else []),
            ],
        },
    }
]

SQLITE_SYNCHRONOUS = env(
    "SQLITE_SYNCHRONOUS", read.matching("NORMAL|FULL", "is {!r}: set NORMAL or FULL."), "NORMAL"
)
DATABASES = databases(
    env(
        "DATABASE_URL",
        read.matching(
            "(sqlite:///|postgres(ql)?://).+",
            "must look like sqlite:///var/records.sqlite3 or postgres://user@host/name.",
        ),
        "sqlite:///var/records.sqlite3",
    ),
    BASE_DIR,
    short_lived_synchronous=SQLITE_SYNCHRONOUS,
)
REPORTS_FOLDER = BASE_DIR / env("REPORTS_FOLDER", str, "var/reports")
DATABASE_ROUTERS = ["config.operations.databases.ShortLivedRouter"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env("REDIS_URL", read.matching("(rediss?|unix)://.+", "must look like redis://host:6379/0."), "")
CACHES = caches(REDIS_URL)

AUTHENTICATION_BACKENDS = ["config.identity.sign_in.PasswordBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
ACCOUNT_ADAPTER = "config.identity.sign_in.SignIn"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
# Instead of allauth's generator, which keeps each address that a person ever had.
ACCOUNT_PASSWORD_RESET_TOKEN_GENERATOR = "config.identity.reset_tokens.ResetTokens"  # noqa: S105
ACCOUNT_LOGOUT_ON_GET = False
ACCOUNT_SESSION_REMEMBER = False
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_REAUTHENTICATION_METHODS = ["password", "mfa"]  # no code by e-mail
ACCOUNT_RATE_LIMITS = {
    "login": "300/m/ip",  # successful ones also count: an office signs in each morning
    "login_failed": "5/15m/key",  # by person and address
    "sign_in": "20/h/ip",  # failures (config.identity.sign_in_limit)
    "passkey": "300/m/ip",  # challenges: each stores a session
    "sample": "120/m/ip",
    "shared": "120/m/ip",
    "form": "300/h/key,900/h/user",  # by session, and by person
    "refused": "100/h/user",  # refusals on record
    "export": "300/h/user",
    "own_password": "10/h/key,30/h/user",  # by session, and by person (config.web.form_limit)
    "proof": "10/m/key,30/m/user",
    "change_password": "",  # allauth's own limit counts only by person, as does the next
    "reauthenticate": "",
}
ALLAUTH_TRUSTED_PROXY_COUNT = int(TRUST_PROXY)  # 1 or 0
ACCOUNT_FORMS = {
    "change_password": "config.identity.passwords.ChangePasswordForm",
    "reset_password": "config.identity.passwords.ResetPasswordForm",
    "set_password": "config.identity.passwords.SetPasswordForm",
    "reset_password_from_key": "config.identity.passwords.ResetPasswordKeyForm",
}
MFA_ADAPTER = "config.identity.second_factors.SecondFactors"
MFA_FORMS = {
    "activate_totp": "config.identity.second_factors.ActivateForm",
    "add_webauthn": "config.identity.second_factors.AddPasskeyForm",
    "authenticate": "config.identity.second_factors.AuthenticateForm",
    "authenticate_webauthn": "config.identity.second_factors.AuthenticateByPasskeyForm",
    "login_webauthn": "config.identity.second_factors.LoginForm",
    "reauthenticate": "config.identity.second_factors.ReauthenticateForm",
    "reauthenticate_webauthn": "config.identity.second_factors.ReauthenticateByPasskeyForm",
}
MFA_RATE_LIMITS = {"webauthn_login": "300/m/ip"}  # answers of passkeys; "passkey" counts the challenges
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_ALLOW_UNVERIFIED_EMAIL = True  # a link proves the address before the user is created
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_TOTP_ISSUER = "Threat Dashboard"
MFA_TOTP_TOLERANCE = 1  # a code is accepted for half a minute before and after its own
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
# Without a mail server, the page for a lost password names SUPPORT_URL (config.identity.sign_in).
EMAIL_URL = env("EMAIL_URL", read.mail_server, "")
# Sets EMAIL_HOST, EMAIL_PORT and the other settings of Django from the URL.
vars().update(environ.Env.email_url_config(EMAIL_URL or "dummymail://"))
EMAIL_TIMEOUT = 10
_SENDER = env("DEFAULT_FROM_EMAIL", read.sender, "threat-dashboard@localhost")
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
WHITENOISE_ROOT = BASE_DIR / "static" / "root"  # files with fixed addresses, such as favicon.ico
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "config.web.static_files.CollectedFiles"},
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
SECURE_REDIRECT_EXEMPT = [r"^v1/(?!(docs|public)$)"]  # a signed call is never redirected, those pages are
# Browsers insist on https this long, even with an expired certificate: keep it short until renewals work.
_HSTS_SECONDS = env("HSTS_SECONDS", read.number(0, 999_999_999), 3600)
SECURE_HSTS_SECONDS = _HSTS_SECONDS if HTTPS else 0
# No HSTS for subdomains, which may serve other things, and no preload list: leaving it takes months.
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
MESSAGE_STORAGE = "config.web.messages.MessageStorage"
CSRF_FAILURE_VIEW = "config.web.errors.stale_form"
SESSION_ENGINE = "config.identity.sessions"
SESSION_COOKIE_AGE = 14 * 24 * 3600

# On a deployment that only this machine reaches, people read the log at a terminal.
LOG_FORMAT = env(
    "LOG_FORMAT", read.matching("json|text", "is {!r}: set json or text."), "json" if HTTPS else "text"
)
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "json": {"()": "config.operations.logs.JsonLines"},
        "text": {"()": "config.operations.logs.TextLines"},
    },
    "filters": {
        "hosts": {"()": "config.operations.logs.OneInAHundred"},
        "forms": {"()": "config.operations.logs.OneInAHundred"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "loggers": {
        "stripe": {"level": "WARNING"},  # below, it logs requests and responses
        "urllib3.connection": {"level": "ERROR"},  # below, it logs odd headers of responses in full
        # The code that refuses a request logs it once.
        "django.request": {"level": "ERROR"},
        "django.security.DisallowedHost": {"filters": ["hosts"]},
        "django.security.csrf": {"filters": ["forms"]},
        # Replace gunicorn's own handler, which writes another format.
        "gunicorn.error": {"level": "INFO", "handlers": [], "propagate": True},
    },
    "root": {"handlers": ["console"], "level": "INFO"},
}
# Audit events are JSON for log collectors; at a terminal, they would bury the output of a command.
if LOG_FORMAT == "text" or sys.stderr.isatty():
    LOGGING["loggers"]["audit"] = {"level": "WARNING"}

env.refuse_wrong()
