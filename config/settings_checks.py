"""Checks of the settings in the environment: one line for each that is wrong."""

import base64
import binascii
import difflib
import re
import ssl
from collections.abc import Callable, Collection, Iterator, Mapping
from email.utils import parseaddr
from pathlib import Path
from urllib.parse import urlsplit

import environ

from portal.gateway import Misconfigured
from portal.gateway.target import check_base_url, check_timeout

LOOPBACK_HOSTS = {"localhost", "127.0.0.1", "[::1]"}
MIN_KEY_LENGTH = 50
_TRUE, _FALSE = ("true", "on", "ok", "y", "yes", "1"), ("false", "off", "n", "no", "0")
_HOST = re.compile(r"\.?([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?|\[[0-9a-f:]+\]")
_MASTER_KEY = re.compile(r"([1-9][0-9]{0,4}):([\w-]{43}=)", re.ASCII)


class WrongValue(ValueError):
    """An invalid value of a setting; the message continues after the setting's name."""


def wrong_settings(values: Mapping[str, str], file_names: Collection[str] = ()) -> list[str]:
    """Return a line for each setting that is missing, wrong, or misspelt in the ``.env`` file.

    ``values`` is the environment with the file read into it, and ``file_names`` are the names in the file.
    No line shows the value of a secret.
    """
    lines = [line for name, check in _CHECKS.items() for line in _wrong(name, check, values)]
    lines += _combined(values)
    return lines + [f"{name} is no setting: {advice}?" for name, advice in _misspelt(file_names)]


def unread_settings(values: Mapping[str, str]) -> list[str]:
    """Return a line for each name in the environment that looks like a misspelt setting."""
    return [f"{name} is not read: {advice}?" for name, advice in _misspelt(values)]


def names_in(file: Path) -> list[str]:
    """Return the names that a ``.env`` file sets; none without a file."""
    return re.findall(r"^\s*(?:export\s+)?(\w+)\s*=", file.read_text(), re.MULTILINE) if file.exists() else []


def _wrong(name: str, check: Callable[[str], object], values: Mapping[str, str]) -> Iterator[str]:
    value = values.get(name, "").strip()
    try:
        if value:
            check(value)
        elif name in _REQUIRED:
            yield f"{name} is not set. {_REQUIRED[name]}"
    except WrongValue as error:
        yield f"{name} {error}"


def _combined(values: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each contradiction between settings."""
    present = {name for name in _CHECKS if values.get(name, "").strip()}
    off = {name for name in ("ENABLE_API", "ENABLE_PORTAL") if values.get(name, "").lower() in _FALSE}
    if len(off) == 2:
        yield "ENABLE_API and ENABLE_PORTAL are both off: nothing would be served. Leave one of them on."
    if len(present & {"PORTAL_ACCOUNT_REF", "SITE_API_SECRET"}) == 1:
        yield (
            "PORTAL_ACCOUNT_REF and SITE_API_SECRET go together: set both for a portal of one account, "
            "and neither if accounts have their own secrets (manage.py connect_account)."
        )
    hosts = set(hosts_in(values.get("ALLOWED_HOSTS", "")))
    if values.get("DEBUG", "").lower() in _TRUE and not hosts <= LOOPBACK_HOSTS:
        yield "DEBUG shows code and settings to every visitor: turn it off, or serve loopback names only."

    serves_portal = not hosts <= LOOPBACK_HOSTS and "ENABLE_PORTAL" not in off
    if "PORTAL_BASE_URL" not in present and ("EMAIL_URL" in present or serves_portal):
        yield (
            "PORTAL_BASE_URL is not set. Links in e-mails and invitations lead there: set the address at "
            "which people open the portal, such as https://portal.example.com."
        )


def hosts_in(text: str) -> list[str]:
    """Return the names of ``portal.example.com, api.example.com``."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _misspelt(names: Collection[str]) -> Iterator[tuple[str, str]]:
    for name in sorted(set(names) - SETTINGS):
        if similar := difflib.get_close_matches(name, SETTINGS, n=1, cutoff=0.85):
            yield name, f"did you mean {similar[0]}"


def _secret_key(text: str) -> None:
    if len(text) < MIN_KEY_LENGTH or len(set(text)) < 10 or text.startswith("django-insecure-"):
        raise WrongValue(f"is too easy to guess: set {MIN_KEY_LENGTH} or more random characters.")


def master_keys(text: str) -> list[str]:
    """Return the Fernet keys of ``2:<key>,1:<key>``, newest first; raises WrongValue."""
    keys: dict[int, str] = {}
    for entry in text.split(","):
        match = _MASTER_KEY.fullmatch(entry.strip())
        if not match:
            raise WrongValue(
                "must look like '2:<key>,1:<key>', newest first, each key 32 random bytes in URL-safe "
                "base64 (44 characters). docs/operating.md shows how to generate one."
            )
        number, key = int(match[1]), match[2]
        if number in keys:
            raise WrongValue(f"names key {number} twice.")
        if len(set(_decoded(key))) < 8:
            raise WrongValue(
                f"has a key {number} that is not random; docs/operating.md shows how to generate one."
            )
        keys[number] = key
    return [keys[number] for number in sorted(keys, reverse=True)]


def _decoded(key: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(key)
    except binascii.Error:
        return b""


def _hosts(text: str) -> None:
    for host in (entry.strip() for entry in text.split(",")):
        if host == "*":
            raise WrongValue("has *, with which links in e-mails could lead anywhere: name the hosts.")
        if not _HOST.fullmatch(host.lower()):
            raise WrongValue(
                f"has {host!r}, which is no host name: list names without scheme and port, such as "
                "portal.example.com,api.example.com."
            )


def _address_of_a_page(text: str) -> None:
    parts = urlsplit(text)
    if parts.scheme == "mailto" and "@" in parts.path:
        return
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise WrongValue("must be a web address such as https://example.com/support, or mailto:.")


def _base_url(text: str) -> None:
    try:
        check_base_url(text)
    except Misconfigured as error:
        raise WrongValue(f"cannot be used. {error}") from error


def _certificates(text: str) -> None:
    try:
        ssl.create_default_context(cafile=text)
    except OSError as error:  # ssl.SSLError, too
        raise WrongValue(f"is {text}, which holds no certificates in PEM form: {error.strerror}.") from error


def _timeout(text: str) -> None:
    try:
        check_timeout(float(text))
    except (ValueError, Misconfigured) as error:
        raise WrongValue(f"is {text!r}: set a number of seconds from 1 to 45.") from error


def _like(pattern: str, advice: str) -> Callable[[str], None]:
    """Return a check for values of ``pattern``; the value fills braces in ``advice``."""

    def check(text: str) -> None:
        if not re.fullmatch(pattern, text):
            raise WrongValue(advice.format(text))

    return check


def _mail_server(text: str) -> None:
    if urlsplit(text).scheme not in environ.Env.EMAIL_SCHEMES:
        raise WrongValue("must look like smtp+tls://user:password@host:587.")


def _sender(text: str) -> None:
    if not re.fullmatch(r"[^@\s]+@[^@\s]+", parseaddr(text)[1]):
        raise WrongValue("must be an e-mail address, such as Threat Dashboard <alerts@example.com>.")


def _color(text: str) -> None:
    if not re.fullmatch("#[0-9a-fA-F]{6}", text):
        raise WrongValue(f"is {text!r}: set a colour such as #2450c4.")
    if _contrast_with_white(text) < 4.5:
        raise WrongValue(f"is {text}, which is too light to read on white paper: set a darker colour.")


def _contrast_with_white(color: str) -> float:
    """Return the contrast by WCAG 2, 1 to 21."""
    parts = [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)


_boolean = _like("(?i)" + "|".join((*_TRUE, *_FALSE)), "is {!r}: set true or false.")
_REQUIRED = {
    "SECRET_KEY": "Set 50 or more random characters, or run 'manage.py demo' to try the product.",
    "MASTER_KEYS": "Set numbered keys, newest first, such as '1:<44 characters>'.",
}
_CHECKS: dict[str, Callable[[str], object]] = {
    "SECRET_KEY": _secret_key,
    "MASTER_KEYS": master_keys,
    "DEBUG": _boolean,
    "ALLOWED_HOSTS": _hosts,
    "TRUST_PROXY": _boolean,
    "STAFF_SECOND_FACTOR": _boolean,
    "DATABASE_URL": _like(
        "(sqlite:///|postgres(ql)?://).+",
        "must look like sqlite:///var/records.sqlite3 or postgres://user@host/name.",
    ),
    "SQLITE_SYNCHRONOUS": _like("NORMAL|FULL", "is {!r}: set NORMAL or FULL."),
    "REPORTS_FOLDER": str,  # any path
    "LOG_FORMAT": _like("json|text", "is {!r}: set json or text."),
    "REDIS_URL": _like("(rediss?|unix)://.+", "must look like redis://host:6379/0."),
    "EMAIL_URL": _mail_server,
    "DEFAULT_FROM_EMAIL": _sender,
    "DASHBOARD_BASE_URL": _base_url,
    "DASHBOARD_CA_FILE": _certificates,
    "DASHBOARD_TIMEOUT_SECONDS": _timeout,
    "DASHBOARD_CALLS_AT_ONCE": _like("[1-9][0-9]{0,3}", "is {!r}: set a whole number, 1 or more."),
    "CALLS_PER_SECOND": _like("[1-9][0-9]{0,3}", "is {!r}: set a whole number from 1 to 9999."),
    "CALLS_BURST": _like("[1-9][0-9]{0,3}", "is {!r}: set a whole number from 1 to 9999."),
    "HSTS_SECONDS": _like("[0-9]{1,9}", "is {!r}: set a whole number."),
    "PORTAL_BASE_URL": _base_url,
    "PORTAL_ACCOUNT_REF": str,  # any text
    "SITE_API_SECRET": _like(".{16,}", "is too short: the service issues longer ones."),
    "METRICS_TOKEN": _like("[!-~]{32,}", "must have 32 or more printable characters without spaces."),
    "ALLOW_PRIVATE_HOSTS": _boolean,
    "SAMPLE_WEBSITE": _like(
        r"[!-.0-~]{1,128}/[a-z0-9.-]+",
        "must be an account's reference and a host, such as acct_0001/shop.example.com.",
    ),
    "REPORT_LOGO": str,  # any path; a system check reads the file
    "REPORT_COLOR": _color,
    "SUPPORT_URL": _address_of_a_page,
    "RENEW_URL": _address_of_a_page,
    "LINK_URL": _address_of_a_page,
    "IMPRINT_URL": _address_of_a_page,
    "PRIVACY_URL": _address_of_a_page,
    "TERMS_URL": _address_of_a_page,
    "STATUS_URL": _address_of_a_page,
    "STATUS_PAGE": _boolean,
    "SECURITY_TXT_URL": _address_of_a_page,
    "ENABLE_API": _boolean,
    "ENABLE_PORTAL": _boolean,
    "CRAWLER_ENABLED": _boolean,
    "CRAWLER_ENGINES": str,  # any path; the worker reads the file when it starts
}
SETTINGS = {*_CHECKS, "DEMO_PASSWORD"}
