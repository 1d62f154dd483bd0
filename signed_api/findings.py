"""Routes about the findings of a linked website: the dashboard, one finding, and changes."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Annotated, Any

from msgspec import Meta

from signed_api import limits
from signed_api.answers import ANSWERS, DUE, UNANSWERED, Answer, AnswerSummary, FixTime, Message
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
    NumericId,
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

_FIX = "The fix in one line: from the topic, or the first advice in the remediation."
_TOPIC = (
    "The topic, such as tls-1-0-offered: several scanners report the same problem under it; null: no topic."
)
_VERIFIED = "Whether an analyst confirmed it; then its kind is confirmed, whatever the scanner says."
_PROBLEM = "The id of its problem; send it as problem in a dashboard request."
_NEXT_DUE_ON = (
    "The day of the next run, in UTC; null: no run is planned, and it never ran or this service ran it in "
    "the last month."
)
_STALE = "Whether next_due_on has passed; for scans by this service, by more than a day."

OPEN, FIXED, ALL = "open", "fixed", "all"
STATUSES = (OPEN, FIXED, "false_positive", "accepted_risk", ALL)
WORST, LOCATIONS = "worst", "locations"
SORTS = (WORST, "newest", "oldest", LOCATIONS, "priority")
NEXT_IMPORT = "next_import"
PROBLEM = "problem"
_DAYS = whole_number(at_most=limits.MAX_SINCE_DAYS)


class DashboardRequest(SiteRequest, frozen=True, kw_only=True):
    """A request for the dashboard; filters narrow its findings."""

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
        about(
            "A scanner by its short name, or several with commas (nuclei,zap). Unknown scanners are refused."
        ),
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
            "Words that must all occur in title, description, location, rule or CVE. The last word also "
            "matches the beginning of a word. Case and accents do not matter."
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
            "problem: pages list problems in dashboard.problems, and threats is empty. Cannot be combined "
            "with problem."
        ),
    ] = ""
    problem: Annotated[
        str,
        matching(
            f"[a-z0-9-]{{1,{limits.MAX_PROBLEM_ID_LENGTH}}}",
            "must be the id of a problem, exactly as answered",
        ),
        about("Only the findings of this problem: an id from dashboard.problems or dashboard.do_first."),
    ] = ""
    sort: Annotated[
        str,
        one_of(SORTS),
        about(
            "The order of the list. The default is worst: the worst first. newest and oldest sort by when a "
            "finding was stored. priority is like worst, but confirmed findings come before suspected ones "
            "of the same severity. locations needs group_by: problems with most locations come first."
        ),
    ] = WORST
    since: Annotated[
        int | None,
        _DAYS,
        about("Only findings first seen in the last N days (UTC), including today."),
    ] = None
    older_than: Annotated[
        int | None,
        _DAYS,
        about(
            "Only findings first seen before the last N days (UTC), including today; since can set the start "
            "of the period. The list is sorted by first_seen instead of by when a finding was stored. Cannot "
            "be combined with query."
        ),
    ] = None
    fixed_since: Annotated[
        int | None,
        _DAYS,
        about(
            "Only findings fixed in the last N days (UTC), including today. The list is sorted by the time "
            "of the fix instead of by when a finding was stored. Needs status fixed. Cannot be combined with "
            "query, since or older_than."
        ),
    ] = None
    hosts: Annotated[
        str,
        several_texts("hosts"),
        about(
            "Only findings with their first location on this host of the website, or on one of several hosts "
            "with commas."
        ),
    ] = ""
    answer: Annotated[
        str,
        several_of((UNANSWERED, *ANSWERS)),
        about(
            "Only findings with this open answer of your account: none, will_fix, accepted, waiting, "
            "disputed, fixed, or several with commas. Leave accepted out to hide accepted risks."
        ),
    ] = ""
    assignee: Annotated[
        str,
        several_texts(),
        about("Only findings that this person will fix: a reference, none, or several with commas."),
    ] = ""
    due: Annotated[
        str,
        several_of(DUE),
        about(
            "Only open findings that are due then: overdue, this_week (today and the next 6 days), later, "
            "none (no day), or several with commas. Days are in the time zone of the account's rules."
        ),
    ] = ""


class FindingRequest(SiteRequest, frozen=True, kw_only=True):
    """A request for one finding."""

    finding_id: Annotated[
        str, required(any_text(minLength=1)), about("The id of a finding, exactly as in a response.")
    ]


class ChangesRequest(SiteRequest, frozen=True, kw_only=True):
    """A request for the changes since a cursor, or of the last days."""

    since: Annotated[
        str,
        any_text("cursor", maxLength=limits.MAX_CURSOR_LENGTH, pattern=CURSOR_PATTERN),
        about(
            "The cursor of the last response. Without it, the response has only a new cursor. On the first "
            "day after linking, that cursor is before the website's first check, unless the website was "
            "checked before it was linked."
        ),
    ] = ""
    min_severity: Annotated[
        str, one_of(SEVERITIES), about("Only findings of this severity or worse. The default is all.")
    ] = SEVERITIES[-1]
    until: Annotated[
        str,
        one_of([NEXT_IMPORT]),
        about("Only the changes of the first import since the cursor; more tells whether others follow."),
    ] = ""
    days: Annotated[
        int | None,
        whole_number(at_most=limits.MAX_CHANGES_DAYS),
        about("Instead of since: the changes of the last N days (UTC), including today."),
    ] = None


class FacetValue(Member, frozen=True, kw_only=True):
    """A value of a filter, with the number of findings that have it under all other filters."""

    value: Annotated[str, about("The value, as a request sends it.")]
    label: Annotated[str, about("The value as people read it.")]
    count: Annotated[Count, about("How many findings have it.")]


class Facets(Member, frozen=True, kw_only=True):
    """The values of each filter with their counts; each filter ignores itself.

    A finding counts for the host of its first location. hosts lists the 50 hosts with most findings, and
    the hosts of the request.
    """

    severity: Some[FacetValue]
    source: Many[FacetValue]
    kind: Some[FacetValue]
    status: Some[FacetValue]
    hosts: Some[FacetValue]
    answer: Some[FacetValue] = []
    assignee: Annotated[
        Some[FacetValue],
        about(f"The {limits.MAX_ASSIGNEES} people with most findings, none, and those of the request."),
    ] = []
    due: Some[FacetValue] = []


class Filters(Member, frozen=True, kw_only=True):
    """The filters as the service understood them, several values with commas; null means no filter."""

    severity: Annotated[str | None, about("Critical, High, Medium, Low or Info.")]
    source: Annotated[str | None, about("The scanner's short name.")]
    kind: Annotated[str | None, about("confirmed, suspected or informational.")]
    query: Annotated[str | None, about("The search words; null: no search.")]
    problem: Annotated[str | None, about("Only findings of this problem; null: any.")]
    sort: Annotated[str, about("worst, newest, oldest, locations or priority. The order of the list.")]
    since: Annotated[Number | None, about("Only findings first seen in this many days; null: any.")]
    hosts: Annotated[
        str | None,
        about("Hosts of the website; null: any."),
    ]
    older_than: Annotated[Number | None, about("Only findings first seen before this many days; null: any.")]
    fixed_since: Annotated[Number | None, about("Only findings fixed in this many days; null: any.")]
    answer: Annotated[str | None, about("Open answers of the account; null: any.")] = None
    assignee: Annotated[str | None, about("Who will fix it; null: anyone.")] = None
    due: Annotated[str | None, about("When it is due; null: any day.")] = None


class Problem(Member, frozen=True, kw_only=True):
    """All findings with one cause: one topic, one rule of a scanner, or one title if there is no rule.

    severity is the worst severity of its findings, and worst_findings counts the findings with it. Title,
    rule and fix come from a finding with it: from the newest confirmed one, or else the newest. A topic has
    its own title and fix. If titles differ and the name of the rule is in words, title is that name.
    """

    id: Annotated[str, about("Never changes; send it as problem in a request.")]
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
    first_seen: Annotated[Moment, about("When the first of its findings was first seen.")]
    newest_first_seen: Annotated[Moment, about("When the last of its findings was first seen.")]
    fix: Annotated[str, about(_FIX)]
    topic: Annotated[str | None, about("The id, if the problem is a topic; else null.")]
    answers: Annotated[
        dict[str, Count],
        Meta(
            max_length=16,
            description="How many of its open findings have an open answer of the account, by answer.",
        ),
    ] = {}


class Page(Member, frozen=True, kw_only=True):
    """The request as the service understood it, and the totals of the filtered findings.

    revision changes whenever the website's data changes, so pages with equal revisions belong to one list.
    All counts are exact. Pages list all matches, as long as page times page_size is at most 10,000.
    The worst open finding decides the grade, A to F. Until a check of the website's pages has been completed,
    grade is null unless open findings already prove C, D or F; then grade_provisional is true. Checks by dns,
    nmap, sslyze and testssl do not read pages.
    do_first has the worst open problems, at most 5, but only on the first page of a request without filters.
    With group_by, problems has one page of problems, page_count counts such pages, and problem_total counts
    all problems. Without group_by, problems is empty and problem_total is null.
    """

    generated_at: Annotated[Moment, about("When the response was made.")]
    grade: Annotated[str | None, about("A, B, C, D or F; see above for null.")]
    filters: Filters
    page: Annotated[int, about("From 1.", ge=1)]
    page_size: Annotated[int, about("From 1.", ge=1)]
    page_count: Annotated[Count, about("How many pages the list has.")]
    total: Annotated[Count, about("How many findings match.")]
    facets: Facets
    revision: Annotated[str, about("Changes whenever the website's data changes.")]
    grade_provisional: Annotated[bool, about("Whether a complete check of pages is still missing.")]
    do_first: Few[Problem]
    problems: Some[Problem]
    problem_total: Annotated[Count | None, about("How many problems match.")]


class NextGrade(Member, frozen=True, kw_only=True):
    """The grade that the website gets once its worst open findings are fixed.

    Null for the best grade, and if a provisional grade would become A or B.
    """

    grade: Annotated[str, about("A, B, C, D or F.")]
    fixes: Annotated[Count, about("How many findings must be fixed for it.")]


class HistoryDay(Member, frozen=True, kw_only=True):
    """Grade and number of open findings at the end of a day (UTC) on which findings changed.

    fixes counts the findings that decided the grade, as in next_grade; 0 for the best grade.
    """

    day: Annotated[date, about("The day, in UTC.")]
    grade: Annotated[str, about("A, B, C, D or F.")]
    open: Annotated[Count, about("Open findings.")]
    fixes: Annotated[Count, about("How many findings must be fixed for it.")]


class Summary(Member, frozen=True, kw_only=True):
    """Totals of the whole website; filters do not change them.

    history covers 90 days, oldest first. A day without an entry has the values of the entry before. While the
    grade is null, history is empty.
    """

    open: Annotated[Count, about("Open findings.")]
    by_severity: SeverityCounts
    confirmed: Annotated[Count, about("Open findings that a check proved.")]
    new_7d: Annotated[Count, about("Findings first seen in the last 7 days.")]
    fixed_7d: Annotated[Count, about("Findings fixed in the last 7 days.")]
    oldest_open_days: Annotated[
        Count | None, about("Days since the oldest open finding was first seen; null: no open findings.")
    ]
    last_scan_at: Annotated[
        Moment | None,
        about("When a check of the pages was last completed, or else any other check; null: never."),
    ]
    newest_open_days: Annotated[
        Count | None, about("Days since the newest open finding was first seen; null: no open findings.")
    ]
    first_check_by: Annotated[
        date | None,
        about(
            "The day by which the first check is due, in UTC; null if a scanner has run, or no scanner is "
            "expected or scheduled."
        ),
    ]
    next_grade: NextGrade | None
    history: Some[HistoryDay]
    answers: Annotated[
        dict[str, Count],
        Meta(
            max_length=16, description="Open findings by open answer of the account; always has all and none."
        ),
    ] = {}
    overdue: Annotated[
        Count, about("Open findings that should be fixed by now; accepted ones never are.")
    ] = 0
    due_this_week: Annotated[Count, about("Open findings to fix today or in the next 6 days.")] = 0
    fix_times: Annotated[
        Few[FixTime],
        about("How long fixes took, by severity; only severities with fixes in the last 90 days."),
    ] = []


class Threat(Member, frozen=True, kw_only=True):
    """A finding in the list; evidence is cut to 2 KB, texts to 4 KB."""

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
    answer: Annotated[AnswerSummary | None, about("The open answer of the account; null: none.")] = None
    due: Annotated[
        date | None,
        about("The day by which to fix it: of the answer, or by the account's rules; null: no day."),
    ] = None


class Series(Member, frozen=True, kw_only=True):
    """A series of a chart, with a value for each label."""

    name: Annotated[str, about("The name of the series.")]
    values: Annotated[Many[Count], about("The numbers, one for each label.")]


class Chart(Member, frozen=True, kw_only=True):
    """A chart as numbers; its id is severity, source, kind, trend, open or age.

    open and age count the open findings of the whole website; filters do not change them. open has the state
    at the end of each week, and today's state for this week. It begins with the first week that is known.
    """

    id: Annotated[str, about("severity, source, kind, trend, open or age.")]
    title: Annotated[str, about("The title.")]
    type: Annotated[str, about("bar, stacked or line.")]
    unit: Annotated[str, about("What the numbers count.")]
    labels: Annotated[Many[str], about("The labels of the values, in order.")]
    series: Few[Series]


class CoverageEntry(Member, frozen=True, kw_only=True):
    """The coverage by one scanner; the state ``never`` means not checked, which does not mean clean."""

    source: Annotated[str, about("The scanner's short name.")]
    source_name: Annotated[str, about("The scanner's name as people read it.")]
    state: Annotated[str, about("ok, partial, failed or never.")]
    last_run_at: Annotated[Moment | None, about("When the scanner last ran; null: never.")]
    urls_checked: Annotated[Count | None, about("How many addresses the scanner checked; null: unknown.")]
    findings: Annotated[Count | None, about("How many open findings it has; null: unknown, it never ran.")]
    version: Annotated[str, about("The scanner's version.")]
    detail: Annotated[str, about("What went wrong or was left out in the last run.")]
    next_due_on: Annotated[date | None, about(_NEXT_DUE_ON)]
    stale: Annotated[bool, about(_STALE)]
    ours: Annotated[bool, about("Whether its newest report comes from a scan by this service.")]


class Note(Member, frozen=True, kw_only=True):
    """A note of an analyst; ``body`` is Markdown."""

    id: Annotated[str, about("The id; as text, because it may become longer.")]
    finding_id: Annotated[str | None, about("The finding that the note is about; null: the website.")]
    author: Annotated[str, about("The analyst's name.")]
    body: Annotated[str, about("The text, as Markdown.")]
    created_at: Annotated[Moment, about("When it was written.")]
    updated_at: Annotated[Moment, about("When it was last changed.")]
    problem: Annotated[str | None, about("The id of its finding's problem.")]
    pinned: Annotated[bool, about("Whether an analyst pinned it, to be read first.")]


class LimitState(Member, frozen=True, kw_only=True):
    """A counted limit of the plan."""

    name: Annotated[str, about("Such as websites, calls_per_day or scans_per_month.")]
    limit: Annotated[Count, about("The limit.")]
    state: Annotated[str, about("ok, near or reached. near: from 80 percent; reached: from 100 percent.")]
    resets_at: Annotated[Moment | None, about("When the count starts again; null: it does not.")]


class Entitlement(Member, frozen=True, kw_only=True):
    """The account's plan.

    usable_until includes a grace period: seven days after a failed payment, while it is overdue; three days
    after ends_on for a plan that renews. Otherwise it is ends_on.
    """

    plan: Annotated[str, about("The name of the plan.")]
    status: Annotated[str, about("The plan's status: trialing, active, past_due, suspended or expired.")]
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

    location: Annotated[str, about("The location.")]
    evidence: Annotated[str, about("What the scanner saw, as text.")]
    evidence_truncated: Annotated[bool, about("Whether evidence was cut.")]
    first_seen: Annotated[Moment, about("The first report of the finding here.")]
    last_seen: Annotated[Moment, about("The last report of the finding here.")]
    gone_at: Annotated[
        Moment | None, about("When a complete scan no longer found it here; null: it is still here.")
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
            "The reason for an analyst's decision; for regressed, the new location of a false positive; else "
            "empty."
        ),
    ] = ""


class FindingDetail(Threat, frozen=True, kw_only=True):
    """A finding with its locations and timeline; evidence of at most 64 KB, texts of at most 32 KB."""

    locations: Annotated[
        Many[Location],
        about(
            f"At most {limits.MAX_LOCATIONS}: first the present locations, then the gone ones. "
            "locations_count counts only the present ones; for a fixed finding, the ones present when it was "
            "fixed."
        ),
    ]
    timeline: Annotated[Many[Event], about("Oldest first.")]
    decided_until: Annotated[
        date | None,
        about("The last day of an analyst's decision, such as an accepted risk; null: no last day."),
    ]


class FindingResponse(Member, frozen=True, kw_only=True):
    """One finding with its notes: pinned notes first, then newest first."""

    ok: Ok
    host: Annotated[str, about("The website, as in the request.")]
    finding: FindingDetail
    analyst_notes: Some[Note]
    can_retest: Annotated[bool, about("Whether this service can retest it: send a scan with its finding_id.")]
    also_found_by: Annotated[
        Some[str], about("The names of other scanners with open findings of the same topic.")
    ]
    answer: Annotated[Answer | None, about("The open answer of the account; null: none.")] = None
    past_answers: Annotated[
        Few[Answer], about(f"Answers that ended, the latest {limits.MAX_PAST_ANSWERS}, newest first.")
    ] = []
    messages: Annotated[
        Some[Message],
        about(
            "Messages of the account's members and of analysts about the finding, or about a dispute that "
            f"it is part of: the latest {limits.MAX_MESSAGES}, oldest first."
        ),
    ] = []
    may_dispute: Annotated[
        bool, about("Whether it can be disputed now: it is open and was not disputed twice.")
    ] = False


class Change(Member, frozen=True, kw_only=True):
    """An open finding that is new or came back."""

    event: Annotated[
        str,
        about(
            "new, or regressed: a fixed finding came back, or a false positive was found at a new location."
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
    """A newly published note without its text; request the dashboard or the finding to read it."""

    id: Annotated[str, about("The id; as text, because it may become longer.")]
    finding_id: Annotated[str | None, about("The finding that the note is about; null: the website.")]
    finding_title: Annotated[
        str | None, about("The title of that finding; null: the note is about the website.")
    ]
    author: Annotated[str, about("The analyst's name.")]
    published_at: Annotated[Moment, about("When customers could first read it.")]


class MessageChange(Message, frozen=True, kw_only=True):
    """A message of an analyst, or what happened to an answer; an analyst's text is cut to 500 characters."""

    finding_id: Annotated[NumericId, about("The finding; the first one of a dispute.")]
    finding_title: Annotated[str, about("Its title.")]
    findings: Annotated[Count, about("How many findings of the website it is about.")] = 1


class ChangesResponse(Member, frozen=True, kw_only=True):
    """The changes and the cursor for the next request; the worst findings and newest notes come first."""

    ok: Ok
    host: Annotated[str, about("The website, as in the request.")]
    cursor: Annotated[str, about("Send it as since in the next request, so that you miss no change.")]
    findings: Annotated[Some[Change], about(f"At most {limits.MAX_CHANGES}; total counts all.")]
    total: Annotated[Count, about("How many findings are new or came back.")]
    total_relation: Annotated[
        str,
        about(
            "exact or at_least. at_least: there may be more. Of each severity at least "
            f"{limits.MAX_COUNTED_CHANGES} are counted, and {limits.MAX_REGRESSIONS:,} that came back."
        ),
    ]
    by_severity: SeverityCounts
    analyst_notes: Annotated[Some[NoteChange], about(f"At most {limits.MAX_CHANGES}.")]
    more: Annotated[bool, about("Whether more changes wait: request them at once with the cursor.")]
    first_seen_count: Annotated[
        Count | None, about("With days: findings first seen in these days, open or not, as in new_7d.")
    ]
    messages: Annotated[
        Some[MessageChange],
        about(
            f"Messages of analysts and what happened to answers, oldest first: at most {limits.MAX_CHANGES}. "
            "Answers by members of the account are not changes."
        ),
    ] = []


# Fields of a dashboard request that exclude each other
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
    since = given.get("since", limits.MAX_SINCE_DAYS + 1)  # by default, longer than any older_than
    if since <= given.get("older_than", 0):
        yield "older_than", "must be less than since"


def _between_changes(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "days" in given and given.keys() & {"since", "until"}:
        yield "days", "must not be given with since or until"


# Fields of a dashboard request that choose findings; calls about many findings take them as filters.
FILTERS = (
    *("severity", "source", "kind", "query", "problem", "since", "older_than", "hosts"),
    *("answer", "assignee", "due"),
)

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
    description="An addition to the specification: returns open findings that are new or came back, and new "
    "notes. If each request sends the cursor of the last response, you get every change exactly once.",
    request=ChangesRequest,
    response=ChangesResponse,
    between_fields=_between_changes,
    is_counted=False,
)
ROUTES: tuple[Route[Any, Any], ...] = (DASHBOARD, FINDING, CHANGES)
