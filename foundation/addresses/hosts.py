"""The one stored form of a host name: lower case, A-labels, no trailing dot (contract, request fields)."""

import ipaddress
import re
import unicodedata
from functools import lru_cache

import idna
from django.conf import settings
from django.utils.translation import gettext_noop as _  # callers translate it where people read it

MAX_HOST_LENGTH = 253
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)
_SCHEME = re.compile(r"\Ahttps?://", re.IGNORECASE)
_PATH = re.compile(r"[/?#]")
_HOST_RULE = _("must be a domain name such as shop.example.com, without scheme or port")
_TYPED_HOST_RULE = _("must be a domain name or an address such as https://shop.example.com, without a port")
# Latin letters that cannot be confused with others: without the dotless i and rare letters.
_LATIN = re.compile("[a-z0-9\u00df-\u00f6\u00f8-\u0130\u0132-\u0137\u0139-\u0148\u014a-\u017e-]+")
# A DNS name: perhaps "*.", then the labels up to the last one with an underscore, then a host.
_DNS_NAME = re.compile(r"(\*\.)?((?:[a-z0-9_-]{1,63}\.)*[a-z0-9-]*_[a-z0-9_-]*\.)?(.*)", re.ASCII | re.DOTALL)


class InvalidHost(ValueError):
    """The text is not a host name; the message says what is allowed."""


def normalise_host(text: str) -> str:
    """Return the domain name ``text`` in its one stored form; raise InvalidHost.

    IP addresses and single-label names are hosts only where ALLOW_PRIVATE_HOSTS is set.
    """
    return _normalise(text, allow_private=settings.ALLOW_PRIVATE_HOSTS)


def typed_host(text: str) -> str:
    """Return the host that a person typed or pasted, in its stored form; raise InvalidHost.

    The text may be an address, such as ``https://shop.example.com/cart``. Programs must send hosts.
    """
    return _normalise(_host_part(text), allow_private=settings.ALLOW_PRIVATE_HOSTS, rule=_TYPED_HOST_RULE)


def searched_host(text: str) -> str:
    """Return the text to search stored hosts for, from a typed part of a host or a pasted address."""
    host = _host_part(text).lower()
    if host.isascii():
        return host
    try:
        return idna.encode(host, uts46=True).decode()
    except (idna.IDNAError, UnicodeError):
        return host


def _host_part(text: str) -> str:
    """Return the host of an address; other text as it is."""
    return _PATH.split(_SCHEME.sub("", text.strip(), count=1), maxsplit=1)[0]


def normalise_dns_name(text: str) -> str:
    """Return a DNS name that a scanner reports, such as ``_dmarc.example.com``, in its stored form.

    It may have underscores and a leading "*.", because it is a location, never a website.
    """
    match = _DNS_NAME.fullmatch(text.lower())
    wildcard, labels, host = (part or "" for part in match.groups()) if match else ("", "", text)
    name = wildcard + labels + normalise_host(host)
    if len(name) > MAX_HOST_LENGTH or any(len(label) > 63 for label in labels.split(".")):
        raise InvalidHost(_("must be a name of at most 253 characters, with labels of at most 63"))
    return name


@lru_cache(maxsize=1024)  # a report repeats a few hosts on thousands of rows
def _normalise(text: str, *, allow_private: bool, rule: str = _HOST_RULE) -> str:
    host = text.lower().removesuffix(".")
    if allow_private and (address := _ip_address(host)):
        return address
    if not host.isascii() or "xn--" in host:
        try:
            host = idna.encode(host, uts46=True, std3_rules=True).decode()
        except (idna.IDNAError, UnicodeError) as error:
            raise InvalidHost(_("must be a domain name such as shop.example.com")) from error
    labels = host.split(".")
    if len(host) > MAX_HOST_LENGTH or not all(_LABEL.fullmatch(label) for label in labels):
        raise InvalidHost(rule)
    if not allow_private and (len(labels) < 2 or labels[-1].isdigit()):
        raise InvalidHost(_("must be a public domain name, not an IP address or a single label"))
    return host


def readable_host(host: str) -> str:
    """Return a stored host in readable letters; confusable labels remain encoded.

    A label is readable in Latin letters, or in one script that the last label has as well.
    """
    if "xn--" not in host:
        return host
    labels = host.split(".")
    scripts = _scripts(_decoded(labels[-1]))
    return ".".join(_readable(label, scripts) for label in labels)


def _readable(label: str, scripts: set[str]) -> str:
    """Return the label in readable letters, or encoded; the last label is in ``scripts``."""
    text = _decoded(label)
    is_in_own_script = _scripts(text) == scripts and len(scripts) == 1 and scripts != {"LATIN"}
    is_left_to_right = all(unicodedata.bidirectional(each) not in ("R", "AL") for each in text)
    return text if _LATIN.fullmatch(text) or (is_in_own_script and is_left_to_right) else label


def _decoded(label: str) -> str:
    try:
        return idna.decode(label)
    except (idna.IDNAError, UnicodeError):
        return label


def _scripts(text: str) -> set[str]:
    """Return the scripts of the letters, by the first words of their names."""
    return {unicodedata.name(each, "").partition(" ")[0] for each in text if each.isalpha()}


def covers(site: str, host: str) -> bool:
    """Return whether ``host`` is the website ``site`` or one of its subdomains (both normalised)."""
    return host == site or host.endswith("." + site)


def _ip_address(host: str) -> str | None:
    if "%" in host:  # an IPv6 zone may be any text, and is valid on one machine only
        return None
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return None
