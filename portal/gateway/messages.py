"""What is asked of the service and what it answers, as the portal reads it.

The reader is tolerant: members it does not know are ignored, and members a smaller service leaves out
have defaults. What it cannot do without (the nine members of the specification, section 2) is required.
"""

from datetime import date, datetime
from typing import Annotated, ClassVar, Literal

import msgspec

Moment = Annotated[datetime, msgspec.Meta(tz=True)]


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

    With ``until`` "next_import", for what the first import since then changed.
    """

    path: ClassVar[str] = "/v1/site/changes"
    since: str = ""
    min_severity: str = ""
    until: str = ""


AnyQuestion = Question | FindingQuestion | ChangesQuestion


class FacetValue(msgspec.Struct, frozen=True):
    """One value of a filter and how many findings it would leave."""

    value: str
    label: str
    count: int


class Facets(msgspec.Struct, frozen=True):
    """The counts beside the filters; statuses are not counted where words are searched."""

    severity: list[FacetValue] = []
    source: list[FacetValue] = []
    kind: list[FacetValue] = []
    status: list[FacetValue] = []


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """The ``dashboard`` member: the question as understood, its totals, and of which list they are."""

    generated_at: Moment
    grade: str | None = None
    page: int = 1
    page_size: int = 20
    page_count: int = 0
    total: int = 0
    total_relation: Literal["exact", "at_least"] = "exact"
    facets: Facets = msgspec.field(default_factory=Facets)
    revision: str = ""
    bounded_facets: list[str] = []


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The whole website, whatever the filters."""

    open: int
    by_severity: dict[str, int] = {}
    confirmed: int = 0
    new_7d: int = 0
    fixed_7d: int = 0
    oldest_open_days: int | None = None
    last_scan_at: Moment | None = None
    newest_open_days: int | None = None


class Threat(msgspec.Struct, frozen=True, kw_only=True):
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
    locations_count: int = 0
    evidence: str = ""
    evidence_truncated: bool = False
    remediation: str = ""
    references: list[str] = []
    cwe: list[int] = []
    cve: list[str] = []
    rule: str = ""
    first_seen: Moment | None = None
    last_seen: Moment | None = None


class Location(msgspec.Struct, frozen=True, kw_only=True):
    """One place of a finding, and what it shows there."""

    location: str
    evidence: str = ""
    evidence_truncated: bool = False
    first_seen: Moment | None = None
    last_seen: Moment | None = None
    gone_at: Moment | None = None


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """A step in the life of a finding: first_seen, last_seen, fixed, or one that is not known yet."""

    at: Moment
    event: str
    reason: str = ""


class Finding(Threat, frozen=True, kw_only=True):
    """One finding by itself."""

    locations: list[Location] = []
    timeline: list[Event] = []


class Series(msgspec.Struct, frozen=True):
    """One row of numbers of a chart."""

    name: str
    values: list[int]


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers to draw; ``id`` is severity, source, kind or trend."""

    id: str
    title: str
    type: str
    labels: list[str]
    series: list[Series]
    unit: str = ""


class CoverageEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What one engine checked; ``never`` is not checked, which is not clean."""

    source: str
    source_name: str
    state: str
    last_run_at: Moment | None = None
    urls_checked: int | None = None
    findings: int | None = None
    version: str = ""
    detail: str = ""
    next_due_on: date | None = None
    stale: bool = False


class Note(msgspec.Struct, frozen=True, kw_only=True):
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
    days_left: int | None = None
    sites_used: int | None = None
    sites_limit: int | None = None
    features: list[str] = []
    usable_until: date | None = None
    renews: bool = False


class Dashboard(msgspec.Struct, frozen=True, kw_only=True):
    """The whole answer, in the specification's order of members."""

    ok: bool
    host: str
    dashboard: Page
    summary: Summary
    threats: list[Threat]
    charts: list[Chart]
    coverage: list[CoverageEntry]
    analyst_notes: list[Note]
    entitlement: Entitlement


class FindingAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One finding, and the notes about it."""

    ok: bool
    host: str
    finding: Finding
    analyst_notes: list[Note]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A finding that is new, or that came back (``regressed``)."""

    id: str
    event: str
    severity: str
    title: str
    location: str = ""
    at: Moment | None = None


class NoteChange(msgspec.Struct, frozen=True, kw_only=True):
    """A note that can be read now, without its words."""

    id: str
    author: str
    finding_id: str | None = None
    finding_title: str | None = None
    published_at: Moment | None = None


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """What changed, findings worst first; ``cursor`` is for asking on, now where there is ``more``."""

    ok: bool
    host: str
    cursor: str
    more: bool = False
    findings: list[Change] = []
    total: int = 0
    total_relation: Literal["exact", "at_least"] = "exact"
    by_severity: dict[str, int] = {}
    analyst_notes: list[NoteChange] = []
