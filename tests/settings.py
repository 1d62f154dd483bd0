"""The product's settings, with an environment for tests."""

import os
import secrets

from environ import Env

os.environ.setdefault("SECRET_KEY", "only-for-tests-0123456789-0123456789-0123456789-01234")
os.environ.setdefault("MASTER_KEYS", "1:b25seS1mb3ItdGVzdHMtMDEyMzQ1Njc4OTAxMjM0NTY=")
os.environ.setdefault("DATABASE_URL", "sqlite:///var/records.sqlite3")
os.environ.setdefault("REDIS_URL", "")

# Neither a .env, such as that of the demo, nor the environment may change what the tests see.
Env.read_env = lambda *_, **__: None  # type: ignore[method-assign]

from config.settings import *  # noqa: E402, F403

DEBUG = False
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "testserver"]
HTTPS = False
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # fast, and only here
if not REDIS_URL:  # noqa: F405
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
# What an earlier run counted is not this one's.
CACHES["default"]["KEY_PREFIX"] = f"tests-{secrets.token_hex(8)}"
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# Static files come from their sources here, not from a collected directory.
MIDDLEWARE = [name for name in MIDDLEWARE if name != "config.web.static_files.StaticFiles"]  # noqa: F405
DASHBOARD_BASE_URL = "http://127.0.0.1:8000"
DASHBOARD_TIMEOUT_SECONDS = 15
ALLOW_PRIVATE_HOSTS = CRAWLER_ENABLED = CRAWLER_WALL = False
LOCALHOST_WEBSITES = {}
CALLBACK_SECRETS = {
    "standard": ["whsec_bmV3LXNlY3JldC1vZi10ZXN0cy0wMTIzNDU2Nzg5"],
    "stripe": ["whsec_StripeTestsOnly0123456789abcdef"],
}
STRIPE_API_KEY = ""
CALLBACK_LIVEMODE = True
DNS_RESOLVERS = [("127.0.0.1", 1)]  # refuses at once
SIGN_UP = "off"
CALLS_PER_SECOND, CALLS_BURST = 1_000, 9_999  # tests of the limit set their own
STAFF_SECOND_FACTOR = False  # the tests of config/identity/staff.py switch it on
PORTAL_BASE_URL = REPORT_LOGO = ""
REPORT_COLOR = "#2450c4"
PORTAL_ACCOUNT_REF = SITE_API_SECRET = METRICS_TOKEN = ""
SUPPORT_URL = "https://example.com/support"
RENEW_URL = "https://example.com/renew"
LINK_URL = "https://example.com/link"
IMPRINT_URL = PRIVACY_URL = TERMS_URL = STATUS_URL = SECURITY_TXT_URL = "https://example.com/about"
REPORTS_FOLDER = BASE_DIR / "var" / f"reports-of-tests-{os.getpid()}"  # noqa: F405
