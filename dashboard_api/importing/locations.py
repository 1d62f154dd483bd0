"""Locations: their stored form, and the check that they are on the website."""

import ipaddress
import re
from functools import lru_cache
from urllib.parse import urljoin, urlsplit

from dashboard_api.scanners.redaction import redact_addresses
from dashboard_api.scanners.text import NETWORK_SCHEME
from foundation.addresses.hosts import InvalidHost, covers, normalise_dns_name

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE | re.ASCII)
# Scheme, host with port, and path; urlsplit checks each host once, in _host_and_port.
_PARTS = re.compile(r"(?:([a-z][a-z0-9+.-]*):)?//([^/?#]*)([^?#]*)", re.IGNORECASE | re.ASCII)
# A text that names a host: a network address, or a host with or without a port. Not the name of a file.
_FILE_NAME = r"[^:]*\.(?:php\d?|phtml|[sx]?html?|aspx?|ashx|asmx|jspx?|do|action|cgi|cfm|js|css|json|xml)"
_NAMES_HOST = re.compile(
    rf"{NETWORK_SCHEME}://[^\\]*|(?!{_FILE_NAME}\Z)[^/?#\\]*", re.IGNORECASE | re.ASCII | re.DOTALL
)
_USER = re.compile(r"(?<![^/\\?#@])[^/\\?#@]*@")  # with the password, also in malformed addresses
_SESSION = re.compile(r";jsessionid=[^/;]*", re.IGNORECASE)  # in the path, different in each scan
_SINGLE_LABEL = re.compile(r"[a-z0-9-]+", re.ASCII)
DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


class OutsideWebsite(ValueError):
    """A location outside the website; the message continues "Row 7 ..."."""


class UnclearLocation(OutsideWebsite):
    """A location without a readable host, which may be on the website."""


def normalise_location(site: str, location: str, *, base_url: str | None = None) -> str:
    """Normalise scheme and host of ``location``, and remove user, query and fragment.

    The scheme may be missing (``www.example.com:443``). ``base_url`` completes a location without a host
    (``/login``). DNS names are valid (``_dmarc.example.com``, ``*.example.com``). Raises OutsideWebsite if
    the host is neither ``site`` nor one of its subdomains, and UnclearLocation if the host cannot be read.
    """
    if location.lower().startswith("file:"):
        raise UnclearLocation(
            "is about a file, and the report names no folder above it (originalUriBaseIds): take this folder "
            'out of the report, such as by sed -i "s|file://$PWD/||g", and say base_url'
        )
    given = location  # for the refusal
    if location.startswith(("/", "?", "#", ".")) and not location.startswith("//"):
        if base_url is None:
            raise UnclearLocation("names no host: say with base_url what address it is relative to")
        location = urljoin(base_url, location)
    elif not _SCHEME.match(location):
        location = f"//{_bracketed(location.removeprefix('//'))}"
    netloc = ""
    try:
        scheme, netloc, path = _parts(location)
        host, port = _host_and_port(netloc)
    except ValueError as error:
        raise _refusal(site, given, host=_private_host(netloc)) from error
    if not covers(site, host):
        raise _refusal(site, given, host=host)
    authority = _bracketed(host)
    if port is not None and port != DEFAULT_PORTS.get(scheme):
        authority += f":{port}"
    if not scheme:
        return authority + path
    root = "/" if scheme in DEFAULT_PORTS else ""
    return f"{scheme}://{authority}{path or root}"


def is_on_website(site: str, host: str) -> bool:
    """Return whether ``host``, a name or an IP address, is ``site`` or one of its subdomains."""
    try:
        return covers(site, normalise_dns_name(host))
    except InvalidHost:
        return False


def _refusal(site: str, location: str, *, host: str) -> OutsideWebsite:
    """Return the error for ``location``; ``host`` is its supposed host, or empty."""
    if host and _NAMES_HOST.fullmatch(location):
        return OutsideWebsite(f"is of {host}, which is neither {site} nor one of its subdomains")
    return UnclearLocation(
        f"names no location on {site}: {_shown(location)} (a path begins with a slash, and needs base_url)"
    )


def _private_host(netloc: str) -> str:
    """Return the host of ``netloc`` if it is an IP address or a single label; otherwise an empty text."""
    try:
        authority = urlsplit("//" + netloc.partition("\\")[0])
        host, _ = authority.hostname or "", authority.port  # an invalid port raises ValueError
        return host[:63] if _SINGLE_LABEL.fullmatch(host) else str(ipaddress.ip_address(host))
    except ValueError:
        return ""


def _shown(location: str) -> str:
    """Return the beginning of a location for a message, without user and password."""
    address = location if _SCHEME.match(location) else f"//{location.removeprefix('//')}"
    # The redaction knows addresses with a scheme only.
    shown = redact_addresses(f"x:{address}").removeprefix("x:").removeprefix("//")
    return _USER.sub("", shown)[:100]


def _parts(location: str) -> tuple[str, str, str]:
    """Return the scheme, the host with its port, and the path; raise ValueError."""
    match = _PARTS.match(location)
    if match is None:
        raise ValueError(location)
    scheme, netloc, path = match.groups()
    return (scheme or "").lower(), netloc, _SESSION.sub("", path)


@lru_cache(maxsize=64)  # a report repeats a few hosts on thousands of rows
def _host_and_port(netloc: str) -> tuple[str, int | None]:
    r"""Return the normalised host and the port of ``netloc``; raise ValueError.

    Browsers read a backslash as a slash: https://other.example\@shop.example.com is on other.example.
    """
    urlsplit("//" + netloc)  # raises ValueError for invalid parts after a backslash
    authority = urlsplit("//" + netloc.partition("\\")[0])
    return normalise_dns_name(authority.hostname or ""), authority.port


def _bracketed(host: str) -> str:
    """Return an IPv6 address in brackets, as URLs need it, and any other host unchanged."""
    if ":" not in host:
        return host
    try:
        return f"[{ipaddress.IPv6Address(host)}]"
    except ValueError:
        return host
