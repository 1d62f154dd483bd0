"""Common mistakes in signing: recognises a wrong signature by repeating the mistake.

Only a caller with the secret can make such a signature, so naming the mistake does not help an attacker.
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
    """Return the name of the mistake that produces this signature with one of ``secrets``, if any.

    ``fields`` is the JSON of the body. A match does not end the search, so the time does not show what
    matched.
    """
    found = None
    for mistake, secret_suffix, canonical in _variants(signed, call, fields):
        for secret in secrets:
            if hmac.compare_digest(es1.signature(secret + secret_suffix, canonical), signed.signature):
                found = mistake
    return found


def _variants(signed: es1.SignedHeaders, call: Call, fields: Any) -> Iterator[tuple[str, str, str]]:
    """Yield name, suffix of the secret and canonical string of each mistake."""

    def canonical(path: str = call.path, body: bytes = call.body) -> str:
        return es1.canonical_string(signed.timestamp, signed.nonce, call.method, path, body)

    for line_break in ("\n", "\r\n"):
        yield "secret_newline", line_break, canonical()
    for scheme in ("https", "http"):
        yield "full_url", "", canonical(f"{scheme}://{call.host}{call.path}")
    yield "trailing_slash", "", canonical(f"{call.path}/")
    other_lines, _, digest = canonical().rpartition("\n")
    yield "upper_case_digest", "", f"{other_lines}\n{digest.upper()}"
    for body in _other_bodies(call.body, fields):
        yield "other_body", "", canonical(body=body)


def _other_bodies(body: bytes, fields: Any) -> Iterator[bytes]:
    """Yield the JSON as other serialisers write it, and the body with other white space around it."""
    for separators in ((",", ":"), (", ", ": ")):
        for ensure_ascii in (True, False):
            yield json.dumps(fields, separators=separators, ensure_ascii=ensure_ascii).encode()
    yield body.strip()
    yield body + b"\n"
