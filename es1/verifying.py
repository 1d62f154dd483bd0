"""The service's half: shapes first, then the clock, then the signature."""

import hmac
import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from es1.canonical import (
    NONCE_HEADER,
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    canonical_string,
    signature,
)
from es1.errors import InvalidSignature, MalformedHeaders, StaleTimestamp

_SHAPES = {
    TIMESTAMP_HEADER: re.compile(r"0|[1-9][0-9]{0,15}", re.ASCII).fullmatch,
    NONCE_HEADER: re.compile(r"[A-Za-z0-9._~-]{8,128}", re.ASCII).fullmatch,
    SIGNATURE_HEADER: re.compile(r"[0-9a-f]{64}", re.ASCII).fullmatch,
}


# Named tuples: every verification makes both, and frozen dataclasses cost a third of its time.
class SignedHeaders(NamedTuple):
    """The three headers, well-formed but not yet verified."""

    timestamp: str
    nonce: str
    signature: str


class Verified(NamedTuple):
    """What a verified request claims: ``timestamp`` in Unix seconds, ``nonce`` still to be spent."""

    timestamp: int
    nonce: str


def check_shape(header: str, value: str) -> None:
    """Raise MalformedHeaders unless ``value`` has the shape of that header."""
    if not _SHAPES[header](value):
        raise MalformedHeaders(header, "malformed_header")


def parse_headers(headers: Mapping[str, str]) -> SignedHeaders:
    """Read the three headers from a mapping of lower-case names; raises MalformedHeaders."""
    return SignedHeaders(*[_read(headers, header, fits) for header, fits in _SHAPES.items()])


def _read(headers: Mapping[str, str], header: str, fits: Callable[[str], object]) -> str:
    value = headers.get(header)
    if value is None:
        raise MalformedHeaders(header, "missing_header")
    if not fits(value):
        raise MalformedHeaders(header, "malformed_header")
    return value


def check_window(timestamp: int, *, now: int, window: int) -> None:
    """Raise StaleTimestamp unless both lie at most ``window`` seconds apart (both ends inclusive)."""
    if abs(now - timestamp) > window:
        raise StaleTimestamp(skew=now - timestamp, window=window)


def check_signature(
    secrets: Iterable[str], signed: SignedHeaders, *, method: str, path: str, body: bytes
) -> int:
    """The position among ``secrets`` of the one that made the signature; raises InvalidSignature.

    Every secret is tried in constant time, so neither the time taken nor the error tells which one
    came close.
    """
    canonical = canonical_string(signed.timestamp, signed.nonce, method, path, body)
    given = signed.signature.encode()
    matches = [hmac.compare_digest(signature(secret, canonical).encode(), given) for secret in secrets]
    if not any(matches):
        raise InvalidSignature
    return matches.index(True)


def verify(
    secrets: Iterable[str],
    headers: Mapping[str, str],
    *,
    method: str,
    path: str,
    body: bytes,
    now: int,
    window: int,
) -> Verified:
    """Check shapes, clock and signature, in this order, and return what was claimed.

    ``headers`` maps lower-case names to values; ``now`` and ``window`` are seconds.
    Raises MalformedHeaders, StaleTimestamp or InvalidSignature. The caller still spends the nonce.
    """
    signed = parse_headers(headers)
    timestamp = int(signed.timestamp)
    check_window(timestamp, now=now, window=window)
    check_signature(secrets, signed, method=method, path=path, body=body)
    return Verified(timestamp=timestamp, nonce=signed.nonce)
