"""The caller's part: the three headers of one attempt."""

from es1.canonical import (
    NONCE_HEADER,
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    canonical_string,
    signature,
)
from es1.verifying import check_shape


def sign(secret: str, *, method: str, path: str, body: bytes, now: int, nonce: str) -> dict[str, str]:
    """Return the headers that sign ``body``; ``now`` in whole Unix seconds, ``nonce`` new and URL-safe.

    Every retry needs a new ``now`` and a new ``nonce`` (specification, section 5, rule 3).
    Raises MalformedHeaders if every verifier would refuse ``now`` or ``nonce``.
    """
    timestamp = str(now)
    check_shape(TIMESTAMP_HEADER, timestamp)
    check_shape(NONCE_HEADER, nonce)
    return {
        TIMESTAMP_HEADER: timestamp,
        NONCE_HEADER: nonce,
        SIGNATURE_HEADER: signature(secret, canonical_string(timestamp, nonce, method, path, body)),
    }
