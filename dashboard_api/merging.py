"""What a report tells of problems, brought together with what is known of them: new, updated or reopened."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import TypeVar

from django.db.models import Manager, Model

from dashboard_api import bulk
from dashboard_api.bulk import NewFinding, NewOccurrence, stored_moment
from dashboard_api.models import Finding, FindingEvent, Occurrence, Source, Website
from dashboard_api.models.findings import searched_with
from dashboard_api.problems import Problem

_ROWS_OF_STATEMENT = 1_000
_LOCATION_LENGTH = 2000  # of the columns; what tells places apart is a digest of the whole
_TOLD_FIELDS = [
    "rule",
    "title",
    "severity_raw",
    "kind",
    "description",
    "remediation",
    "references",
    "cwe",
    "cve",
]
_FINDING_KEY = ["website", "source", "fingerprint"]
_FINDING_FIELDS = [
    *_TOLD_FIELDS,
    "severity",
    "engine_severity",
    "status",
    "fixed_at",
    "first_seen",
    "last_seen",
    "location",
    "other_locations",
    "locations_count",
    "evidence",
]
_OCCURRENCE_KEY = ["finding", "location_digest"]
_OCCURRENCE_FIELDS = ["evidence", "first_seen", "last_seen", "gone_at"]

Row = TypeVar("Row", bound=Model)


def merge(
    problems: dict[str, Problem], website: Website, source: Source, *, absent_at: datetime | None
) -> Counter[str]:
    """Create and update the findings of one batch, and their places; how many became what.

    A place of these that the report does not tell of is gone at ``absent_at``, if the scan proves that.
    """
    known = {
        finding.fingerprint: finding
        for finding in Finding.objects.filter(pk__in=bulk.known(website.pk, source.pk, problems))
    }
    known_places: dict[int, dict[str, Occurrence]] = defaultdict(dict)
    for occurrence in Occurrence.objects.filter(finding__in=known.values()).defer("evidence"):
        known_places[occurrence.finding_id][occurrence.location_digest] = occurrence
    bulk.add([_new(website, source, key, problem) for key, problem in problems.items() if key not in known])
    occurrences: list[Occurrence] = []
    vanished: list[Occurrence] = []
    reopened: list[FindingEvent] = []
    for key, finding in known.items():
        problem, places = problems[key], known_places[finding.pk]
        if _tell(finding, problem):
            reopened.append(
                FindingEvent(
                    finding=finding,
                    website_id=website.pk,
                    event=FindingEvent.Event.REGRESSED,
                    at=problem.last_seen,
                )
            )
        occurrences += _sighted(finding, problem, places)
        if absent_at is not None:
            vanished += _vanished(problem, places, at=absent_at)
        there = {digest: place.location for digest, place in places.items() if place.gone_at is None}
        there |= {digest: place.location for digest, place in problem.places.items() if digest not in places}
        finding.locations_count = len(there)
        finding.keep_other_locations(there.values())
    _save(Finding.objects, list(known.values()), key=_FINDING_KEY, changed=_FINDING_FIELDS)
    FindingEvent.objects.bulk_create(reopened)
    Occurrence.objects.bulk_update(vanished, ["gone_at"], batch_size=_ROWS_OF_STATEMENT)
    # Where the evidence is still deferred, a later report told already what the place shows.
    late = [place for place in occurrences if place.get_deferred_fields()]
    Occurrence.objects.bulk_update(late, ["first_seen"], batch_size=_ROWS_OF_STATEMENT)
    told = [place for place in occurrences if not place.get_deferred_fields()]
    _save(Occurrence.objects, told, key=_OCCURRENCE_KEY, changed=_OCCURRENCE_FIELDS)
    return Counter(new=len(problems) - len(known), updated=len(known) - len(reopened), reopened=len(reopened))


def _new(
    website: Website, source: Source, key: str, problem: Problem
) -> tuple[NewFinding, list[NewOccurrence]]:
    """What is not known yet, with its places."""
    told = problem.told
    places = [
        NewOccurrence(
            location=place.location[:_LOCATION_LENGTH],
            location_digest=digest,
            evidence=place.evidence,
            first_seen=stored_moment(place.first_seen),
            last_seen=stored_moment(place.last_seen),
        )
        for digest, place in problem.places.items()
    ]
    finding = NewFinding(
        website_id=website.pk,
        source_id=source.pk,
        fingerprint=key,
        severity=int(told.severity),
        severity_raw=told.severity_raw,
        kind=told.kind,
        status=Finding.Status.OPEN.value,
        title=told.title,
        description=told.description,
        remediation=told.remediation,
        references=_stored_json(told.references),
        cwe=_stored_json(told.cwe),
        cve=_stored_json(told.cve),
        rule=told.rule,
        location=places[0].location,
        other_locations=searched_with(
            places[0].location, [place.location for place in problem.places.values()]
        ),
        locations_count=len(places),
        evidence=places[0].evidence,
        first_seen=stored_moment(problem.first_seen),
        last_seen=stored_moment(problem.last_seen),
    )
    return finding, places


@lru_cache(maxsize=256)
def _stored_json(values: tuple[str | int, ...]) -> str:
    """Most findings of a report share a few."""
    return json.dumps(values)


def _tell(finding: Finding, problem: Problem) -> bool:
    """Bring ``finding`` up to what the report tells, unless a later one told already; whether it is back."""
    is_back = finding.fixed_at is not None and problem.last_seen > finding.fixed_at
    if is_back:
        finding.status, finding.fixed_at = Finding.Status.OPEN, None
    finding.first_seen = min(finding.first_seen, problem.first_seen)
    if problem.last_seen >= finding.last_seen:
        finding.last_seen = problem.last_seen
        finding.location = problem.first_place.location[:_LOCATION_LENGTH]
        finding.evidence = problem.first_place.evidence
        for name in _TOLD_FIELDS:
            setattr(finding, name, getattr(problem.told, name))
        _rate(finding, int(problem.told.severity))
    return is_back


def _rate(finding: Finding, severity: int) -> None:
    """As the engine does, unless an analyst rates it otherwise."""
    if finding.engine_severity is None:
        finding.severity = severity
    else:
        finding.engine_severity = severity


def _sighted(finding: Finding, problem: Problem, known: dict[str, Occurrence]) -> Iterator[Occurrence]:
    """The places of ``problem``, each with what the newest report about it shows."""
    for digest, place in problem.places.items():
        occurrence = known.get(digest)
        if occurrence is None:
            occurrence = Occurrence(finding=finding, location_digest=digest)
            occurrence.location = place.location[:_LOCATION_LENGTH]
            occurrence.first_seen = occurrence.last_seen = place.first_seen
        occurrence.first_seen = min(occurrence.first_seen, place.first_seen)
        if place.last_seen >= occurrence.last_seen:
            occurrence.last_seen = place.last_seen
            occurrence.evidence = place.evidence
        if occurrence.gone_at is not None and place.last_seen > occurrence.gone_at:
            occurrence.gone_at = None
        yield occurrence


def _vanished(problem: Problem, known: dict[str, Occurrence], *, at: datetime) -> Iterator[Occurrence]:
    """Places of ``problem`` that were there before the scan ended ``at``, and that it does not tell of."""
    for digest, occurrence in known.items():
        if digest not in problem.places and occurrence.gone_at is None and occurrence.last_seen < at:
            occurrence.gone_at = at
            yield occurrence


def _save(manager: Manager[Row], rows: Sequence[Row], *, key: Sequence[str], changed: Sequence[str]) -> None:
    """Create the rows, or update what ``changed`` of those whose ``key`` exists; in few statements."""
    for row in rows:
        row.pk = None  # known or new, the database tells them apart by their key
    manager.bulk_create(
        rows, batch_size=_ROWS_OF_STATEMENT, update_conflicts=True, unique_fields=key, update_fields=changed
    )
