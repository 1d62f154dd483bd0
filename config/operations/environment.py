"""Read settings from the environment and the ``.env`` file, for config/settings.py.

Each function reads one kind of value, and raises WrongValue.
"""

import difflib
import os
import pwd
import re
import ssl
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterable
from contextlib import suppress
from email.utils import parseaddr
from importlib.util import find_spec
from io import StringIO
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

from portal.gateway.errors import Misconfigured
from portal.gateway.target import check_base_url

DNS_PORT = 53
LOOPBACK_HOSTS = {"localhost", "127.0.0.1", "[::1]"}
_LINE = re.compile(r"(?:export )?([A-Za-z_0-9]+)=[^\0]*")  # as django-environ reads it
_TRUE, _FALSE = ("true", "on", "ok", "y", "yes", "1"), ("false", "off", "n", "no", "0")
_LABEL = "[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?"
# A name, with a dot in front if Django shall also accept its subdomains; or an IPv6 address in brackets.
_ALLOWED_HOST = re.compile(rf"\.?({_LABEL}\.)*{_LABEL}|\[[0-9a-f:]+\]")
_NAME_UNDER_LOCALHOST = re.compile(r"([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+localhost")
_MASTER_KEY = re.compile(r"([1-9][0-9]{0,4}):([\w-]{43}=)", re.ASCII)  # its number, and 32 bytes in base64
# 24 to 64 bytes in base64: each four characters hold three bytes, the last ones fewer.
_CALLBACK_SECRET = re.compile("whsec_([A-Za-z0-9+/]{4}){8,21}([A-Za-z0-9+/]{2,3}={0,2})?")
T = TypeVar("T")


class WrongValue(ValueError):
    """A setting has an invalid value; the message continues a sentence that begins with its name."""


class Environment:
    """Settings from the environment; a ``.env`` file fills in missing ones.

    ``refuse_wrong`` reports all wrong settings at once.
    """

    def __init__(self, file: Path) -> None:
        self.names = {"DEMO_PASSWORD"}  # of all settings; calls add theirs, and this one has no call
        lines = _lines_of(file)
        environ.Env.read_env(StringIO("\n".join(lines)))
        self._names_in_file = [line.removeprefix("export ").partition("=")[0] for line in lines]
        # An empty value counts as absent: otherwise ``ENABLE_API=`` would switch the service off.
        self._values = {name: text for name, value in os.environ.items() if (text := value.strip())}
        self._wrong: list[str] = []

    def __repr__(self) -> str:
        """Return a constant text without values: ``diffsettings`` prints it."""
        return "<the environment>"

    def __call__(self, name: str, read: Callable[[str], T], default: T) -> T:
        """Return the value of a setting, or ``default`` if it is absent or wrong."""
        self.names.add(name)
        try:
            return read(self._values[name]) if name in self._values else default
        except WrongValue as error:
            self._wrong.append(f"{name} {error}")
            return default

    def required(self, name: str, read: Callable[[str], T], default: T, advice: str) -> T:
        """Return the value of a required setting."""
        if name not in self._values:
            self._wrong.append(f"{name} is not set. {advice}")
        return self(name, read, default)

    def refuse_wrong(self) -> None:
        """Raise ImproperlyConfigured if a setting is wrong, or a name in the file is misspelt."""
        if lines := self._wrong + self.misspelt(self._names_in_file):
            raise ImproperlyConfigured("\n".join(lines))

    def misspelt(self, names: Iterable[str]) -> list[str]:
        """Return a line for each unknown name that resembles a setting."""
        return [
            f"{name} is not a setting: did you mean {setting}?"
            for name in sorted(set(names) - self.names)
            for setting in difflib.get_close_matches(name, self.names, n=1, cutoff=0.85)  # at most one
        ]


def _lines_of(file: Path) -> list[str]:
    """Return the lines that set something; refuse broken ones, which django-environ would log in full."""
    lines = [
        (number, line)
        for number, line in enumerate(text_of(file).splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if broken := [
        f"Line {number} of {file} is not NAME=value: leave no blanks around NAME, write lists on one line."
        for number, line in lines
        if not _LINE.fullmatch(line)
    ]:
        raise ImproperlyConfigured("\n".join(broken))
    return [line for _, line in lines]


def text_of(file: Path) -> str:
    """Return the text of ``file``, empty if it does not exist; raises ImproperlyConfigured if unreadable."""
    data = b""
    try:
        data = file.read_bytes()
        return data.decode("utf-8-sig")  # some editors write a byte order mark first
    except FileNotFoundError:
        return ""
    except OSError as error:
        user: int | str = os.geteuid()
        with suppress(KeyError):  # the user of a container may have no name
            user = pwd.getpwuid(os.geteuid()).pw_name
        reason = f"{file} cannot be read by the user {user}: {error.strerror}."
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        reason = f"Line {number} of {file} is not UTF-8: save the file as UTF-8."
    raise ImproperlyConfigured(reason)


def items(text: str) -> list[str]:
    """Return the entries of a comma-separated list."""
    return [entry for each in text.split(",") if (entry := each.strip())]


def boolean(text: str) -> bool:
    """Read a switch."""
    if text.lower() not in _TRUE + _FALSE:
        raise WrongValue(f"is {text!r}: set true or false.")
    return text.lower() in _TRUE


def number(least: int, most: int) -> Callable[[str], int]:
    """Return a reader of whole numbers from ``least`` to ``most``."""

    def read(text: str) -> int:
        if not (re.fullmatch("[0-9]{1,9}", text) and least <= int(text) <= most):
            raise WrongValue(f"is {text!r}: set a whole number from {least} to {most}.")
        return int(text)

    return read


def matching(pattern: str, advice: str) -> Callable[[str], str]:
    """Return a reader of text that matches ``pattern``; ``advice`` may have ``{!r}`` in place of the text."""

    def read(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise WrongValue(advice.format(text))
        return text

    return read


def secret_key(text: str) -> str:
    """Read a key that is hard to guess."""
    if len(text) < 50 or len(set(text)) < 10 or text.startswith("django-insecure-"):
        raise WrongValue("is too easy to guess: set 50 or more random characters.")
    return text


def master_keys(text: str) -> list[str]:
    """Read the Fernet keys of ``2:<key>,1:<key>``, newest first."""
    keys: dict[int, str] = {}
    for entry in text.split(","):
        match = _MASTER_KEY.fullmatch(entry.strip())
        if not match:
            raise WrongValue(
                "must look like '2:<key>,1:<key>', newest first, each key 32 random bytes in URL-safe "
                "base64 (44 characters). docs/operating/settings.md shows how to make one."
            )
        number, key = int(match[1]), match[2]
        if number in keys:
            raise WrongValue(f"names key {number} twice.")
        if len(set(urlsafe_b64decode(key))) < 10:
            raise WrongValue(
                f"has a key {number} that is not random; docs/operating/settings.md shows how to make one."
            )
        keys[number] = key
    return [keys[number] for number in sorted(keys, reverse=True)]


def callback_secrets(text: str) -> list[str]:
    """Read one or two secrets of payment callbacks, newest first."""
    secrets = items(text)
    if len(secrets) > 2 or not all(_CALLBACK_SECRET.fullmatch(secret) for secret in secrets):
        raise WrongValue(
            "must be one or two secrets, newest first, with a comma between them: whsec_ and 24 to 64 bytes "
            "in base64 each, as the provider shows them."
        )
    return secrets


def stripe_secrets(text: str) -> list[str]:
    """Read one or two signing secrets of Stripe's endpoint, newest first."""
    secrets = items(text)
    if len(secrets) > 2 or not all(re.fullmatch("whsec_[!-~]{16,200}", secret) for secret in secrets):
        raise WrongValue(
            "must be one or two signing secrets of the endpoint, newest first, with a comma between them, as "
            "Stripe shows them: whsec_..."
        )
    if find_spec("stripe") is None:
        raise WrongValue("needs Stripe's library: install it by 'make stripe', or remove the setting.")
    return secrets


def hosts(text: str) -> list[str]:
    """Read names such as ``portal.example.com,api.example.com``."""
    if not items(text):
        raise WrongValue("names no host: list the names of this deployment, such as portal.example.com.")
    for host in items(text):
        if host == "*":
            raise WrongValue("has *, with which links in e-mails could lead anywhere: name the hosts.")
        if not _ALLOWED_HOST.fullmatch(host.lower()):
            raise WrongValue(
                f"has {host!r}, which is not a host name: list names without scheme and port, such as "
                "portal.example.com,api.example.com."
            )
    return items(text)


def localhost_websites(text: str) -> dict[str, int]:
    """Read ports by name, such as ``demo-shop.localhost:8001,other.localhost:8002``."""
    websites = {}
    for entry in items(text):
        name, _, port = entry.partition(":")
        if not (
            _NAME_UNDER_LOCALHOST.fullmatch(name)
            and re.fullmatch("[1-9][0-9]{0,4}", port)
            and int(port) < 65536
        ):
            raise WrongValue(
                f"has {entry!r}: list names that end in .localhost with their port, such as "
                "demo-shop.localhost:8001."
            )
        websites[name] = int(port)
    return websites


def resolvers(text: str) -> list[tuple[str, int]]:
    """Read addresses of resolvers, each with its port."""
    return [_resolver(entry) for entry in items(text)]


def _resolver(entry: str) -> tuple[str, int]:
    with suppress(ValueError):  # an address with a port, or no address
        return str(ip_address(entry)), DNS_PORT
    with suppress(ValueError):
        parts = urlsplit(f"//{entry}")
        if parts.port != 0:  # a resolver cannot have port 0; None: no port is given
            return str(ip_address(parts.hostname or "")), parts.port or DNS_PORT
    raise WrongValue(f"has {entry!r}: list IP addresses such as 9.9.9.9 or [2620:fe::fe]:5353.")


def prefixes(text: str) -> list[str]:
    """Read addresses and prefixes."""
    try:
        for each in items(text):
            ip_network(each)
    except ValueError as error:
        raise WrongValue(f"must be addresses or prefixes with commas between them: {error}.") from error
    return items(text)


def page(text: str) -> str:
    """Read the address of a page, or a ``mailto:`` address."""
    parts = urlsplit(text)
    is_mail = parts.scheme == "mailto" and "@" in parts.path
    if not is_mail and not (parts.scheme in ("http", "https") and parts.hostname):
        raise WrongValue("must be a web address such as https://example.com/support, or mailto:.")
    return text


def renewal(text: str) -> str:
    """Read the address of the page for renewals, which may contain ``{billing_ref}``."""
    has_other_brace = re.search("[{}]", text.replace("{billing_ref}", ""))
    if has_other_brace or "{" in urlsplit(text).netloc:
        raise WrongValue(
            "has a brace in the wrong place: the only placeholder is {billing_ref}, the reference for "
            "payments, in the path or the query."
        )
    return page(text)


def base_url(text: str) -> str:
    """Read the address of a deployment."""
    try:
        check_base_url(text)
    except Misconfigured as error:
        raise WrongValue(f"cannot be used. {error}") from error
    return text


def certificates(text: str) -> str:
    """Read the path of a file of certificates."""
    try:
        ssl.create_default_context(cafile=text)
    except OSError as error:  # includes ssl.SSLError
        raise WrongValue(f"is {text}, which holds no certificates in PEM form: {error.strerror}.") from error
    return text


def mail_server(text: str) -> str:
    """Read the address of a mail server."""
    if urlsplit(text).scheme not in environ.Env.EMAIL_SCHEMES:
        raise WrongValue("must look like smtp+tls://user:password@host:587.")
    return text


def sender(text: str) -> str:
    """Read the sender of e-mails."""
    if not re.fullmatch(r"[^@\s]+@[^@\s]+", parseaddr(text)[1]):
        raise WrongValue("must be an e-mail address, such as Threat Dashboard <alerts@example.com>.")
    return text


def color(text: str) -> str:
    """Read a colour that is legible on white paper: a contrast of 4.5 or more by WCAG 2."""
    if not re.fullmatch("#[0-9a-fA-F]{6}", text):
        raise WrongValue(f"is {text!r}: set a colour such as #2450c4.")
    # The formula of WCAG 2: red, green and blue without gamma, their luminance, its contrast to white.
    parts = [part / 255 for part in bytes.fromhex(text[1:])]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    if 1.05 / (luminance + 0.05) < 4.5:
        raise WrongValue(f"is {text}, which is too light to read on white paper: set a darker colour.")
    return text
