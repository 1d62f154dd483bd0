"""Close what a complete scan no longer finds: places, then findings without a place left. Record 0035."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, islice
from operator import attrgetter
from typing import NamedTuple

from django.db.models import Max, Q, QuerySet

from dashboard_api import limits
from dashboard_api.importing.scopes import Scan
from dashboard_api.importing.staging import SortedRows
from dashboard_api.models import Finding, FindingEvent, Occurrence, Source, Website

_BATCH = 1_000


class _Place(NamedTuple):
    """The fields of an occurrence that decide whether it is gone."""

    pk: int
    finding_id: int
    location: str
    category: str
    last_seen: datetime
    gone_at: datetime | None


@dataclass(slots=True)
class _Places:
    """The places of a finding, counted by what ``scan`` proves about them."""

    gone: int = 0
    there: int = 0
    last_gone_at: datetime | None = None  # of places that are gone since an earlier scan


def is_gone(rule: str, place: Occurrence | _Place, scan: Scan) -> bool:
    """Whether ``scan``, which does not list ``place``, proves that it is gone."""
    return scan.proves_absence(
        rule=rule, location=place.location, category=place.category, last_seen=place.last_seen
    )


def mark_gone(finding: Finding, scan: Scan) -> None:
    """Mark the places of ``finding`` that ``scan``, which lists none of them, proves to be gone."""
    places = Occurrence.objects.filter(finding=finding, gone_at=None, last_seen__lt=scan.absent_at)
    gone = (place.pk for place in _each(places) if is_gone(finding.rule, place, scan))
    while part := list(islice(gone, _BATCH)):
        Occurrence.objects.filter(pk__in=part).update(gone_at=scan.absent_at)


def count_places(finding: Finding) -> None:
    """Update the summary of places that is stored with ``finding``."""
    there = Occurrence.objects.filter(finding=finding, gone_at=None)
    others = there.order_by("pk").values_list("location", flat=True)[: limits.MAX_OTHER_LOCATIONS + 1]
    finding.keep_other_locations(others)
    Finding.objects.filter(pk=finding.pk).update(
        locations_count=there.count(), other_locations=finding.other_locations
    )


def close_absent(reported: SortedRows, website: Website, source: Source, scan: Scan) -> int:
    """Close the open findings, not ``reported``, that ``scan`` proves to be gone; return how many."""
    open_findings = Finding.objects.filter(website=website, source=source, status=Finding.Status.OPEN)
    seen_before = Q(last_seen__lt=scan.absent_at) | Q(locations_count__gt=1)
    candidates = open_findings.filter(seen_before).order_by().values_list("pk", "fingerprint").iterator()
    absent = [key for key, fingerprint in candidates if fingerprint not in reported]
    batches = (absent[start : start + _BATCH] for start in range(0, len(absent), _BATCH))
    return sum(_close(batch, website, scan) for batch in batches)


def _close(keys: Sequence[int], website: Website, scan: Scan) -> int:
    findings = Finding.objects.filter(pk__in=keys).only("pk", "rule", "location", "last_seen").in_bulk()
    fixed: dict[datetime, list[int]] = defaultdict(list)
    partly: list[int] = []
    for key, places in _places_of(findings, scan):
        if not places.there:
            fixed[max(filter(None, [scan.absent_at, places.last_gone_at]))].append(key)
        elif places.gone:
            partly.append(key)
    for at, fixed_keys in fixed.items():
        _fix(fixed_keys, website, at)
    for finding in Finding.objects.filter(pk__in=partly):
        _lose_places(finding, scan)
    return sum(map(len, fixed.values()))


def _places_of(findings: dict[int, Finding], scan: Scan) -> Iterator[tuple[int, _Places]]:
    """Yield the counted places of each finding; one without occurrences has its own location."""
    occurrences = Occurrence.objects.filter(finding__in=list(findings)).order_by("finding", "pk")
    fixes = FindingEvent.objects.filter(finding__in=list(findings), event=FindingEvent.Event.FIXED)
    fixed_at = dict(fixes.values_list("finding").annotate(Max("at")).order_by())
    without = set(findings)
    for key, places in groupby(_each(occurrences), key=attrgetter("finding_id")):
        without.discard(key)
        yield key, _proven(findings[key].rule, places, scan, fixed_at=fixed_at.get(key))
    for key in without:
        finding = findings[key]
        itself = _Place(0, key, finding.location, "", finding.last_seen, None)
        yield key, _proven(finding.rule, [itself], scan, fixed_at=None)


def _proven(rule: str, places: Iterable[_Place], scan: Scan, *, fixed_at: datetime | None) -> _Places:
    """Count ``places`` of one finding by what ``scan`` proves; ``fixed_at``: when it was last fixed, if ever.

    A fixed finding keeps its places. A place that was not seen since counts as gone since the fix.
    """
    proven = _Places()
    for place in places:
        was_fixed = fixed_at is not None and place.last_seen < fixed_at
        if gone_at := place.gone_at or (fixed_at if was_fixed else None):
            proven.last_gone_at = max(proven.last_gone_at or gone_at, gone_at)
        elif is_gone(rule, place, scan):
            proven.gone += 1
        else:
            proven.there += 1
    return proven


def _each(places: QuerySet[Occurrence]) -> Iterator[_Place]:
    """Yield the deciding fields of each place, reading the rows in batches."""
    return map(_Place._make, places.values_list(*_Place._fields).iterator(chunk_size=_BATCH))


def _fix(keys: Sequence[int], website: Website, at: datetime) -> None:
    Finding.objects.filter(pk__in=keys).update(status=Finding.Status.FIXED, fixed_at=at)
    FindingEvent.objects.bulk_create(
        FindingEvent(finding_id=key, website_id=website.pk, event=FindingEvent.Event.FIXED, at=at)
        for key in keys
    )


def _lose_places(finding: Finding, scan: Scan) -> None:
    """Keep ``finding`` open at the places that remain, and show one of them as its location."""
    mark_gone(finding, scan)
    there = Occurrence.objects.filter(finding=finding, gone_at=None).order_by("pk")
    if not there.filter(location=finding.location).exists() and (first := there.first()):
        finding.location, finding.evidence = first.location, first.evidence
        finding.save(update_fields=["location", "evidence"])
    count_places(finding)
