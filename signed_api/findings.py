"""Findings of a linked website: the dashboard, one finding, and changes."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Annotated, Any

from signed_api import limits
from signed_api.routes import Route
from signed_api.values import (
    CURSOR_PATTERN,
    KINDS,
    SEVERITIES,
    Count,
    Few,
    Many,
    Member,
    Moment,
    Number,
    Ok,
    PageField,
    PageSize,
    SeverityCounts,
    SiteRequest,
    Some,
    about,
    any_text,
    matching,
    one_of,
    required,
    several_of,
    several_texts,
    short_text,
    whole_number,
)

_FIX = "One line: that of the topic, or the first sentence of the remediation that gives advice."
_TOPIC = "The same for findings of several engines about one problem, such as tls-1-0-offered; null: none."
_VERIFIED = "Whether an analyst confirmed it: its kind is confirmed, whatever the scanner says."
_PROBLEM = "The id of its problem; the field problem of a dashboard request takes it."
_NEXT_DUE_ON = (
    "The day of the next run, in UTC; null: never ran, or run by a scan of ours in the last month and in "
    "no schedule."
)
_STALE = "Whether next_due_on has passed, for a scan of ours by more than a day."

OPEN, FIXED, ALL = "open", "fixed", "all"
STATUSES = (OPEN, FIXED, "false_positive", "accepted_risk", ALL)
WORST, LOCATIONS = "worst", "locations"
SORTS = (WORST, "newest", "oldest", LOCATIONS, "priority")
NEXT_IMPORT = "next_import"
PROBLEM = "problem"
_DAYS = whole_number(at_most=limits.MAX_SINCE_DAYS)


class DashboardRequest(SiteRequest, frozen=True, kw_only=True):
    """A request for the dashboard; the filters narrow its findings."""

    severity: Annotated[
        str,
        several_of(SEVERITIES),
        about(
            "Critical, High, Medium, Low, Info, or several with commas (Critical,High); case does not matter."
        ),
    ] = ""
    source: Annotated[
        str,
        several_texts(),
        about("A scanner by its slug, or several with commas (nuclei,zap). An unknown one is refused."),
    ] = ""
    kind: Annotated[
        str,
        several_of(KINDS),
        about(
            "A certainty: confirmed, suspected, informational, or several with commas; case does not matter."
        ),
    ] = ""
    query: Annotated[
        str,
        short_text(limits.MAX_QUERY_LENGTH, may_be_empty=True),
        about(
            "Words that must all occur in title, description, location, rule or CVE; the last one also as "
            "the beginning of a word. Case and accents do not matter."
        ),
    ] = ""
    page: PageField = 1
    page_size: PageSize = limits.DEFAULT_PAGE_SIZE
    status: Annotated[
        str, one_of(STATUSES), about("The default is open. An addition to the specification.")
    ] = OPEN
    group_by: Annotated[
        str,
        one_of([PROBLEM]),
        about(
            "problem: pages list the problems in dashboard.problems, and threats is empty. Not together "
            "with problem."
        ),
    ] = ""
    problem: Annotated[
        str,
        matching(
            f"[a-z0-9-]{{1,{limits.MAX_PROBLEM_ID_LENGTH}}}",
            "must be the id of a problem, exactly as answered",
        ),
        about(
            "Only the findings of this problem, by the id that dashboard.problems or dashboard.do_first "
            "answered."
        ),
    ] = ""
    sort: Annotated[
        str,
        one_of(SORTS),
        about(
            "The order of the list. The default is worst: the worst first; newest and oldest begin with "
            "what was stored last or first. priority is worst, with confirmed findings before suspected "
            "ones of the same severity. locations only with group_by: the problems with most locations."
        ),
    ] = WORST
    since: Annotated[
        int | None,
        _DAYS,
        about(
            "Only findings first seen in the last so many days of UTC, today included; counted as a search "
            "is."
        ),
    ] = None
    older_than: Annotated[
        int | None,
        _DAYS,
        about(
            "Only findings first seen before the last so many days of UTC, today included; together with "
            "since, between the two. The newest by first_seen come first, within a severity too. Counted "
            "as a search is; not together with query."
        ),
    ] = None
    fixed_since: Annotated[
        int | None,
        _DAYS,
        about(
            "Only findings fixed in the last so many days of UTC, today included, the last fixed first, "
            "within a severity too. Only with status fixed; counted as a search is; not together with "
            "query, since or older_than."
        ),
    ] = None
    hosts: Annotated[
        str,
        several_texts("hosts"),
        about(
            "Only findings whose location, the first of several, is on this host of the website, or on one "
            "of several with commas. Together with problem or group_by, counted as a search is."
        ),
    ] = ""


class FindingRequest(SiteRequest, frozen=True, kw_only=True):
    """A request for one finding."""

    finding_id: Annotated[
        str, required(any_text(minLength=1)), about("The id of a finding, exactly as in a response.")
    ]


class ChangesRequest(SiteRequest, frozen=True, kw_only=True):
    """A request for changes since a cursor, or in the last days."""

    since: Annotated[
        str,
        any_text("cursor", maxLength=limits.MAX_CURSOR_LENGTH, pattern=CURSOR_PATTERN),
        about(
            "The cursor of the last response; without it, only a new cursor is returned. In the first day "
            "after the website was linked, that one is before its first check, unless the website was "
            "checked before the link."
        ),
    ] = ""
    min_severity: Annotated[
        str, one_of(SEVERITIES), about("Only findings of this severity and worse. The default is all.")
    ] = SEVERITIES[-1]
    until: Annotated[
        str,
        one_of([NEXT_IMPORT]),
        about("Only the changes by the first import since the cursor; more: others follow."),
    ] = ""
    days: Annotated[
        int | None,
        whole_number(at_most=limits.MAX_CHANGES_DAYS),
        about("Instead of since: changes of this many days in UTC, today included."),
    ] = None


class FacetValue(Member, frozen=True, kw_only=True):
    """A value of a filter, and the number of findings with it under all other filters."""

    value: Annotated[str, about("The value, as a request sends it.")]
    label: Annotated[str, about("The value as people read it.")]
    count: Annotated[Count, about("How many findings have it.")]


class Facets(Member, frozen=True, kw_only=True):
    """Counts for each filter, without that filter itself.

    status is empty for a search, for a time, and for a problem on some hosts. A finding counts for the host
    of its first location; hosts has those with most findings, at most 50, and is empty for a problem alone.
    """

    severity: Some[FacetValue]
    source: Many[FacetValue]
    kind: Some[FacetValue]
    status: Some[FacetValue]
    hosts: Some[FacetValue]


class Filters(Member, frozen=True, kw_only=True):
    """The filters as understood, several values with commas; null means no filter."""

    severity: Annotated[str | None, about("Critical, High, Medium, Low or Info.")]
    source: Annotated[str | None, about("The scanner's short name.")]
    kind: Annotated[str | None, about("confirmed, suspected or informational.")]
    query: Annotated[str | None, about("The search words; null: none.")]
    problem: Annotated[str | None, about("The problem whose findings are listed; null: any.")]
    sort: Annotated[str, about("worst, newest, oldest, locations or priority. The order of the list.")]
    since: Annotated[Number | None, about("Only findings first seen in this many days; null: any.")]
    hosts: Annotated[
        str | None,
        about("Hosts of the website; null: any."),
    ]
    older_than: Annotated[Number | None, about("Only findings first seen before this many days; null: any.")]
    fixed_since: Annotated[Number | None, about("Only findings fixed in this many days; null: any.")]


class Problem(Member, frozen=True, kw_only=True):
    """All findings with one cause: of one topic, of one rule of an engine, or with one title without a rule.

    severity is the worst, worst_findings counts the findings with it. Title, rule and fix are those of the
    newest of them; a topic has its own title and fix. Where titles differ and
    the name of the rule is in words, title is that name. first_seen is that of the finding stored first,
    newest_first_seen of the one stored last.
    """

    id: Annotated[str, about("Stays the same; the field problem of a request takes it.")]
    title: Annotated[str, about("The title.")]
    severity: Annotated[str, about("Critical, High, Medium, Low or Info.")]
    sources: Annotated[Some[str], about("The short names of the scanners that report it.")]
    source_names: Annotated[Some[str], about("The scanners' names as people read them.")]
    rule: Annotated[str, about("The scanner's name for the check.")]
    findings: Annotated[Count, about("How many findings it has.")]
    worst_findings: Annotated[Count, about("How many of its findings have the worst severity.")]
    confirmed: Annotated[Count, about("How many of the findings are confirmed.")]
    locations: Annotated[Count, about("How many locations its findings of any kind have.")]
    hosts: Annotated[
        Some[str],
        about(f"Hosts of its newest findings: at most {limits.MAX_PROBLEM_HOSTS}, perhaps not all."),
    ]
    first_seen: Annotated[Moment, about("The first report of it.")]
    newest_first_seen: Annotated[Moment, about("When its newest finding was first seen.")]
    fix: Annotated[str, about(_FIX)]
    topic: Annotated[str | None, about("The id again, where it is a topic; else null.")]


class Page(Member, frozen=True, kw_only=True):
    """The request as understood, and the totals of the filtered findings.

    revision is the same as long as nothing about the website has changed: pages of one list share it.
    All counts are exact. Pages list all matches, as long as page times page_size is at most 10,000.
    grade is A to F, decided by the worst open finding. While no check of the website's pages has been
    completed it is null, or C, D or F where open findings are that bad; then grade_provisional is true. Those
    of dns, nmap, sslyze and testssl are no checks of pages.
    do_first has the worst open problems, at most 5: on the first page of a request without filters.
    With group_by, problems are those of the page, in their order, page_count counts their pages and
    problem_total all of them; else problems is empty, and problem_total is null.
    """

    generated_at: Annotated[Moment, about("When the response was made.")]
    grade: Annotated[str | None, about("A, B, C, D or F; see above for null.")]
    filters: Filters
    page: Annotated[int, about("From 1.", ge=1)]
    page_size: Annotated[int, about("From 1.", ge=1)]
    page_count: Annotated[Count, about("How many pages the list has.")]
    total: Annotated[Count, about("How many findings match.")]
    total_relation: Annotated[str, about("exact, or at_least when there are more than total.")]
    facets: Facets
    revision: Annotated[str, about("The same as long as nothing about the website changed.")]
    bounded_facets: Annotated[
        Few[str], about("severity, source, kind or hosts. Empty: all facets are exact.")
    ]
    grade_provisional: Annotated[bool, about("Whether the grade lacks a complete check of pages.")]
    do_first: Few[Problem]
    problems: Some[Problem]
    problem_total: Annotated[Count | None, about("How many problems match.")]
    problem_total_relation: Annotated[
        str | None, about("exact, or at_least when there are more than problem_total.")
    ]


class NextGrade(Member, frozen=True, kw_only=True):
    """The grade that the website gets once its worst open findings are fixed, and how many these are.

    Null for the best grade, and where a provisional one would become A or B.
    """

    grade: Annotated[str, about("A, B, C, D or F.")]
    fixes: Annotated[Count, about("How many findings must be fixed for it.")]


class HistoryDay(Member, frozen=True, kw_only=True):
    """Grade and number of open findings at the end of a day (UTC) on which findings changed.

    fixes is the number of findings that decided the grade, as in next_grade; 0 for the best grade.
    """

    day: Annotated[date, about("The day, in UTC.")]
    grade: Annotated[str, about("A, B, C, D or F.")]
    open: Annotated[Count, about("Open findings.")]
    fixes: Annotated[Count, about("How many findings must be fixed for it.")]


class Summary(Member, frozen=True, kw_only=True):
    """Totals of the whole website; filters do not change them.

    history covers 90 days, oldest first; a day without an entry is like the entry before it. It is empty as
    long as the grade is null.
    """

    open: Annotated[Count, about("Open findings.")]
    by_severity: SeverityCounts
    confirmed: Annotated[Count, about("Open findings that a check proved.")]
    new_7d: Annotated[Count, about("Findings first seen in the last 7 days.")]
    fixed_7d: Annotated[Count, about("Findings fixed in the last 7 days.")]
    oldest_open_days: Annotated[
        Count | None, about("Days since the oldest open finding was first seen; null: none is open.")
    ]
    last_scan_at: Annotated[
        Moment | None,
        about("When a check of the pages was last completed, or else any other one; null: never."),
    ]
    newest_open_days: Annotated[
        Count | None, about("Days since the newest open finding was first seen; null: none is open.")
    ]
    first_check_by: Annotated[
        date | None,
        about(
            "The day by which a first check is due, in UTC; null once a scanner has run, or where none is "
            "expected or scheduled."
        ),
    ]
    next_grade: NextGrade | None
    history: Some[HistoryDay]


class Threat(Member, frozen=True, kw_only=True):
    """A finding in the list; evidence is cut to 2 KB and texts to 4 KB."""

    id: Annotated[str, about("The id; as text, because it may become longer.")]
    severity: Annotated[str, about("Critical, High, Medium, Low or Info.")]
    source: Annotated[str, about("The scanner's short name.")]
    source_name: Annotated[str, about("The scanner's name as people read it.")]
    kind: Annotated[str, about("confirmed, suspected or informational.")]
    status: Annotated[str, about("open, fixed, accepted_risk or false_positive.")]
    title: Annotated[str, about("The title.")]
    description: Annotated[str, about("What the problem is.")]
    location: Annotated[str, about("Where it is: the worst of its locations.")]
    locations_count: Annotated[Count, about("At how many locations it is, or was when it was fixed.")]
    evidence: Annotated[str, about("What the scanner saw, as text.")]
    remediation: Annotated[str, about("How to fix it.")]
    references: Annotated[Some[str], about("Addresses to read on.")]
    cwe: Annotated[Some[Number], about("CWE numbers of the weakness, such as 89.")]
    cve: Annotated[Some[str], about("CVE numbers, such as CVE-2024-12345.")]
    rule: Annotated[str, about("The scanner's name for the check.")]
    first_seen: Annotated[Moment, about("The first report of it.")]
    last_seen: Annotated[Moment, about("The last report of it.")]
    evidence_truncated: Annotated[bool, about("Whether evidence was cut.")]
    problem: Annotated[str, about(_PROBLEM)]
    topic: Annotated[str | None, about(_TOPIC)]
    verified: Annotated[bool, about(_VERIFIED)]


class Series(Member, frozen=True, kw_only=True):
    """A series of a chart, with a value for each label."""

    name: Annotated[str, about("The name of the series.")]
    values: Annotated[Many[Count], about("The numbers, one for each label.")]


class Chart(Member, frozen=True, kw_only=True):
    """A chart as numbers; its id is severity, source, kind, trend, open or age.

    open and age count the open findings of the whole website; filters do not change them. open has the state
    at the end of each week, or of today, and begins with the first week that is known.
    """

    id: Annotated[str, about("The id; as text, because it may become longer.")]
    title: Annotated[str, about("The title.")]
    type: Annotated[str, about("bar, stacked or line.")]
    unit: Annotated[str, about("What the numbers count.")]
    labels: Annotated[Many[str], about("The labels of the values, in order.")]
    series: Few[Series]


class CoverageEntry(Member, frozen=True, kw_only=True):
    """The coverage by a source; state ``never`` means not checked, which does not mean clean."""

    source: Annotated[str, about("The scanner's short name.")]
    source_name: Annotated[str, about("The scanner's name as people read it.")]
    state: Annotated[str, about("ok, partial, failed or never.")]
    last_run_at: Annotated[Moment | None, about("When the scanner last ran; null: never.")]
    urls_checked: Annotated[Count | None, about("How many addresses the scanner checked; null: unknown.")]
    findings: Annotated[Count | None, about("How many open findings it has; null: it never ran.")]
    version: Annotated[str, about("The scanner's version.")]
    detail: Annotated[str, about("What went wrong or was left out in the last run.")]
    next_due_on: Annotated[date | None, about(_NEXT_DUE_ON)]
    stale: Annotated[bool, about(_STALE)]
    ours: Annotated[bool, about("Whether its newest report is of a scan that this service ran.")]


class Note(Member, frozen=True, kw_only=True):
    """A note of an analyst; ``body`` is Markdown."""

    id: Annotated[str, about("The id; as text, because it may become longer.")]
    finding_id: Annotated[str | None, about("The finding that the note is about; null: the website.")]
    author: Annotated[str, about("The analyst's name.")]
    body: Annotated[str, about("The text, as Markdown.")]
    created_at: Annotated[Moment, about("When it was written.")]
    updated_at: Annotated[Moment, about("When it was last changed.")]
    problem: Annotated[str | None, about("The id of the problem of its finding.")]
    pinned: Annotated[bool, about("Chosen by an analyst to be read first.")]


class LimitState(Member, frozen=True, kw_only=True):
    """A counted limit of the plan."""

    name: Annotated[str, about("Such as websites, calls_per_day or scans_per_month.")]
    limit: Annotated[Count, about("The limit.")]
    state: Annotated[str, about("ok, near or reached. near: from 80 percent; reached: from 100 percent.")]
    resets_at: Annotated[Moment | None, about("When the count starts again; null: it does not.")]


class Entitlement(Member, frozen=True, kw_only=True):
    """The account's plan; days_left counts from today to ends_on.

    usable_until is the last day on which calls are answered unless something changes: while a payment is
    overdue, seven days after it failed; for a plan that renews, three days after ends_on; else ends_on.
    """

    plan: Annotated[str, about("The name of the plan.")]
    status: Annotated[str, about("Of the plan: trialing, active, past_due, suspended or expired.")]
    starts_on: Annotated[date, about("The first day of the plan.")]
    ends_on: Annotated[date, about("The last day of the plan.")]
    days_left: Annotated[Count, about("Days from today to ends_on.")]
    sites_used: Annotated[Count, about("How many websites are linked.")]
    sites_limit: Annotated[Count, about("How many websites the plan allows.")]
    features: Annotated[Some[str], about("What the plan includes.")]
    usable_until: Annotated[date, about("The last day on which calls are answered.")]
    renews: Annotated[bool, about("Whether the plan renews by itself.")]
    limits: Annotated[Some[LimitState], about("The counted limits, a few minutes old.")]


class DashboardResponse(Member, frozen=True, kw_only=True):
    """The dashboard: nine members in the order of the specification, section 2."""

    ok: Ok
    host: Annotated[str, about("The website, as in the request.")]
    dashboard: Page
    summary: Summary
    threats: Some[Threat]
    charts: Few[Chart]
    coverage: Many[CoverageEntry]
    analyst_notes: Some[Note]
    entitlement: Entitlement


class Location(Member, frozen=True, kw_only=True):
    """A location of a finding, with its evidence, cut to 2 KB."""

    location: Annotated[str, about("Where it is: the worst of its locations.")]
    evidence: Annotated[str, about("What the scanner saw, as text.")]
    evidence_truncated: Annotated[bool, about("Whether evidence was cut.")]
    first_seen: Annotated[Moment, about("The first report of it.")]
    last_seen: Annotated[Moment, about("The last report of it.")]
    gone_at: Annotated[
        Moment | None, about("When a complete scan no longer found the problem here; else null.")
    ]


class Event(Member, frozen=True, kw_only=True):
    """An event in the timeline of a finding; later versions may add events and members."""

    at: Annotated[Moment, about("When it happened.")]
    event: Annotated[
        str,
        about(
            "first_seen, last_seen, fixed, regressed, false_positive, accepted_risk, reconsidered, "
            "decision_expired, rated, confirmed or unconfirmed"
        ),
    ]
    reason: Annotated[
        str,
        about(
            "The reason of an analyst's decision, or the further location at which a scan found a false "
            "positive (regressed); else empty."
        ),
    ] = ""


class FindingDetail(Threat, frozen=True, kw_only=True):
    """A finding with its locations and timeline; evidence of at most 64 KB, texts of at most 32 KB."""

    locations: Annotated[
        Many[Location],
        about(
            f"At most {limits.MAX_LOCATIONS}, where it still is before where it is gone; locations_count "
            "has all of the former. Of a fixed finding, all where it was: locations_count has those of "
            "when it was fixed."
        ),
    ]
    timeline: Annotated[Many[Event], about("Oldest first.")]
    decided_until: Annotated[
        date | None, about("The last day of an analyst's decision, such as an accepted risk; null: none.")
    ]


class FindingResponse(Member, frozen=True, kw_only=True):
    """A single finding, and its notes: pinned ones, then the others, newest first."""

    ok: Ok
    host: Annotated[str, about("The website, as in the request.")]
    finding: FindingDetail
    analyst_notes: Some[Note]
    can_retest: Annotated[bool, about("Whether a scan with its finding_id tests it: its scanner runs here.")]
    also_found_by: Annotated[
        Some[str], about("The names of other scanners with open findings of the same topic.")
    ]


class Change(Member, frozen=True, kw_only=True):
    """An open finding that is new, came back, or was a false positive and is at a further location now."""

    event: Annotated[
        str,
        about(
            "What happened: new, or regressed when a fixed finding came back, or when a false positive was "
            "found at a further location."
        ),
    ]
    at: Annotated[Moment, about("When it happened.")]
    id: Annotated[str, about("The id; as text, because it may become longer.")]
    severity: Annotated[str, about("Critical, High, Medium, Low or Info.")]
    title: Annotated[str, about("The title.")]
    location: Annotated[str, about("Where it is: the worst of its locations.")]
    problem: Annotated[str, about("The id of its problem.")]
    fix: Annotated[str, about(_FIX)]


class NoteChange(Member, frozen=True, kw_only=True):
    """A newly published note, without its text, which the dashboard and the finding have."""

    id: Annotated[str, about("The id; as text, because it may become longer.")]
    finding_id: Annotated[str | None, about("The finding that the note is about; null: the website.")]
    finding_title: Annotated[str | None, about("The title of that finding; null: the website.")]
    author: Annotated[str, about("The analyst's name.")]
    published_at: Annotated[Moment, about("When customers could first read it.")]


class ChangesResponse(Member, frozen=True, kw_only=True):
    """Changes, findings worst first and notes newest first, and the cursor for the next request."""

    ok: Ok
    host: Annotated[str, about("The website, as in the request.")]
    cursor: Annotated[str, about("Send it as since in the next request, so that no change is left out.")]
    findings: Annotated[Some[Change], about(f"At most {limits.MAX_CHANGES}; total counts the others, too.")]
    total: Annotated[Count, about("How many findings match.")]
    total_relation: Annotated[
        str,
        about(
            "exact or at_least. at_least: there may be more. Of each severity at least "
            f"{limits.MAX_COUNTED_CHANGES} are counted, and {limits.MAX_REGRESSIONS:,} that came back."
        ),
    ]
    by_severity: SeverityCounts
    analyst_notes: Annotated[Some[NoteChange], about(f"At most {limits.MAX_CHANGES}.")]
    more: Annotated[bool, about("Whether there are more changes: request them with the cursor immediately.")]
    first_seen_count: Annotated[
        Count | None, about("With days: findings first seen in them, open or not, as new_7d counts.")
    ]


# Fields of a dashboard that exclude each other.
_EXCLUSIVE = (
    ("group_by", "problem"),
    ("older_than", "query"),
    ("fixed_since", "query"),
    ("fixed_since", "since"),
    ("fixed_since", "older_than"),
)


def _between_filters(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for field, other in _EXCLUSIVE:
        if given.get(field) and given.get(other):
            yield field, f"must not be given with {other}"
    if given.get("sort") == LOCATIONS and not given.get("group_by"):
        yield "sort", f"must not be {LOCATIONS} without group_by"
    if given.get("fixed_since") and given.get("status") != FIXED:
        yield "fixed_since", "must not be given without status fixed"
    if given.get("since", limits.MAX_SINCE_DAYS + 1) <= given.get("older_than", 0):
        yield "older_than", "must be less than since"


def _between_changes(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "days" in given and given.keys() & {"since", "until"}:
        yield "days", "must not be given with since or until"


DASHBOARD = Route(
    path="/v1/site/dashboard",
    name="siteDashboard",
    summary="The threat dashboard of one linked website",
    description="Filters narrow the findings; an empty string or null means no filter. The body is "
    "compact JSON of at most 8192 bytes.",
    request=DashboardRequest,
    response=DashboardResponse,
    between_fields=_between_filters,
    advice_for_pages=": narrow the filters instead",
)
FINDING = Route(
    path="/v1/site/finding",
    name="siteFinding",
    summary="Everything about one finding of a linked website",
    description="An addition to the specification. The finding may have any status.",
    request=FindingRequest,
    response=FindingResponse,
    own_codes=("unknown_finding",),
)
CHANGES = Route(
    path="/v1/site/changes",
    name="siteChanges",
    summary="New findings, regressions and notes of a linked website",
    description="An addition to the specification: open findings that are new or came back, and notes "
    "published since. A request with the cursor of the last response gets every change exactly once.",
    request=ChangesRequest,
    response=ChangesResponse,
    between_fields=_between_changes,
    is_counted=False,
)
ROUTES: tuple[Route[Any, Any], ...] = (DASHBOARD, FINDING, CHANGES)
