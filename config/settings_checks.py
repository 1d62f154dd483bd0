"""Checks of the settings in the environment: one line for each that is wrong."""

import base64
import binascii
import difflib
import ipaddress
import re
import ssl
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from email.utils import parseaddr
from importlib.util import find_spec
from ipaddress import ip_network
from urllib.parse import urlsplit

import environ

from portal.gateway import Misconfigured
from portal.gateway.target import check_base_url, check_timeout

LOOPBACK_HOSTS = {"localhost", "127.0.0.1", "[::1]"}
MIN_KEY_LENGTH = 50
_TRUE, _FALSE = ("true", "on", "ok", "y", "yes", "1"), ("false", "off", "n", "no", "0")
_HOST = re.compile(r"\.?([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?|\[[0-9a-f:]+\]")
_LOCALHOST = re.compile(r"([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+localhost")
_PORT = re.compile(r"[1-9][0-9]{0,4}", re.ASCII)
_CALLBACK_SECRET = re.compile(r"whsec_[A-Za-z0-9+/]{32,86}={0,2}", re.ASCII)
_STRIPE_SECRET = re.compile(r"whsec_[!-+\--~]{16,200}", re.ASCII)
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
    allows_private = values.get("ALLOW_PRIVATE_HOSTS", "").lower() in _TRUE
    if "LOCALHOST_WEBSITES" in present and not allows_private:
        yield "LOCALHOST_WEBSITES needs ALLOW_PRIVATE_HOSTS: websites of this machine are private hosts."
    hosts = set(hosts_in(values.get("ALLOWED_HOSTS", "")))
    if values.get("DEBUG", "").lower() in _TRUE and not hosts <= LOOPBACK_HOSTS:
        yield "DEBUG shows code and settings to every visitor: turn it off, or serve loopback names only."

    yield from _sign_up(values, present, off, allows_private and not hosts <= LOOPBACK_HOSTS)
    serves_portal = not hosts <= LOOPBACK_HOSTS and "ENABLE_PORTAL" not in off
    if "PORTAL_BASE_URL" not in present and ("EMAIL_URL" in present or serves_portal):
        yield (
            "PORTAL_BASE_URL is not set. Links in e-mails and invitations lead there: set the address at "
            "which people open the portal, such as https://portal.example.com."
        )


def _sign_up(
    values: Mapping[str, str], present: Collection[str], off: Collection[str], reaches_inside: bool
) -> Iterator[str]:
    """Yield a line for each setting that SIGN_UP needs."""
    mode = values.get("SIGN_UP", "").strip()
    if mode in ("invite", "open") and off:
        yield "SIGN_UP makes accounts in the service and the portal: it needs ENABLE_API and ENABLE_PORTAL."
    if mode == "open" and "EMAIL_URL" not in present:
        yield "SIGN_UP is open and EMAIL_URL is not set: addresses are confirmed by e-mail."
    if mode == "open" and reaches_inside:
        yield "SIGN_UP is open and ALLOW_PRIVATE_HOSTS is on: strangers could scan your own network."


def localhost_websites(text: str) -> dict[str, int]:
    """Return the ports by name of ``demo-shop.localhost:8001,other.localhost:8002``; raises WrongValue."""
    websites = {}
    for entry in hosts_in(text):
        name, _, port = entry.partition(":")
        if not (_LOCALHOST.fullmatch(name) and _PORT.fullmatch(port) and int(port) < 65536):
            raise WrongValue(
                f"has {entry!r}: list names that end in .localhost with their port, such as "
                "demo-shop.localhost:8001."
            )
        websites[name] = int(port)
    return websites


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


def callback_secrets(text: str) -> list[str]:
    """Return the one or two secrets of payment callbacks in ``whsec_...,whsec_...``; raises WrongValue."""
    secrets = [entry.strip() for entry in text.split(",") if entry.strip()]
    if len(secrets) > 2 or not all(_CALLBACK_SECRET.fullmatch(secret) for secret in secrets):
        raise WrongValue(
            "must be one or two secrets, newest first, with a comma between them: whsec_ and 24 to 64 bytes "
            "in base64 each, as the provider shows them."
        )
    for secret in secrets:
        encoded = secret.removeprefix("whsec_")
        if not 24 <= len(_standard_base64(encoded)) <= 64:
            raise WrongValue("has a secret that is not 24 to 64 bytes in base64.")
    return secrets


def stripe_secrets(text: str) -> list[str]:
    """Return the one or two signing secrets of Stripe's endpoint, newest first; raises WrongValue."""
    secrets = [entry.strip() for entry in text.split(",") if entry.strip()]
    if len(secrets) > 2 or not all(_STRIPE_SECRET.fullmatch(secret) for secret in secrets):
        raise WrongValue(
            "must be one or two signing secrets of the endpoint, newest first, with a comma between them, as "
            "Stripe shows them: whsec_..."
        )
    if secrets and find_spec("stripe") is None:
        raise WrongValue("needs Stripe's library: install it by 'make stripe', or remove the setting.")
    return secrets


def _standard_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4))
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


def resolvers_in(text: str) -> list[tuple[str, int]]:
    """Return the addresses of resolvers, each with its port."""
    return [_resolver(entry.strip()) for entry in text.split(",") if entry.strip()]


def _resolver(entry: str) -> tuple[str, int]:
    with suppress(ValueError):
        return str(ipaddress.ip_address(entry)), 53
    try:
        parts = urlsplit(f"//{entry}")
        if parts.port != 0:
            return str(ipaddress.ip_address(parts.hostname or "")), parts.port or 53
    except ValueError:
        pass
    raise WrongValue(f"has {entry!r}: list IP addresses such as 9.9.9.9 or [2620:fe::fe]:5353.")


def _address_of_a_page(text: str) -> None:
    parts = urlsplit(text)
    if parts.scheme == "mailto" and "@" in parts.path:
        return
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise WrongValue("must be a web address such as https://example.com/support, or mailto:.")


def _renewal(text: str) -> None:
    _address_of_a_page(text)
    for unknown in re.findall(r"\{[^{}]*\}?|\}", text.replace("{billing_ref}", "")):
        raise WrongValue(
            f"has {unknown}, which is no placeholder: the only one is {{billing_ref}}, the reference for "
            "payments."
        )
    if "{" in urlsplit(text).netloc:
        raise WrongValue("has {billing_ref} in the name of its host: put it into the path or the query.")


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


def _prefixes(text: str) -> None:
    try:
        for each in text.split(","):
            ip_network(each.strip())
    except ValueError as error:
        raise WrongValue(f"must be addresses or prefixes with commas between them: {error}.") from error


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
    "LOCALHOST_WEBSITES": localhost_websites,
    "SAMPLE_WEBSITE": _like(
        r"[!-.0-~]{1,128}/[a-z0-9.-]+",
        "must be an account's reference and a host, such as acct_0001/shop.example.com.",
    ),
    "REPORT_LOGO": str,  # any path; a system check reads the file
    "REPORT_COLOR": _color,
    "SCANNER_URL": _address_of_a_page,
    "SUPPORT_URL": _address_of_a_page,
    "RENEW_URL": _renewal,
    "LINK_URL": _address_of_a_page,
    "IMPRINT_URL": _address_of_a_page,
    "PRIVACY_URL": _address_of_a_page,
    "TERMS_URL": _address_of_a_page,
    "STATUS_URL": _address_of_a_page,
    "PUBLIC_TELEMETRY": _boolean,
    "PUBLIC_DEMO": _boolean,
    "SECURITY_TXT_URL": _address_of_a_page,
    "ENABLE_API": _boolean,
    "ENABLE_PORTAL": _boolean,
    "DNS_RESOLVERS": resolvers_in,
    "SIGN_UP": _like("off|invite|open", "is {!r}: set off, invite or open."),
    "CALLBACK_SECRETS_STANDARD": callback_secrets,
    "CALLBACK_SECRETS_STRIPE": stripe_secrets,
    "STRIPE_API_KEY": _like(
        "rk_(live|test)_[A-Za-z0-9_]{10,240}",
        "must be a restricted key that may read subscriptions and nothing else: rk_live_... or rk_test_...",
    ),
    "CALLBACK_LIVEMODE": _boolean,
    "CRAWLER_ENABLED": _boolean,
    "CRAWLER_ADDRESSES": _prefixes,
    "CRAWLER_ENGINES": str,  # any path; the worker reads the file when it starts
}
SETTINGS = {*_CHECKS, "DEMO_PASSWORD"}
