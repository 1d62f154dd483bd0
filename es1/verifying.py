"""The service's part: checks the shapes of the headers, then the clock, then the signature."""

import hmac
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter

from es1.canonical import (
    NONCE_HEADER,
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    canonical_string,
    signature,
)
from es1.errors import InvalidSignature, MalformedHeaders, StaleTimestamp

_SHAPES = {
    TIMESTAMP_HEADER: r"(?:0|[1-9][0-9]{0,15})",
    NONCE_HEADER: r"[A-Za-z0-9._~-]{8,128}",
    SIGNATURE_HEADER: r"[0-9a-f]{64}",
}
_EXPECTED = {
    TIMESTAMP_HEADER: "the time in whole Unix seconds: 1 to 16 digits, without a sign or a leading zero",
    NONCE_HEADER: "8 to 128 characters of A-Z a-z 0-9 . _ ~ -, new in every attempt",
    SIGNATURE_HEADER: "64 characters of 0-9 a-f, in lower case",
}
_values_of = itemgetter(*_SHAPES)  # of the three headers, in this order
_fits = {header: re.compile(shape, re.ASCII).fullmatch for header, shape in _SHAPES.items()}
# One match instead of three; safe, because no shape allows the newline that separates the values.
_fit_together = re.compile("\n".join(_SHAPES.values()), re.ASCII).fullmatch


# Not frozen and not named tuples: creating both would then take a tenth of each verification.
@dataclass(slots=True)
class SignedHeaders:
    """The three headers: well-formed, but not verified."""

    timestamp: str
    nonce: str
    signature: str


@dataclass(slots=True)
class Verified:
    """The verified ``timestamp``, in Unix seconds, and ``nonce``; the caller must still spend the nonce."""

    timestamp: int
    nonce: str


def check_shape(header: str, value: str) -> None:
    """Raise MalformedHeaders unless ``value`` has the shape of the header."""
    if not _fits[header](value):
        raise MalformedHeaders(header, "malformed_header", expected=_EXPECTED[header])


def parse_headers(headers: Mapping[str, str]) -> SignedHeaders:
    """Return the three headers from a mapping with lower-case names; raises MalformedHeaders."""
    try:
        values = _values_of(headers)
    except KeyError as error:
        header = error.args[0]
        raise MalformedHeaders(header, "missing_header", expected=_EXPECTED[header]) from error
    if not _fit_together("\n".join(values)):  # find the header to blame
        for header, value in zip(_SHAPES, values, strict=True):
            check_shape(header, value)
    return SignedHeaders(*values)


def check_window(timestamp: int, *, now: int, window: int) -> None:
    """Raise StaleTimestamp if ``timestamp`` and ``now`` differ by more than ``window`` seconds."""
    if abs(now - timestamp) > window:
        raise StaleTimestamp(skew=now - timestamp, window=window)


def check_signature(
    secrets: Iterable[str], signed: SignedHeaders, *, method: str, path: str, body: bytes
) -> int:
    """Return the index of the secret that matches; raises InvalidSignature.

    Every secret is tried, in constant time, so the time does not show which one matched or was close.
    """
    canonical = canonical_string(signed.timestamp, signed.nonce, method, path, body)
    candidate = signed.signature.encode()
    match = None
    for position, secret in enumerate(secrets):
        if hmac.compare_digest(signature(secret, canonical).encode(), candidate):
            match = position
    if match is None:
        raise InvalidSignature
    return match


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
    """Check shapes, clock and signature, in this order, and return timestamp and nonce.

    ``headers`` maps lower-case names to values; ``now`` and ``window`` are in seconds.
    Raises MalformedHeaders, StaleTimestamp or InvalidSignature. The caller must still spend the nonce.
    """
    signed = parse_headers(headers)
    timestamp = int(signed.timestamp)
    check_window(timestamp, now=now, window=window)
    check_signature(secrets, signed, method=method, path=path, body=body)
    return Verified(timestamp, signed.nonce)
