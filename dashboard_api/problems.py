"""A report's rows as problems of one website, with their places: the bookkeeping before the database."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from dashboard_api.locations import Elsewhere, place_on
from dashboard_api.policy import MAX_STORED_EVIDENCE_BYTES
from dashboard_api.scanners.report import Check, Reject, ReportedFinding, WholeReport
from dashboard_api.scanners.text import within_bytes


@dataclass(slots=True, kw_only=True)
class Place:
    """Where a problem was seen, and what each row about it showed."""

    location: str
    first_seen: datetime
    last_seen: datetime
    shown: list[str]

    @property
    def evidence(self) -> str:
        """What the rows showed, without repetition."""
        if not any(self.shown):
            return ""
        return within_bytes("\n\n".join(filter(None, dict.fromkeys(self.shown))), MAX_STORED_EVIDENCE_BYTES)


@dataclass(slots=True, kw_only=True)
class Problem:
    """What the report told first about a problem, and its places by the digests of their locations."""

    told: ReportedFinding
    places: dict[str, Place] = field(default_factory=dict)

    @property
    def first_place(self) -> Place:
        """The place that stands beside the finding."""
        return next(iter(self.places.values()))

    @property
    def first_seen(self) -> datetime:
        """When this scan saw it first, anywhere."""
        return min(place.first_seen for place in self.places.values())

    @property
    def last_seen(self) -> datetime:
        """When this scan saw it last, anywhere."""
        return max(place.last_seen for place in self.places.values())

    def add(self, location: str, *, seen_at: datetime, evidence: str) -> None:
        """One more row: another place, or more about one that is known."""
        digest = hashlib.sha256(location.encode()).hexdigest()
        place = self.places.setdefault(
            digest, Place(location=location, first_seen=seen_at, last_seen=seen_at, shown=[])
        )
        place.first_seen = min(place.first_seen, seen_at)
        place.last_seen = max(place.last_seen, seen_at)
        place.shown.append(evidence)


@dataclass(slots=True, kw_only=True)
class SortedRows:
    """Every row of a report in one of four piles; the problems by their fingerprints."""

    problems: dict[str, Problem] = field(default_factory=dict)
    occurrences: int = 0  # rows about a problem that an earlier row told of
    coverage: list[Check] = field(default_factory=list)
    rejected: list[Reject] = field(default_factory=list)
    urls: set[str] = field(default_factory=set)


def sort_rows(
    report: WholeReport, site: str, *, base_url: str | None, seen_at: Callable[[datetime | None], datetime]
) -> SortedRows:
    """Sort ``report`` for the website ``site``: rows about places elsewhere are rejected.

    ``seen_at`` turns the time that a row tells, if any, into the one that counts.
    """
    rows = SortedRows(rejected=list(report.rejects))
    told: list[ReportedFinding | Check] = [*report.findings, *report.coverage]
    for row in told:
        try:
            location = place_on(site, row.location, base_url=base_url)
        except Elsewhere as error:
            rows.rejected.append(Reject(row=row.row, reason=str(error)))
            continue
        rows.urls.add(location)
        if isinstance(row, Check):
            rows.coverage.append(row)
            continue
        key = fingerprint(report.source, row.identity)
        rows.occurrences += key in rows.problems
        problem = rows.problems.setdefault(key, Problem(told=row))
        problem.add(location, seen_at=seen_at(row.seen_at), evidence=row.evidence)
        if row.first_seen_at is not None:
            problem.add(location, seen_at=seen_at(row.first_seen_at), evidence="")
    rows.rejected.sort(key=lambda reject: reject.row)
    return rows


def fingerprint(source: str, identity: tuple[str, ...]) -> str:
    """What recognises the same problem of a website in the source's next report."""
    return hashlib.sha256("|".join((source, *identity)).encode()).hexdigest()
