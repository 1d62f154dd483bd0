"""One way to write a website's host, the same as the service's: lower case, A-labels, no trailing dot.

The gateway compares the host that was asked with the one that was answered, so both must agree.
"""

import ipaddress
import re

import idna
from django.conf import settings
from django.core.exceptions import ValidationError

MAX_HOST_LENGTH = 253
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)


def normalise_host(text: str) -> str:
    """``text`` as the one stored form of a domain name; raises ValidationError.

    IP addresses and single-label names are hosts only where ALLOW_PRIVATE_HOSTS is set.
    """
    host = text.lower().removesuffix(".")
    if settings.ALLOW_PRIVATE_HOSTS and (address := _ip_address(host)):
        return address
    if not host.isascii() or "xn--" in host:
        try:
            host = idna.encode(host, uts46=True, std3_rules=True).decode()
        except (idna.IDNAError, UnicodeError) as error:
            raise ValidationError("The host must be a domain name such as shop.example.com.") from error
    labels = host.split(".")
    if len(host) > MAX_HOST_LENGTH or not all(_LABEL.fullmatch(label) for label in labels):
        raise ValidationError(
            "The host must be a domain name such as shop.example.com, without scheme or port."
        )
    if not settings.ALLOW_PRIVATE_HOSTS and (len(labels) < 2 or labels[-1].isdigit()):
        raise ValidationError("The host must be a public domain name, not an IP address or a single label.")
    return host


def _ip_address(host: str) -> str | None:
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return None
