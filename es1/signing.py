"""The caller's part: makes the three headers of one attempt."""

from es1.canonical import (
    NONCE_HEADER,
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    canonical_string,
    signature,
)
from es1.verifying import check_shape


def sign(secret: str, *, method: str, path: str, body: bytes, now: int, nonce: str) -> dict[str, str]:
    """Return the headers that sign ``body``. ``now`` is in whole Unix seconds; ``nonce`` is URL-safe.

    Every attempt needs a new ``now`` and a new ``nonce`` (specification, section 5, rule 3).
    Raises MalformedHeaders if ``now`` or ``nonce`` has a shape that verifiers refuse.
    """
    timestamp = str(now)
    check_shape(TIMESTAMP_HEADER, timestamp)
    check_shape(NONCE_HEADER, nonce)
    return {
        TIMESTAMP_HEADER: timestamp,
        NONCE_HEADER: nonce,
        SIGNATURE_HEADER: signature(secret, canonical_string(timestamp, nonce, method, path, body)),
    }
