"""Rows of the list of findings, and analysts' notes."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.pages.urls import Address
from portal.pages.view_models.answered import AnswerBadge, answer_badge
from portal.pages.view_models.reader import Reader
from portal.texts import labels
from portal.texts.markdown import render_note
from signed_api.findings import CoverageEntry, Note, Threat


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteView:
    """An analyst's note; ``body`` is safe HTML, and ``finding_url`` is the page of its finding or empty."""

    author: str
    written_at: datetime
    body: SafeString
    finding_url: str = ""
    is_pinned: bool = False


BY_FIRST_SEEN = ("newest", "oldest")  # orders of findings
NEW_DAYS = 7
_QUOTED = re.compile("“[^”]*”")


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRow:
    """One finding in a list; ``status`` is "New" for new open findings, and empty for other open ones.

    ``id`` is set if the finding can be chosen to be answered.
    """

    key: str
    url: str
    severity: str
    tone: str
    kind: str
    status: str
    title: str
    location: str
    more_locations: int
    source: str
    first_seen: datetime | None  # only if the list is ordered or filtered by it
    last_seen: datetime | None
    notes: int
    answer: AnswerBadge | None = None
    id: str = ""


def finding_rows(
    threats: Iterable[Threat],
    notes: Iterable[Note],
    address: Address,
    *,
    today: date | None = None,
    reader: Reader | None = None,
    may_answer: bool = False,
) -> tuple[FindingRow, ...]:
    """Return a row for each of ``threats``, with the number of its notes.

    With ``today``, open findings of the last seven days get the status "New", and with ``reader``, findings
    have the account's answer. With ``may_answer``, open ones can be chosen.
    """
    shows_first_seen = address.filters.sort in BY_FIRST_SEEN or address.filters.since
    note_counts = Counter(note.finding_id for note in notes)
    return tuple(
        FindingRow(
            key=row_key(threat.id),
            url=address.of_finding(threat.id),
            severity=labels.label(labels.SEVERITIES, threat.severity),
            tone=labels.tone(threat.severity),
            kind=kind_label(threat),
            status=status_label(threat) or (_("New") if today and is_new(threat.first_seen, today) else ""),
            title=threat.title,
            location=threat.location,
            more_locations=max(threat.locations_count - 1, 0),
            source=threat.source_name or threat.source,
            first_seen=threat.first_seen if shows_first_seen else None,
            last_seen=threat.last_seen,
            notes=note_counts[threat.id],
            answer=answer_badge(threat, reader, today) if reader and today else None,
            id=threat.id if may_answer and threat.status == labels.OPEN and threat.id.isdecimal() else "",
        )
        for threat in threats
    )


def is_new(first_seen: datetime | None, today: date) -> bool:
    """Return whether ``first_seen`` is in the last seven days (UTC), today included."""
    return first_seen is not None and (today - first_seen.date()).days < NEW_DAYS


def row_key(finding_id: str) -> str:
    """Return the HTML id of a finding's row."""
    return f"finding-{finding_id}"


def kind_label(threat: Threat) -> str:
    """Return the label of the finding's kind, or that an analyst verified it."""
    return str(labels.VERIFIED) if threat.verified else labels.label(labels.KINDS, threat.kind)


def status_label(threat: Threat) -> str:
    """Return the label of the finding's status; empty for open, the usual one."""
    return "" if threat.status == labels.OPEN else labels.label(labels.STATUSES, threat.status)


def common_text(threats: Iterable[Threat], text_of: Callable[[Threat], str]) -> str:
    """Return the text that all findings share; empty if they differ."""
    texts = set(map(text_of, threats))
    return texts.pop() if len(texts) == 1 else ""


def common_description(threats: Sequence[Threat]) -> str:
    """Return the description that all findings share, if necessary without their own names; else empty."""
    return common_text(threats, lambda threat: threat.description) or common_text(threats, in_general)


def in_general(threat: Threat) -> str:
    """Return the description with “…” for each quotation that also appears in the title."""
    return _QUOTED.sub(lambda quoted: "“…”" if quoted[0] in threat.title else quoted[0], threat.description)


def how_to_check(threats: Sequence[Threat], *, shows_evidence: bool, decides: str = "") -> str:
    """Say how a reader can tell that a fix of these findings worked; empty without open findings.

    ``decides`` says what decides it; by default the next scans, without their days.
    """
    still_open = [threat for threat in threats if threat.status == labels.OPEN]
    if not still_open:
        return ""
    text = decides or next_scans(still_open)
    if not any(threat.evidence for threat in still_open):
        return text
    if shows_evidence:
        return _("Test it yourself first: what the evidence shows must be gone.") + " " + text
    return text + " " + _("The evidence is left out here. Ask for it if you want to test the fix yourself.")


def next_scans(threats: Sequence[Threat], coverage: Iterable[CoverageEntry] = ()) -> str:
    """Say which scans show whether a fix of these findings worked, with their days from ``coverage``."""
    due = {entry.source: entry.next_due_on for entry in coverage if not entry.stale}
    names = {threat.source: threat.source_name or threat.source for threat in threats}
    scanners = dict.fromkeys(_with_day(name, due.get(source)) for source, name in names.items())
    return ngettext(
        "The next complete scan by %(scanner)s shows whether the fix worked.",
        "The next complete scans by %(scanner)s show whether the fix worked.",
        len(scanners),
    ) % {"scanner": ", ".join(scanners)}


def _with_day(scanner: str, due: date | None) -> str:
    if due is None:
        return scanner
    return _("%(scanner)s (due on %(day)s)") % {"scanner": scanner, "day": labels.day(due)}


def note_views(notes: Iterable[Note], address: Address) -> tuple[NoteView, ...]:
    """Return notes with their findings' URLs: pinned ones, then notes about the website, then others."""
    in_order = sorted(notes, key=lambda note: (not note.pinned, note.finding_id is not None))
    return tuple(note_view(note, address.of_finding(note.finding_id or "")) for note in in_order)


def note_view(note: Note, finding_url: str = "") -> NoteView:
    """Return ``note`` with its Markdown rendered to safe HTML."""
    return NoteView(
        author=note.author,
        written_at=note.updated_at or note.created_at,
        body=render_note(note.body),
        finding_url=finding_url,
        is_pinned=note.pinned,
    )
