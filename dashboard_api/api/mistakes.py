"""Usual mistakes in signing: a wrong signature that verifies with one of them is named for what it is.

Only a caller with the secret can make such a signature, so naming the mistake tells others nothing.
"""

import hmac
import json
from collections.abc import Iterator, Sequence
from typing import Any

import es1
from dashboard_api.api.request import Call

ADVICE = {
    "secret_newline": "The secret was used with a line break at its end: remove it before you sign.",
    "full_url": "The full address was signed: sign the path alone, such as /v1/site/dashboard.",
    "trailing_slash": "The path was signed with a slash at its end: sign it exactly as it is sent.",
    "upper_case_digest": "The digest of the body was signed in upper case: use lower-case hexadecimal.",
    "other_body": "The same JSON was signed in other bytes: serialise the body once, sign it, and send those "
    "bytes.",
}


def mistake_of(secrets: Sequence[str], signed: es1.SignedHeaders, call: Call, fields: Any) -> str | None:
    """Return the mistake with which a signature that is wrong verifies with one of ``secrets``, if any.

    Every variant is tried with every secret, whatever matches, so that the time says nothing.
    """
    found = None
    for mistake, ending, canonical in _variants(signed, call, fields):
        for secret in secrets:
            if hmac.compare_digest(es1.signature(secret + ending, canonical), signed.signature):
                found = mistake
    return found


def _variants(signed: es1.SignedHeaders, call: Call, fields: Any) -> Iterator[tuple[str, str, str]]:
    """Yield each mistake with what it adds to the secret, and with its canonical string."""

    def canonical(path: str = call.path, body: bytes = call.body) -> str:
        return es1.canonical_string(signed.timestamp, signed.nonce, call.method, path, body)

    for ending in ("\n", "\r\n"):
        yield "secret_newline", ending, canonical()
    for scheme in ("https", "http"):
        yield "full_url", "", canonical(f"{scheme}://{call.host}{call.path}")
    yield "trailing_slash", "", canonical(f"{call.path}/")
    lines, _, digest = canonical().rpartition("\n")
    yield "upper_case_digest", "", f"{lines}\n{digest.upper()}"
    for body in _serialised(call.body, fields):
        yield "other_body", "", canonical(body=body)


def _serialised(body: bytes, fields: Any) -> Iterator[bytes]:
    """Yield the same JSON as other programs write it, and the body with another end."""
    for separators in ((",", ":"), (", ", ": ")):
        for ensure_ascii in (True, False):
            yield json.dumps(fields, separators=separators, ensure_ascii=ensure_ascii).encode()
    yield body.strip()
    yield body + b"\n"
