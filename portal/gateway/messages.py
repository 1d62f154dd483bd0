"""What is asked of the service and what it answers, as the portal reads it.

The reader is tolerant: members it does not know are ignored, and members a smaller service leaves out
have defaults. What it cannot do without (the nine members of the specification, section 2) is required.
Every list has a limit, a multiple of what the contract promises, so that no answer makes a page slow.
"""

from datetime import UTC, date, datetime
from typing import Annotated, ClassVar, Literal, TypeVar

import msgspec

T = TypeVar("T")
Few = Annotated[list[T], msgspec.Meta(max_length=16)]
Some = Annotated[list[T], msgspec.Meta(max_length=200)]
Many = Annotated[list[T], msgspec.Meta(max_length=1_000)]
Number = Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]
Counts = Annotated[dict[str, Number], msgspec.Meta(max_length=16)]
Moment = Annotated[datetime, msgspec.Meta(tz=True)]


class Timed(msgspec.Struct, frozen=True, kw_only=True):
    """A message with times; one that has no date in UTC is refused."""

    def __post_init__(self) -> None:
        """Raise ValueError for such a time, so that the whole answer is refused."""
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, datetime):
                try:
                    value.astimezone(UTC)
                except OverflowError as error:
                    raise ValueError(f"{name} is a time beyond the calendar") from error


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """The filters and the page of one dashboard request; an empty filter is not sent."""

    path: ClassVar[str] = "/v1/site/dashboard"
    severity: str = ""
    source: str = ""
    kind: str = ""
    query: str = ""
    status: str = ""
    page: int = 1
    page_size: int = 20


class FindingQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A request for one finding."""

    path: ClassVar[str] = "/v1/site/finding"
    finding_id: str


class ChangesQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A request for what is worse than when ``since`` was answered; without it, for where to begin.

    ``until`` "next_import": only the changes of the first import since then. ``days``, in place of ``since``:
    the changes of the last so many days.
    """

    path: ClassVar[str] = "/v1/site/changes"
    since: str = ""
    min_severity: str = ""
    until: str = ""
    days: int | None = None


AnyQuestion = Question | FindingQuestion | ChangesQuestion


class FacetValue(msgspec.Struct, frozen=True):
    """One value of a filter and how many findings it would leave."""

    value: str
    label: str
    count: Number


class Facets(msgspec.Struct, frozen=True):
    """The counts beside the filters; statuses are not counted where words are searched."""

    severity: Some[FacetValue] = []
    source: Many[FacetValue] = []
    kind: Some[FacetValue] = []
    status: Some[FacetValue] = []


class Page(Timed, frozen=True, kw_only=True):
    """The ``dashboard`` member: the question as understood, its totals, and of which list they are."""

    generated_at: Moment
    grade: str | None = None
    page: Number = 1
    page_size: Number = 20
    page_count: Number = 0
    total: Number = 0
    total_relation: Literal["exact", "at_least"] = "exact"
    facets: Facets = msgspec.field(default_factory=Facets)
    revision: str = ""
    bounded_facets: Few[str] = []
    grade_provisional: bool = False


class Summary(Timed, frozen=True, kw_only=True):
    """The whole website, whatever the filters."""

    open: Number
    by_severity: Counts = {}
    confirmed: Number = 0
    new_7d: Number = 0
    fixed_7d: Number = 0
    oldest_open_days: Number | None = None
    last_scan_at: Moment | None = None
    newest_open_days: Number | None = None
    first_check_by: date | None = None


class Threat(Timed, frozen=True, kw_only=True):
    """One finding of the list."""

    id: str
    severity: str
    title: str
    source: str = ""
    source_name: str = ""
    kind: str = ""
    status: str = "open"
    description: str = ""
    location: str = ""
    locations_count: Number = 0
    evidence: str = ""
    evidence_truncated: bool = False
    remediation: str = ""
    references: Some[str] = []
    cwe: Some[Number] = []
    cve: Some[str] = []
    rule: str = ""
    first_seen: Moment | None = None
    last_seen: Moment | None = None


class Location(Timed, frozen=True, kw_only=True):
    """One place of a finding, and what it shows there."""

    location: str
    evidence: str = ""
    evidence_truncated: bool = False
    first_seen: Moment | None = None
    last_seen: Moment | None = None
    gone_at: Moment | None = None


class Event(Timed, frozen=True, kw_only=True):
    """A step in the life of a finding: first_seen, last_seen, fixed, or one that is not known yet."""

    at: Moment
    event: str
    reason: str = ""


class Finding(Threat, frozen=True, kw_only=True):
    """One finding by itself."""

    locations: Many[Location] = []
    timeline: Many[Event] = []


class Series(msgspec.Struct, frozen=True):
    """One row of numbers of a chart."""

    name: str
    values: Many[Number]


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers to draw; ``id`` is severity, source, kind or trend."""

    id: str
    title: str
    type: str
    labels: Many[str]
    series: Few[Series]
    unit: str = ""


class CoverageEntry(Timed, frozen=True, kw_only=True):
    """What one engine checked; ``never`` is not checked, which is not clean."""

    source: str
    source_name: str
    state: str
    last_run_at: Moment | None = None
    urls_checked: Number | None = None
    findings: Number | None = None
    version: str = ""
    detail: str = ""
    next_due_on: date | None = None
    stale: bool = False


class Note(Timed, frozen=True, kw_only=True):
    """An analyst's words, as Markdown text."""

    id: str
    author: str
    body: str
    created_at: Moment
    finding_id: str | None = None
    updated_at: Moment | None = None


class Entitlement(msgspec.Struct, frozen=True, kw_only=True):
    """The account's plan; ``usable_until`` is the last day of results unless something changes."""

    plan: str
    status: str
    starts_on: date | None = None
    ends_on: date | None = None
    days_left: Number | None = None
    sites_used: Number | None = None
    sites_limit: Number | None = None
    features: Some[str] = []
    usable_until: date | None = None
    renews: bool = False


class Dashboard(msgspec.Struct, frozen=True, kw_only=True):
    """The whole answer, in the specification's order of members."""

    ok: bool
    host: str
    dashboard: Page
    summary: Summary
    threats: Some[Threat]
    charts: Few[Chart]
    coverage: Many[CoverageEntry]
    analyst_notes: Some[Note]
    entitlement: Entitlement


class FindingAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One finding, and the notes about it."""

    ok: bool
    host: str
    finding: Finding
    analyst_notes: Some[Note]


class Change(Timed, frozen=True, kw_only=True):
    """A finding that is new, or that came back (``regressed``)."""

    id: str
    event: str
    severity: str
    title: str
    location: str = ""
    at: Moment | None = None


class NoteChange(Timed, frozen=True, kw_only=True):
    """A note that can be read now, without its words."""

    id: str
    author: str
    finding_id: str | None = None
    finding_title: str | None = None
    published_at: Moment | None = None


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """Changes, findings worst first; the next question uses ``cursor``, at once where there is ``more``.

    ``first_seen_count``: the findings first seen in the requested days, open or not.
    """

    ok: bool
    host: str
    cursor: str
    more: bool = False
    findings: Some[Change] = []
    total: Number = 0
    total_relation: Literal["exact", "at_least"] = "exact"
    by_severity: Counts = {}
    analyst_notes: Some[NoteChange] = []
    first_seen_count: Number | None = None
