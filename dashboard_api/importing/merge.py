"""What a report tells of problems, brought together with what is known of them: new, updated or reopened."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import islice
from operator import attrgetter

from dashboard_api import limits
from dashboard_api.importing import bulk_insert
from dashboard_api.importing.absence import count_places, is_gone, mark_gone
from dashboard_api.importing.bulk_insert import NewFinding, NewOccurrence, Sighting, stored_moment
from dashboard_api.importing.scopes import Scan
from dashboard_api.importing.staging import Place, Problem
from dashboard_api.models import Finding, FindingEvent, Occurrence, Source, Website
from dashboard_api.models.findings import searched_with

_LOCATION_LENGTH = 2000  # of the columns; what tells places apart is a digest of the whole
_PLACES_OF_PART = 1_000
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
    "location",
    "other_locations",
    "locations_count",
    "evidence",
]
_told_of = attrgetter(*_FINDING_FIELDS)


Places = Iterable[tuple[str, Place]]


def merge(
    problems: dict[str, Problem],
    website: Website,
    source: Source,
    *,
    scan: Scan,
    places_of: Callable[[str], Places],
) -> Counter[str]:
    """Create and update the findings of one batch, and their places; return the numbers of each kind.

    A place that the report does not list is gone where ``scan`` proves that. Where a problem has more
    places than are held in memory, ``places_of`` lists all places of a fingerprint.
    """
    known = {
        finding.fingerprint: finding
        for finding in Finding.objects.filter(pk__in=bulk_insert.known(website.pk, source.pk, problems))
    }
    widespread = {key for key, problem in problems.items() if problem.is_widespread}
    widespread |= {key for key in known if known[key].locations_count > limits.MAX_PLACES_AT_ONCE}
    at_hand = [finding for key, finding in known.items() if key not in widespread]
    known_places: dict[int, dict[str, Occurrence]] = defaultdict(dict)
    for occurrence in Occurrence.objects.filter(finding__in=at_hand).defer("evidence"):
        known_places[occurrence.finding_id][occurrence.location_digest] = occurrence
    category = scan.scope.category
    bulk_insert.add(
        [
            _new(website, source, key, problem, category)
            for key, problem in problems.items()
            if key not in known
        ]
    )
    seen_again: list[tuple[datetime, int]] = []
    changed: list[Finding] = []
    reopened: list[FindingEvent] = []
    sighted: list[Sighting] = []
    newly_sighted: list[tuple[int, NewOccurrence]] = []
    for key, finding in known.items():
        problem, places = problems[key], known_places[finding.pk]
        told_before, seen_before = _told_of(finding), finding.last_seen
        if _tell(finding, problem):
            reopened.append(
                FindingEvent(
                    finding=finding,
                    website_id=website.pk,
                    event=FindingEvent.Event.REGRESSED,
                    at=problem.last_seen,
                )
            )
        if key not in widespread:
            for digest, place in problem.places.items():
                if digest in places:
                    sighted.append(_sighted(places[digest], place, category))
                else:
                    newly_sighted.append((finding.pk, _occurrence(digest, place, category)))
            if scan.absent_at is not None and not problem.is_sampled:
                sighted += _vanished(finding, problem, places, scan)
            there = {digest: place.location for digest, place in places.items() if place.gone_at is None}
            there |= {
                digest: told.location for digest, told in problem.places.items() if digest not in places
            }
            finding.locations_count = len(there)
            finding.keep_other_locations(there.values())
        if _told_of(finding) != told_before:
            changed.append(finding)
        elif finding.last_seen != seen_before:
            seen_again.append((stored_moment(finding.last_seen), finding.pk))
    bulk_insert.see_again(seen_again)
    bulk_insert.see_places(sighted)
    bulk_insert.add_places(newly_sighted)
    _update(changed)
    FindingEvent.objects.bulk_create(reopened)
    for finding in Finding.objects.filter(pk__in=bulk_insert.known(website.pk, source.pk, widespread)):
        is_sampled = problems[finding.fingerprint].is_sampled
        _see_all_places(finding, places_of(finding.fingerprint), scan, is_sampled=is_sampled)
    return Counter(new=len(problems) - len(known), updated=len(known) - len(reopened), reopened=len(reopened))


def _new(
    website: Website, source: Source, key: str, problem: Problem, category: str
) -> tuple[NewFinding, list[NewOccurrence]]:
    """What is not known yet, with its places."""
    told = problem.told
    places = [_occurrence(digest, place, category) for digest, place in problem.places.items()]
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


def _occurrence(digest: str, place: Place, category: str) -> NewOccurrence:
    return NewOccurrence(
        location=place.location[:_LOCATION_LENGTH],
        location_digest=digest,
        evidence=place.evidence,
        first_seen=stored_moment(place.first_seen),
        last_seen=stored_moment(place.last_seen),
        category=category,
    )


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
            told = getattr(problem.told, name)
            setattr(finding, name, list(told) if isinstance(told, tuple) else told)
        _rate(finding, int(problem.told.severity))
    return is_back


def _rate(finding: Finding, severity: int) -> None:
    """As the engine does, unless an analyst rates it otherwise."""
    if finding.engine_severity is None:
        finding.severity = severity
    else:
        finding.engine_severity = severity


def _sighted(occurrence: Occurrence, place: Place, category: str) -> Sighting:
    """A known place, with what the newest report about it shows."""
    occurrence.first_seen = min(occurrence.first_seen, place.first_seen)
    news: dict[str, str] = {}
    if place.last_seen >= occurrence.last_seen:
        occurrence.last_seen = place.last_seen
        news = {"evidence": place.evidence, "category": category}
    if occurrence.gone_at is not None and place.last_seen > occurrence.gone_at:
        occurrence.gone_at = None
    return _as_sighting(occurrence, **news)


def _vanished(
    finding: Finding, problem: Problem, known: dict[str, Occurrence], scan: Scan
) -> Iterator[Sighting]:
    """Yield the known places of ``problem`` that are gone: ``scan`` looked there and does not list them."""
    for digest, place in known.items():
        if digest not in problem.places and place.gone_at is None and is_gone(finding.rule, place, scan):
            place.gone_at = scan.absent_at
            yield _as_sighting(place)


def _see_all_places(finding: Finding, places: Places, scan: Scan, *, is_sampled: bool) -> None:
    """The same for a widespread problem, a part of its places after the other."""
    known = Occurrence.objects.filter(finding=finding)
    if scan.absent_at is not None and not is_sampled:  # until the report lists them
        mark_gone(finding, scan)
    category = scan.scope.category
    told = iter(places)
    while part := dict(islice(told, _PLACES_OF_PART)):
        sighted = []
        for occurrence in known.filter(location_digest__in=part).defer("evidence"):
            if occurrence.gone_at == scan.absent_at:
                occurrence.gone_at = None
            sighted.append(_sighted(occurrence, part.pop(occurrence.location_digest), category))
        bulk_insert.see_places(sighted)
        bulk_insert.add_places(
            (finding.pk, _occurrence(digest, place, category)) for digest, place in part.items()
        )
    count_places(finding)


def _as_sighting(
    occurrence: Occurrence, *, evidence: str | None = None, category: str | None = None
) -> Sighting:
    return Sighting(
        first_seen=stored_moment(occurrence.first_seen),
        last_seen=stored_moment(occurrence.last_seen),
        gone_at=occurrence.gone_at and stored_moment(occurrence.gone_at),
        evidence=evidence,
        category=category,
        id=occurrence.pk,
    )


def _update(findings: Sequence[Finding]) -> None:
    """All that reports tell, in one statement; the database knows the rows by their key."""
    for finding in findings:
        finding.pk = None
    Finding.objects.bulk_create(
        findings,
        update_conflicts=True,
        unique_fields=_FINDING_KEY,
        update_fields=[*_FINDING_FIELDS, "last_seen"],
    )
