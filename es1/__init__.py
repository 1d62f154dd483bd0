"""ES1: HMAC-SHA256 request signing (specification, section 5).

A caller signs six elements joined by single newlines: the literal ``ES1``, the timestamp, the nonce,
the upper-case method, the path without the host, and the lower-case hexadecimal SHA-256 of the exact
body bytes. The HMAC of that string, keyed by the site API secret, travels in three headers:
``x-service-timestamp``, ``x-service-nonce`` and ``x-service-signature``.

This package needs only the standard library. It reads no clock and makes no random values: callers pass
``now`` and ``nonce``. Storing spent nonces is the task of the service, not of this package.
"""

from es1.canonical import (
    NONCE_HEADER,
    SCHEME,
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    body_digest,
    canonical_string,
    signature,
)
from es1.errors import ES1Error, InvalidSignature, MalformedHeaders, StaleTimestamp
from es1.signing import sign
from es1.verifying import (
    SignedHeaders,
    Verified,
    check_signature,
    check_window,
    parse_headers,
    verify,
)

__all__ = [
    "NONCE_HEADER",
    "SCHEME",
    "SIGNATURE_HEADER",
    "TIMESTAMP_HEADER",
    "ES1Error",
    "InvalidSignature",
    "MalformedHeaders",
    "SignedHeaders",
    "StaleTimestamp",
    "Verified",
    "body_digest",
    "canonical_string",
    "check_signature",
    "check_window",
    "parse_headers",
    "sign",
    "signature",
    "verify",
]
