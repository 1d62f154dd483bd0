"""Header names, the canonical string and its HMAC (specification, section 5)."""

import hashlib
import hmac

SCHEME = "ES1"
TIMESTAMP_HEADER = "x-service-timestamp"
NONCE_HEADER = "x-service-nonce"
SIGNATURE_HEADER = "x-service-signature"


def body_digest(body: bytes) -> str:
    """Return the lower-case hexadecimal SHA-256 of the exact bytes sent."""
    return hashlib.sha256(body).hexdigest()


def canonical_string(timestamp: str, nonce: str, method: str, path: str, body: bytes) -> str:
    """Return the six elements joined by newlines, without a trailing newline.

    ``timestamp`` and ``nonce`` are the header values as sent. ``path`` starts with a slash, and has no
    host or query. ``body`` is the exact bytes sent.
    """
    return f"{SCHEME}\n{timestamp}\n{nonce}\n{method.upper()}\n{path}\n{body_digest(body)}"


def signature(secret: str, canonical: str) -> str:
    """Return the lower-case hexadecimal HMAC-SHA256 of ``canonical``, keyed by ``secret``, both as UTF-8."""
    return hmac.digest(secret.encode(), canonical.encode(), "sha256").hex()
