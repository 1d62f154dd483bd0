"""One way to write a place on a website, and whether it is on that website at all."""

import ipaddress
import re
from functools import lru_cache
from urllib.parse import urljoin, urlsplit

from foundation.hosts import covers, normalise_dns_name

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE | re.ASCII)
DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


class Elsewhere(ValueError):
    """The place is not on the website; the message completes "row 7 ..."."""


def place_on(site: str, location: str, *, base_url: str | None = None) -> str:
    """``location`` without user, query and fragment, scheme and host in their one form.

    It may lack a scheme (``www.example.com:443``); one that lacks a host, too (``/login``), is resolved
    against ``base_url``. DNS names are places, too (``_dmarc.example.com``, ``*.example.com``). Raises
    Elsewhere unless it is on ``site`` or one of its subdomains.
    """
    if location.lower().startswith("file:"):
        raise Elsewhere(
            "is about a file, and the report names no folder above it (originalUriBaseIds): it has no place "
            "below the base URL"
        )
    if location.startswith(("/", "?", "#", ".")) and not location.startswith("//"):
        if base_url is None:
            raise Elsewhere("names no host, and no base URL says where it is relative to")
        location = urljoin(base_url, location)
    elif not _SCHEME.match(location):
        location = f"//{_bracketed(location.removeprefix('//'))}"
    try:
        parts = urlsplit(location)
        written, port = _host_and_port(parts.netloc)
        host = normalise_dns_name(written)
    except ValueError as error:
        raise Elsewhere(f"names no place on {site}: {location.removeprefix('//')[:100]}") from error
    if not covers(site, host):
        raise Elsewhere(f"is of {host}, which is neither {site} nor one of its subdomains")
    place = _bracketed(host)
    if port is not None and port != DEFAULT_PORTS.get(parts.scheme):
        place += f":{port}"
    if not parts.scheme:
        return place + parts.path
    root = "/" if parts.scheme in DEFAULT_PORTS else ""
    return f"{parts.scheme}://{place}{parts.path or root}"


@lru_cache(maxsize=64)  # a report names few hosts, and often
def _host_and_port(netloc: str) -> tuple[str, int | None]:
    r"""As they are written; raises ValueError.

    To a browser a backslash is a slash: the host of https://other.example\@shop.example.com is the first.
    """
    authority = urlsplit("//" + netloc.partition("\\")[0])
    return authority.hostname or "", authority.port


def _bracketed(host: str) -> str:
    """An IPv6 address as it stands in a URL; any other host as it is."""
    if ":" not in host:
        return host
    try:
        return f"[{ipaddress.IPv6Address(host)}]"
    except ValueError:
        return host
