"""One finding by itself: everything that is known about it, in the reader's words."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from portal import labels
from portal.forms import Address
from portal.gateway import FindingAnswer
from portal.gateway.messages import Event, Finding, Location
from portal.view_models.findings import NoteText, note_text, row_key, state

_CVE = re.compile(r"CVE-[0-9]{4}-[0-9]{4,19}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A text, and where it leads if it leads anywhere."""

    text: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where it was seen; ``evidence`` only where it is not that of the finding itself."""

    location: str
    evidence: str
    is_evidence_cut: bool
    first_seen: datetime | None
    last_seen: datetime | None
    gone_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Something that happened to the finding."""

    what: str
    at: datetime
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingText:
    """The finding; ``list_url`` leads back to the list, ``link`` is the address to hand on."""

    list_url: str
    row_key: str
    link: str
    severity: str
    tone: str
    kind: str
    kind_meaning: str
    state: str
    title: str
    location: str
    source: str
    rule: str
    description: str
    remediation: str
    evidence: str
    is_evidence_cut: bool
    places: tuple[Place, ...]
    more_places: int
    references: tuple[Link, ...]
    weaknesses: tuple[Link, ...]
    timeline: tuple[Step, ...]
    notes: tuple[NoteText, ...]


def finding_text(answer: FindingAnswer, address: Address, *, link: str) -> FindingText:
    """``answer`` as the page tells it; ``address`` is that of the list it was opened from."""
    found = answer.finding
    places = tuple(_place(place, found) for place in found.locations)
    return FindingText(
        list_url=str(address),
        row_key=row_key(found.id),
        link=link,
        severity=labels.word(labels.SEVERITIES, found.severity),
        tone=labels.tone(found.severity),
        kind=labels.word(labels.KINDS, found.kind),
        kind_meaning=str(labels.KIND_MEANINGS.get(found.kind, "")),
        state=state(found),
        title=found.title,
        location=found.location,
        source=found.source_name or found.source,
        rule=found.rule,
        description=found.description,
        remediation=found.remediation,
        evidence=found.evidence,
        is_evidence_cut=found.evidence_truncated,
        places=() if _is_told_at_the_head(places, found) else places,
        more_places=max(found.locations_count - max(len(places), 1), 0),
        references=tuple(known for url in found.references if (known := reference(url))),
        weaknesses=weaknesses(found),
        timeline=timeline(found),
        notes=tuple(note_text(note) for note in answer.analyst_notes),
    )


def _place(place: Location, found: Finding) -> Place:
    is_own = not found.evidence.startswith(place.evidence)
    return Place(
        location=place.location,
        evidence=place.evidence if is_own else "",
        is_evidence_cut=is_own and place.evidence_truncated,
        first_seen=place.first_seen,
        last_seen=place.last_seen,
        gone_at=place.gone_at,
    )


def _is_told_at_the_head(places: tuple[Place, ...], found: Finding) -> bool:
    """Whether the one place is the finding's own, and shows no more than that."""
    return len(places) == 1 and places[0].location == found.location and not places[0].evidence


def reference(url: str) -> Link | None:
    """A link to ``url`` without its scheme, if it leads to the web and nowhere else."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        return None
    return Link(text=url.partition("://")[2].rstrip("/"), url=url)


def weaknesses(found: Finding) -> tuple[Link, ...]:
    """The entries of the public catalogues of vulnerabilities and weaknesses."""
    cves = (
        Link(text=cve, url=f"https://nvd.nist.gov/vuln/detail/{cve}" if _CVE.fullmatch(cve) else "")
        for cve in found.cve
    )
    cwes = (
        Link(text=f"CWE-{number}", url=f"https://cwe.mitre.org/data/definitions/{number}.html")
        for number in found.cwe
    )
    return (*cves, *cwes)


def timeline(found: Finding) -> tuple[Step, ...]:
    """What happened, oldest first; what the portal has no word for is left out."""
    events: Iterable[Event] = found.timeline or _seen(found)
    return tuple(
        Step(what=str(labels.EVENTS[event.event]), at=event.at, reason=event.reason)
        for event in events
        if event.event in labels.EVENTS
    )


def _seen(found: Finding) -> list[Event]:
    """What is known where the service tells no more than a list does."""
    seen = {"first_seen": found.first_seen, "last_seen": found.last_seen}
    return [Event(at=at, event=event) for event, at in seen.items() if at is not None]
