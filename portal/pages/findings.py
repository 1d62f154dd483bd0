"""Findings and notes, as the page tells them."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from django.utils.safestring import SafeString

from portal import wording
from portal.gateway.messages import Note, Threat
from portal.notes import render_note

_CVE = re.compile(r"CVE-[0-9]{4}-[0-9]{4,19}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A text, and where it leads if it leads anywhere."""

    text: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteText:
    """An analyst's note; ``body`` is clean HTML."""

    author: str
    written_at: datetime
    body: SafeString
    is_about_finding: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Everything that the list knows about one finding."""

    key: str
    severity: str
    tone: str
    kind: str
    kind_meaning: str
    state: str
    title: str
    location: str
    more_places: int
    source: str
    rule: str
    first_seen: datetime | None
    last_seen: datetime | None
    description: str
    evidence: str
    is_evidence_cut: bool
    remediation: str
    references: tuple[Link, ...]
    weaknesses: tuple[Link, ...]
    notes: tuple[NoteText, ...]


def findings(threats: Iterable[Threat], notes: Iterable[Note]) -> tuple[Finding, ...]:
    """``threats`` in their order, each with the notes about it."""
    about = defaultdict(list)
    for note in notes:
        about[note.finding_id].append(note)
    return tuple(_finding(threat, about.get(threat.id, ())) for threat in threats)


def _finding(threat: Threat, notes: Iterable[Note]) -> Finding:
    return Finding(
        key=f"finding-{threat.id}",
        severity=wording.word(wording.SEVERITIES, threat.severity),
        tone=wording.tone(threat.severity),
        kind=wording.word(wording.KINDS, threat.kind),
        kind_meaning=str(wording.KIND_MEANINGS.get(threat.kind, "")),
        state=wording.word(wording.FINDING_STATES, threat.status),
        title=threat.title,
        location=threat.location,
        more_places=max(threat.locations_count - 1, 0),
        source=threat.source_name or threat.source,
        rule=threat.rule,
        first_seen=threat.first_seen,
        last_seen=threat.last_seen,
        description=threat.description,
        evidence=threat.evidence,
        is_evidence_cut=threat.evidence_truncated,
        remediation=threat.remediation,
        references=tuple(link for url in threat.references if (link := reference(url))),
        weaknesses=weaknesses(threat),
        notes=tuple(note_text(note) for note in notes),
    )


def reference(url: str) -> Link | None:
    """A link to ``url`` without its scheme, if it leads to the web and nowhere else."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        return None
    return Link(text=url.partition("://")[2].rstrip("/"), url=url)


def weaknesses(threat: Threat) -> tuple[Link, ...]:
    """The entries of the public catalogues of vulnerabilities and weaknesses."""
    cves = (
        Link(text=cve, url=f"https://www.cve.org/CVERecord?id={cve}" if _CVE.fullmatch(cve) else "")
        for cve in threat.cve
    )
    cwes = (
        Link(text=f"CWE-{number}", url=f"https://cwe.mitre.org/data/definitions/{number}.html")
        for number in threat.cwe
    )
    return (*cves, *cwes)


def general_notes(notes: Iterable[Note], shown: Iterable[Threat]) -> tuple[NoteText, ...]:
    """Notes on the website, and those about findings that this page does not list."""
    listed = {threat.id for threat in shown}
    return tuple(note_text(note) for note in notes if note.finding_id not in listed)


def note_text(note: Note) -> NoteText:
    """``note`` with its Markdown made into clean HTML."""
    return NoteText(
        author=note.author,
        written_at=note.updated_at or note.created_at,
        body=render_note(note.body),
        is_about_finding=note.finding_id is not None,
    )
