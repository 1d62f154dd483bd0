"""Evidence as parts: the request, the response, and in them what proves the problem.

The scanners' texts have headings such as "Response:" on a line of their own, or begin as messages of HTTP do.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, pairwise
from types import MappingProxyType
from urllib.parse import quote

from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

LABELS: Mapping[str, str | Promise] = MappingProxyType(
    {
        "Request": _("Request"),
        "Response": _("Response"),
        "Attack": _("Attack"),
        "Payload": _("Attack"),
        "Evidence": _("Proof"),
        "Proof": _("Proof"),
        "Extracted": _("Proof"),
        "Command": _("Command"),
    }
)
MIN_PROOF_LENGTH = 4  # shorter texts are in every page
MAX_PROOFS = 20  # marked in a part
SHOWN_LINES, SHOWN_CHARACTERS = 20, 1_600  # of a part before a reader opens it, and in a PDF
MAX_COMPARED = 200  # looked for in each part; a scanner's text may have thousands of lines and of parts
_HEADING = re.compile(rf"({'|'.join(LABELS)}):\n")
_START = re.compile(
    rf"(?:\A|(?<=\n\n))(?=(?:{'|'.join(LABELS)}):\n|[A-Z]{{3,10}} \S+ HTTP/[\d.]+\s|HTTP/[\d.]+ \d{{3}}\b)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidencePart:
    """A part of the evidence; ``label`` is empty for what has none. ``html`` has marks around proofs."""

    label: str | Promise
    html: SafeString
    has_mark: bool
    is_long: bool


def is_long(text: str) -> bool:
    """Return whether only the beginning of ``text`` is shown at first."""
    return len(text) > SHOWN_CHARACTERS or len(text.splitlines()) > SHOWN_LINES


def beginning(text: str) -> str:
    """Return the part of a long ``text`` that is shown at first; a short text as it is."""
    return "\n".join(text.splitlines()[:SHOWN_LINES])[:SHOWN_CHARACTERS] if is_long(text) else text


def evidence_parts(text: str) -> list[EvidencePart]:
    """Return the parts of ``text``, with the proof marked in requests and responses."""
    starts = [match.start() for match in _START.finditer(text)]
    positions = sorted({0, *starts, len(text)})
    parts = [_named(text[start:end].strip("\n")) for start, end in pairwise(positions)]
    proofs = list(islice(_proofs(parts), MAX_COMPARED))
    return [_part(name, body, proofs) for name, body in parts if body]


def _named(text: str) -> tuple[str, str]:
    """Return the name of a part, which may be empty, and its text without the heading."""
    if heading := _HEADING.match(text):
        return heading[1], text[heading.end() :]
    if text.startswith("HTTP/"):
        return "Response", text
    return ("Request", text) if _START.match(text) else ("", text)


def _proofs(parts: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the texts that prove the problem, whole and line by line."""
    for name, body in parts:
        if LABELS.get(name) in (LABELS["Proof"], LABELS["Attack"]):
            for text in (body, *body.splitlines()):
                if len(text.strip()) >= MIN_PROOF_LENGTH:
                    yield from (text.strip(), quote(text.strip()))


def _part(name: str, body: str, proofs: Iterable[str]) -> EvidencePart:
    found = [proof for proof in proofs if proof in body] if name in ("Request", "Response") else []
    html = _marked(body, sorted(set(found), key=len, reverse=True)[:MAX_PROOFS])
    return EvidencePart(label=LABELS.get(name, ""), html=html, has_mark=bool(found), is_long=is_long(body))


def _marked(body: str, proofs: list[str]) -> SafeString:
    if not proofs:
        return format_html("{}", body)
    pieces = re.split(f"({'|'.join(map(re.escape, proofs))})", body)
    return format_html_join(
        "",
        "{}",
        ((format_html("<mark>{}</mark>", piece) if n % 2 else piece,) for n, piece in enumerate(pieces)),
    )
