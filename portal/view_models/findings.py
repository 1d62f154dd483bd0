"""The rows of the list, and the notes, as the page tells them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils.safestring import SafeString

from portal import labels
from portal.forms import Address
from portal.gateway.messages import Note, Threat
from portal.markdown import render_note


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteText:
    """An analyst's note; ``body`` is clean HTML, ``finding_url`` leads to the finding it is about."""

    author: str
    written_at: datetime
    body: SafeString
    finding_url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What the list shows of one finding; ``url`` leads to the rest."""

    key: str
    url: str
    severity: str
    tone: str
    kind: str
    state: str
    title: str
    location: str
    more_places: int
    source: str
    last_seen: datetime | None
    notes: int


def rows(threats: Iterable[Threat], notes: Iterable[Note], address: Address) -> tuple[Row, ...]:
    """``threats`` in their order, each with the number of notes about it."""
    about = Counter(note.finding_id for note in notes)
    return tuple(
        Row(
            key=row_key(threat.id),
            url=address.of_finding(threat.id),
            severity=labels.word(labels.SEVERITIES, threat.severity),
            tone=labels.tone(threat.severity),
            kind=labels.word(labels.KINDS, threat.kind),
            state=state(threat),
            title=threat.title,
            location=threat.location,
            more_places=max(threat.locations_count - 1, 0),
            source=threat.source_name or threat.source,
            last_seen=threat.last_seen,
            notes=about[threat.id],
        )
        for threat in threats
    )


def row_key(finding_id: str) -> str:
    """The name by which the page knows a finding's row."""
    return f"finding-{finding_id}"


def state(threat: Threat) -> str:
    """Where it stands; nothing of what is open, as most are."""
    return "" if threat.status == labels.OPEN else labels.word(labels.STATUSES, threat.status)


def note_texts(notes: Iterable[Note], address: Address) -> tuple[NoteText, ...]:
    """All of them, each with the address of the finding it is about."""
    return tuple(note_text(note, address.of_finding(note.finding_id or "")) for note in notes)


def note_text(note: Note, finding_url: str = "") -> NoteText:
    """``note`` with its Markdown made into clean HTML."""
    return NoteText(
        author=note.author,
        written_at=note.updated_at or note.created_at,
        body=render_note(note.body),
        finding_url=finding_url,
    )
