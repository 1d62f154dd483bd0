"""Evidence split into parts, such as request and response, with the proof marked in them.

In the scanners' texts a part begins with a heading such as "Response:" on its own line, or with the first
line of an HTTP message.
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
MIN_PROOF_LENGTH = 4  # shorter texts match in every page
MAX_PROOFS = 20  # marks in a part
SHOWN_LINES, SHOWN_CHARACTERS = 20, 1_600  # of a collapsed part, and of a part in a PDF
MAX_COMPARED = 200  # proofs to search for; a scanner's text may have thousands of lines and parts
_HEADING = re.compile(rf"({'|'.join(LABELS)}):\n")
# Where a part starts: at a heading, a request line or a status line, after a blank line or at the beginning
_START = re.compile(
    rf"(?:\A|(?<=\n\n))(?=(?:{'|'.join(LABELS)}):\n|[A-Z]{{3,10}} \S+ HTTP/[\d.]+\s|HTTP/[\d.]+ \d{{3}}\b)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidencePart:
    """A part of the evidence; ``label`` may be empty, and ``html`` has marks around proofs."""

    label: str | Promise
    html: SafeString
    has_mark: bool
    is_long: bool


def is_long(text: str) -> bool:
    """Return whether ``text`` is collapsed at first."""
    return len(text) > SHOWN_CHARACTERS or len(text.splitlines()) > SHOWN_LINES


def beginning(text: str) -> str:
    """Return the start of ``text`` that is shown while it is collapsed, or a short text unchanged."""
    return "\n".join(text.splitlines()[:SHOWN_LINES])[:SHOWN_CHARACTERS] if is_long(text) else text


def evidence_parts(text: str) -> list[EvidencePart]:
    """Split ``text`` into parts, and mark the proof in requests and responses."""
    starts = [match.start() for match in _START.finditer(text)]
    positions = sorted({0, *starts, len(text)})
    parts = [_name_and_body(text[start:end].strip("\n")) for start, end in pairwise(positions)]
    proofs = list(islice(_proofs(parts), MAX_COMPARED))
    return [_part(name, body, proofs) for name, body in parts if body]


def _name_and_body(text: str) -> tuple[str, str]:
    """Split a part into its name, which may be empty, and its text without the heading."""
    if heading := _HEADING.match(text):
        return heading[1], text[heading.end() :]
    if text.startswith("HTTP/"):
        return "Response", text
    return ("Request", text) if _START.match(text) else ("", text)


def _proofs(parts: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield each proof as a whole, line by line, and quoted for URLs."""
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
    # The group makes split() keep the proofs: every second piece is one.
    pieces = re.split(f"({'|'.join(map(re.escape, proofs))})", body)
    return format_html_join(
        "",
        "{}",
        ((format_html("<mark>{}</mark>", piece) if at % 2 else piece,) for at, piece in enumerate(pieces)),
    )
