"""Response bodies of the signed API, with members in the order of the specification."""

from datetime import date, datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from dashboard_api import limits

Moment = Annotated[datetime, Meta(tz=True, description="RFC 3339, UTC")]
Count = Annotated[int, Meta(ge=0)]
Letter = Literal["A", "B", "C", "D", "F"]
PlanStatus = Annotated[
    Literal["trialing", "active", "past_due", "suspended", "expired"], Meta(description="Of the plan.")
]


class Filters(msgspec.Struct, frozen=True, kw_only=True):
    """The filters as understood, several values with commas; null means no filter."""

    severity: str | None
    source: str | None
    kind: str | None
    query: str | None
    problem: str | None
    sort: Literal["worst", "newest", "oldest", "locations", "priority"]
    since: int | None
    hosts: str | None
    older_than: int | None
    fixed_since: int | None


class FacetValue(msgspec.Struct, frozen=True, kw_only=True):
    """A value of a filter, and the number of findings with it under all other filters."""

    value: str
    label: str
    count: Count


class Facets(msgspec.Struct, frozen=True, kw_only=True):
    """Counts for each filter, without that filter itself.

    status is empty for a search, for a time, and for a problem on some hosts. A finding counts for the host
    of its first location; hosts has those with most findings, at most 50, and is empty for a problem alone.
    """

    severity: list[FacetValue]
    source: list[FacetValue]
    kind: list[FacetValue]
    status: list[FacetValue]
    hosts: list[FacetValue]


_FIX = "One line: that of the topic, or the first sentence of the remediation that gives advice."


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """All findings with one cause: of one topic, of one rule of an engine, or with one title without a rule.

    severity is the worst, worst_findings counts the findings with it. Title, rule and fix are those of the
    newest of them; a topic has its own title and fix. Where titles differ and
    the name of the rule is in words, title is that name. first_seen is that of the finding stored first,
    newest_first_seen of the one stored last.
    """

    id: Annotated[str, Meta(description="Stays the same; the field problem of a request takes it.")]
    title: str
    severity: str
    sources: list[str]
    source_names: list[str]
    rule: str
    findings: Count
    worst_findings: Count
    confirmed: Annotated[Count, Meta(description="How many of the findings are confirmed.")]
    locations: Annotated[Count, Meta(description="How many locations its findings of any kind have.")]
    hosts: Annotated[
        list[str],
        Meta(
            description=f"Hosts of its newest findings: at most {limits.MAX_PROBLEM_HOSTS}, perhaps not all."
        ),
    ]
    first_seen: Moment
    newest_first_seen: Moment
    fix: Annotated[str, Meta(description=_FIX)]
    topic: Annotated[str | None, Meta(description="The id again, where it is a topic; else null.")]


class Page(msgspec.Struct, frozen=True, kw_only=True):
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

    generated_at: Moment
    grade: Letter | None
    filters: Filters
    page: Annotated[int, Meta(ge=1)]
    page_size: Annotated[int, Meta(ge=1)]
    page_count: Count
    total: Count
    total_relation: Literal["exact", "at_least"]
    facets: Facets
    revision: str
    bounded_facets: list[Literal["severity", "source", "kind", "hosts"]]
    grade_provisional: bool
    do_first: list[Problem]
    problems: list[Problem]
    problem_total: Count | None
    problem_total_relation: Literal["exact", "at_least"] | None


class HealthResponse(msgspec.Struct, frozen=True, kw_only=True):
    """Whether calls are answered now. Compare your clock with server_time before you sign."""

    ok: Annotated[bool, Meta(description="Calls are answered.")]
    status: Annotated[
        Literal["ok", "degraded"],
        Meta(description="degraded: calls may fail, or results are older than usual."),
    ]
    server_time: Annotated[int, Meta(description="Whole Unix seconds.")]
    window_seconds: Annotated[
        int, Meta(description="How far the timestamp of a signed call may be from server_time.")
    ]
    retry_after: Annotated[
        int | None, Meta(description="Seconds until the next attempt; null while calls are answered.")
    ]


class SeverityCounts(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """Open findings by severity, worst first."""

    critical: Count
    high: Count
    medium: Count
    low: Count
    info: Count


class NextGrade(msgspec.Struct, frozen=True, kw_only=True):
    """The grade that the website gets once its worst open findings are fixed, and how many these are.

    Null for the best grade, and where a provisional one would become A or B.
    """

    grade: Letter
    fixes: Count


class HistoryDay(msgspec.Struct, frozen=True, kw_only=True):
    """Grade and number of open findings at the end of a day (UTC) on which findings changed.

    fixes is the number of findings that decided the grade, as in next_grade; 0 for the best grade.
    """

    day: date
    grade: Letter
    open: Count
    fixes: Count


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Totals of the whole website; filters do not change them.

    history covers 90 days, oldest first; a day without an entry is like the entry before it. It is empty as
    long as the grade is null.
    """

    open: Count
    by_severity: SeverityCounts
    confirmed: Count
    new_7d: Count
    fixed_7d: Count
    oldest_open_days: Count | None
    last_scan_at: Moment | None
    newest_open_days: Count | None
    first_check_by: Annotated[
        date | None,
        Meta(
            description="The day by which a first check is due, in UTC; null once a scanner has run, or "
            "where none is expected or scheduled."
        ),
    ]
    next_grade: NextGrade | None
    history: list[HistoryDay]


class _Finding(msgspec.Struct, frozen=True, kw_only=True):
    """The members that a finding has everywhere, before those that were added later."""

    id: str
    severity: str
    source: str
    source_name: str
    kind: str
    status: str
    title: str
    description: str
    location: str
    locations_count: Count
    evidence: str
    remediation: str
    references: list[str]
    cwe: list[int]
    cve: list[str]
    rule: str
    first_seen: Moment
    last_seen: Moment
    evidence_truncated: bool


_TOPIC = "The same for findings of several engines about one problem, such as tls-1-0-offered; null: none."
_REOPENED = "Fixed findings that came back, and false positives found at further locations."
_VERIFIED = "Whether an analyst confirmed it: its kind is confirmed, whatever the scanner says."
_PROBLEM = "The id of its problem; the field problem of a dashboard request takes it."


class Threat(_Finding, frozen=True, kw_only=True):
    """A finding in the list; evidence is cut to 2 KB and texts to 4 KB."""

    problem: Annotated[str, Meta(description=_PROBLEM)]
    topic: Annotated[str | None, Meta(description=_TOPIC)]
    verified: Annotated[bool, Meta(description=_VERIFIED)]


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """A series of a chart, with a value for each label."""

    name: str
    values: list[Count]


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """A chart as numbers; its id is severity, source, kind, trend, open or age.

    open and age count the open findings of the whole website; filters do not change them. open has the state
    at the end of each week, or of today, and begins with the first week that is known.
    """

    id: str
    title: str
    type: Literal["bar", "stacked", "line"]
    unit: str
    labels: list[str]
    series: list[Series]


_NEXT_DUE_ON = (
    "The day of the next run, in UTC; null: never ran, or run by a scan of ours in the last month and in no "
    "schedule."
)
_STALE = "Whether next_due_on has passed, for a scan of ours by more than a day."


class CoverageEntry(msgspec.Struct, frozen=True, kw_only=True):
    """The coverage by a source; state ``never`` means not checked, which does not mean clean."""

    source: str
    source_name: str
    state: Literal["ok", "partial", "failed", "never"]
    last_run_at: Moment | None
    urls_checked: Count | None
    findings: Count | None
    version: str
    detail: str
    next_due_on: Annotated[date | None, Meta(description=_NEXT_DUE_ON)]
    stale: Annotated[bool, Meta(description=_STALE)]
    ours: Annotated[bool, Meta(description="Whether its newest report is of a scan that this service ran.")]


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """A note of an analyst; ``body`` is Markdown."""

    id: str
    finding_id: str | None
    author: str
    body: str
    created_at: Moment
    updated_at: Moment
    problem: Annotated[str | None, Meta(description="The id of the problem of its finding.")]
    pinned: Annotated[bool, Meta(description="Chosen by an analyst to be read first.")]


class LimitState(msgspec.Struct, frozen=True, kw_only=True):
    """A counted limit of the plan."""

    name: Annotated[str, Meta(description="Such as websites, calls_per_day or scans_per_month.")]
    limit: Annotated[Count, Meta(description="The limit.")]
    state: Annotated[
        Literal["ok", "near", "reached"],
        Meta(description="near: from 80 percent; reached: from 100 percent."),
    ]
    resets_at: Moment | None


class Entitlement(msgspec.Struct, frozen=True, kw_only=True):
    """The account's plan; days_left counts from today to ends_on.

    usable_until is the last day on which calls are answered unless something changes: while a payment is
    overdue, seven days after it failed; for a plan that renews, three days after ends_on; else ends_on.
    """

    plan: str
    status: PlanStatus
    starts_on: date
    ends_on: date
    days_left: Count
    sites_used: Count
    sites_limit: Count
    features: list[str]
    usable_until: date
    renews: bool
    limits: Annotated[list[LimitState], Meta(description="The counted limits, a few minutes old.")]


class DashboardResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The dashboard: nine members in the order of the specification, section 2."""

    ok: Literal[True]
    host: str
    dashboard: Page
    summary: Summary
    threats: list[Threat]
    charts: list[Chart]
    coverage: list[CoverageEntry]
    analyst_notes: list[Note]
    entitlement: Entitlement


class Location(msgspec.Struct, frozen=True, kw_only=True):
    """A location of a finding, with its evidence, cut to 2 KB."""

    location: str
    evidence: str
    evidence_truncated: bool
    first_seen: Moment
    last_seen: Moment
    gone_at: Annotated[
        Moment | None, Meta(description="When a complete scan no longer found the problem here; else null.")
    ]


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """An event in the timeline of a finding; later versions may add events and members."""

    at: Moment
    event: Annotated[
        str,
        Meta(
            description="first_seen, last_seen, fixed, regressed, false_positive, accepted_risk, "
            "reconsidered, decision_expired, rated, confirmed or unconfirmed"
        ),
    ]
    reason: Annotated[
        str,
        Meta(
            description="The reason of an analyst's decision, or the further location at which a scan found "
            "a false positive (regressed); else empty."
        ),
    ] = ""


class FindingDetail(_Finding, frozen=True, kw_only=True):
    """A finding with its locations and timeline; evidence of at most 64 KB, texts of at most 32 KB."""

    locations: Annotated[
        list[Location],
        Meta(
            description=f"At most {limits.MAX_LOCATIONS}, where it still is before where it is gone; "
            "locations_count has all of the former. Of a fixed finding, all where it was: locations_count "
            "has those of when it was fixed."
        ),
    ]
    timeline: Annotated[list[Event], Meta(description="Oldest first.")]
    problem: Annotated[str, Meta(description=_PROBLEM)]
    topic: Annotated[str | None, Meta(description=_TOPIC)]
    verified: Annotated[bool, Meta(description=_VERIFIED)]
    decided_until: Annotated[
        date | None,
        Meta(description="The last day of an analyst's decision, such as an accepted risk; null: none."),
    ]


class FindingResponse(msgspec.Struct, frozen=True, kw_only=True):
    """A single finding, and its notes: pinned ones, then the others, newest first."""

    ok: Literal[True]
    host: str
    finding: FindingDetail
    analyst_notes: list[Note]
    can_retest: Annotated[
        bool, Meta(description="Whether a scan with its finding_id tests it: its scanner runs here.")
    ]
    also_found_by: Annotated[
        list[str], Meta(description="The names of other scanners with open findings of the same topic.")
    ]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """An open finding that is new, came back, or was a false positive and is at a further location now."""

    event: Literal["new", "regressed"]
    at: Moment
    id: str
    severity: str
    title: str
    location: str
    problem: Annotated[str, Meta(description="The id of its problem.")]
    fix: Annotated[str, Meta(description=_FIX)]


class NoteChange(msgspec.Struct, frozen=True, kw_only=True):
    """A newly published note, without its text, which the dashboard and the finding have."""

    id: str
    finding_id: str | None
    finding_title: str | None
    author: str
    published_at: Moment


class ChangesResponse(msgspec.Struct, frozen=True, kw_only=True):
    """Changes, findings worst first and notes newest first, and the cursor for the next request."""

    ok: Literal[True]
    host: str
    cursor: str
    findings: Annotated[
        list[Change], Meta(description=f"At most {limits.MAX_CHANGES}; total counts the others, too.")
    ]
    total: Count
    total_relation: Annotated[
        Literal["exact", "at_least"],
        Meta(
            description="at_least: there may be more. Of each severity at least "
            f"{limits.MAX_COUNTED_CHANGES} are counted, and {limits.MAX_REGRESSIONS:,} that came back."
        ),
    ]
    by_severity: SeverityCounts
    analyst_notes: Annotated[list[NoteChange], Meta(description=f"At most {limits.MAX_CHANGES}.")]
    more: Annotated[
        bool, Meta(description="Whether there are more changes: request them with the cursor immediately.")
    ]
    first_seen_count: Annotated[
        Count | None,
        Meta(description="With days: findings first seen in them, open or not, as new_7d counts."),
    ]


class SignedCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call on record; host is the website of its link, and null if it named no link of the account."""

    at: Annotated[datetime, Meta(tz=True, description="When it was received, in UTC.")]
    route: Annotated[str, Meta(description="The path without /v1/, such as site/dashboard.")]
    host: Annotated[str | None, Meta(description="The website; null: none of the account.")]
    secret_id: Annotated[str, Meta(description="The number of the secret that signed it.")]
    secret_hint: Annotated[str, Meta(description="How that secret begins; empty if it was deleted.")]
    status: Annotated[int, Meta(description="The status of the response.")]
    code: Annotated[str | None, Meta(description="The code of the error; null if it was answered.")]
    request_id: Annotated[str, Meta(description="X-Request-Id of the response.")]
    address: Annotated[str, Meta(description="The IP address of the caller.")]


class CallsResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of the account, the newest first."""

    ok: Literal[True]
    calls: list[SignedCall]
    before: Annotated[
        str | None, Meta(description="Send it as before to get older calls; null: there are none.")
    ]


class AccountEntitlement(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of the account, in every state."""

    plan: str
    names: Annotated[dict[str, str], Meta(description="The name by language; empty for a plan of your own.")]
    revision: Annotated[int | None, Meta(description="Its version; null for a plan of your own.")]
    status: PlanStatus
    starts_on: date
    ends_on: date
    usable_until: date
    renews: bool
    cancels: Annotated[bool, Meta(description="You have cancelled: the plan ends on its last day.")]
    past_due_since: Annotated[
        date | None, Meta(description="The day a payment failed; null: none is missing.")
    ]
    is_usable: Annotated[bool, Meta(description="Whether calls about websites are answered today.")]
    may_grow: Annotated[bool, Meta(description="Whether websites can be added today.")]
    features: list[str]


class LimitUse(msgspec.Struct, frozen=True, kw_only=True):
    """A limit of the plan, and how much of it is used."""

    name: Annotated[
        Literal["websites", "calls_per_day", "scans_per_month", "seats"], Meta(description="What is limited.")
    ]
    unit: Annotated[Literal["websites", "calls", "scans", "members"], Meta(description="What is counted.")]
    limit: Annotated[Count | None, Meta(description="The limit; null: none.")]
    used: Annotated[Count | None, Meta(description="How much is used; null: it is not counted here.")]
    state: Annotated[
        Literal["ok", "near", "reached"],
        Meta(description="near: from 80 percent; reached: from 100 percent."),
    ]
    resets_at: Moment | None
    is_override: Annotated[bool, Meta(description="Whether the limit was agreed for this account alone.")]


class DayOfCalls(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of a day that count against the plan."""

    day: Annotated[date, Meta(description="The day, in UTC.")]
    calls: Count


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """Something to tell the owners once."""

    id: Annotated[str, Meta(description="Its id: tell each once.")]
    kind: Annotated[
        Literal[
            "limit_near",
            "limit_reached",
            "trial_ends",
            "plan_ends",
            "past_due",
            "suspended",
            "expired",
            "websites_over",
        ],
        Meta(description="What it is about."),
    ]
    limit: Annotated[str, Meta(description="The limit; empty: it is about the plan.")]
    days: Annotated[int | None, Meta(description="Days until the end, or since the payment failed.")]
    at: Annotated[datetime, Meta(tz=True, description="Since when it holds.")]


class OfferedPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A plan that can be chosen."""

    slug: Annotated[str, Meta(description="Its name in programs.")]
    revision: Annotated[int, Meta(description="Its newest version; accounts can have an earlier one.")]
    names: Annotated[dict[str, str], Meta(description="The name by language.")]
    prices: Annotated[dict[str, str], Meta(description="The price by language, in words.")]
    limits: Annotated[dict[str, int | None], Meta(description="Each limit; null: none.")]
    features: list[str]
    trial_days: Annotated[Count, Meta(description="How long a trial lasts; 0: there is none.")]


class EntitlementEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A change of the entitlement: the values that changed, before and after it."""

    at: Annotated[datetime, Meta(tz=True, description="When it changed.")]
    before: Annotated[dict[str, Any] | None, Meta(description="The former values; null: it was made.")]
    after: Annotated[dict[str, Any], Meta(description="The new values.")]


class EntitlementResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The entitlement of the account with its limits, usage, notices and history."""

    ok: Literal[True]
    entitlement: Annotated[AccountEntitlement | None, Meta(description="The plan; null: there is none.")]
    limits: list[LimitUse]
    calls_by_day: Annotated[list[DayOfCalls], Meta(description="The last 31 days, oldest first.")]
    notices: Annotated[list[Notice], Meta(description="Those of the last 31 days, newest first.")]
    plans: Annotated[list[OfferedPlan], Meta(description="Plans to choose from, smallest first.")]
    history: Annotated[list[EntitlementEvent], Meta(description="At most 20, newest first.")]
    billing_ref: Annotated[
        str | None, Meta(description="Your reference for payments, for a checkout; null: none yet.")
    ]


class WebsiteVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A linked website, and a text that changes whenever its data changes."""

    host: str
    link_id: Annotated[str, Meta(description="The link of the account to it.")]
    version: Annotated[str, Meta(description="Equal as long as nothing about the website changed.")]


class AccountWebsite(msgspec.Struct, frozen=True, kw_only=True):
    """A linked website, and whether it stays in the plan."""

    host: str
    link_id: Annotated[str, Meta(description="The link of the account to it.")]
    stays: Annotated[bool, Meta(description="Whether the plan includes it: as chosen, else the oldest.")]
    is_paused: Annotated[bool, Meta(description="Whether its calls are refused for websites_limit now.")]


class WebsitesResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The linked websites of the account, and which of them stay in its plan."""

    ok: Literal[True]
    limit: Annotated[Count | None, Meta(description="Websites that the plan includes; null: no plan.")]
    pauses_at: Annotated[
        Moment | None,
        Meta(description="When those that do not stay are paused; null: the plan includes all."),
    ]
    websites: Annotated[list[AccountWebsite], Meta(description="By host.")]


class AccountChangesResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The linked websites of the account, each with its version."""

    ok: Literal[True]
    websites: Annotated[list[WebsiteVersion], Meta(description="By host.")]


class ProofFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file to publish on the website."""

    url: str
    content: Annotated[str, Meta(description="One line of the file; other lines may follow.")]


class ProofRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A TXT record to publish in DNS. It also proves the names below the host."""

    name: str
    relative_name: Annotated[str, Meta(description="The name for panels that add the domain themselves.")]
    value: str


class ProofInstructions(msgspec.Struct, frozen=True, kw_only=True):
    """Places for the token; one of them is enough."""

    dns: Annotated[ProofRecord | None, Meta(description="null: the host is no name in DNS.")]
    file: ProofFile
    meta: Annotated[str, Meta(description="A tag for the head of the home page.")]


class ClaimCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The last look in one place."""

    method: Annotated[str, Meta(description="dns, file or meta.")]
    at: Moment
    outcome: Annotated[
        str, Meta(description="found, or why not, such as not_found, other_content or timed_out.")
    ]
    asked: Annotated[list[str], Meta(description="The addresses that were asked.")]
    expected: str
    found: Annotated[list[str], Meta(description="What was there instead: at most 5 texts.")]
    advice: Annotated[str, Meta(description="What to do; empty if it was found.")]


class OtherClaim(msgspec.Struct, frozen=True, kw_only=True):
    """Another account's contested claim to a website of this account: its token can be looked for."""

    claim_id: str
    method: Annotated[str, Meta(description="The place of its proof: dns, file or meta.")]
    token: Annotated[str, Meta(description="Look for it, and delete it if you do not know it.")]
    since: Annotated[Moment, Meta(description="When the claim became contested.")]


class PausedSchedule(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule of scans that paused itself: it stays so until it is set again."""

    reason: Annotated[str, Meta(description="Why the last scan had no result, such as blocked.")]
    set_at: Annotated[Moment, Meta(description="When the schedule was set; it pauses once at most.")]


class DifferentPage(msgspec.Struct, frozen=True, kw_only=True):
    """A home page that looks different from the one that scans know."""

    job_id: Annotated[str, Meta(description="The newest scan that met it.")]
    since: Annotated[Moment, Meta(description="When a scan met one first.")]


class WebsiteClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A claim of the account to a website: the token to publish, and what the checks found."""

    claim_id: str
    host: str
    state: Annotated[str, Meta(description="pending, contested, verified, failing or ended.")]
    method: Annotated[str | None, Meta(description="The place of the proof: file, meta, dns or manual.")]
    strength: Annotated[str | None, Meta(description="https, http, dns or manual.")]
    token: Annotated[str, Meta(description="Public: for this account and host only.")]
    instructions: ProofInstructions
    checks: list[ClaimCheck]
    created_at: Moment
    next_check_at: Annotated[Moment | None, Meta(description="The next check by itself; null: none.")]
    check_allowed_at: Annotated[Moment, Meta(description="From when a check by hand is possible.")]
    expires_at: Annotated[Moment | None, Meta(description="The end of a claim that waits for its proof.")]
    verified_at: Moment | None
    lapses_at: Annotated[
        Moment | None,
        Meta(description="When the link ends unless the proof is back; null while a later check cannot ask."),
    ]
    ended_at: Annotated[Moment | None, Meta(description="When the claim ended.")]
    ended_reason: Annotated[
        str | None,
        Meta(
            description="withdrawn, expired (no proof for 30 days), refused (by the operator), lapsed (the "
            "proof was missing for 14 days) or taken_over (by an account that has proven the website)."
        ),
    ]
    link_id: Annotated[str | None, Meta(description="The link to the website, once it is verified.")]
    link_problem: Annotated[
        str | None, Meta(description="Why a verified website is not linked: no_room, archived or other.")
    ]
    others: Annotated[
        list[OtherClaim], Meta(description="Contested claims of others, if this account holds the website.")
    ]
    paused_schedule: Annotated[
        PausedSchedule | None, Meta(description="The schedule of scans, if it paused itself.")
    ]
    different_page: Annotated[
        DifferentPage | None,
        Meta(description="Where scans do not count, because the page looks different; null: they do."),
    ]


class ClaimResponse(msgspec.Struct, frozen=True, kw_only=True):
    """A claim."""

    ok: Literal[True]
    claim: WebsiteClaim


class ClaimsResponse(msgspec.Struct, frozen=True, kw_only=True):
    """Claims of the account, by host."""

    ok: Literal[True]
    claims: list[WebsiteClaim]
    total: Annotated[Count, Meta(description="The claims on all pages.")]


class AccountSecret(msgspec.Struct, frozen=True, kw_only=True):
    """A secret of the account that works now."""

    id: str
    hint: Annotated[str, Meta(description="The beginning, to tell secrets apart.")]
    state: Annotated[Literal["active", "retiring"], Meta(description="retiring: it works until retires_at.")]
    is_test: Annotated[bool, Meta(description="Its calls get the example website.")]
    for_portal: Annotated[bool, Meta(description="Only the portal has it, or it signs this call.")]
    created_at: Moment
    retires_at: Annotated[Moment | None, Meta(description="When a retiring secret ends.")]
    last_used_at: Annotated[Moment | None, Meta(description="To the minute; null: never.")]


class SecretsResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The secrets of the account that work now, the newest first, and the issued one in clear, once."""

    ok: Literal[True]
    secrets: list[AccountSecret]
    secret: Annotated[str | None, Meta(description="The issued secret, which is not shown again.")]


class WebsitePublicity(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a website that may be published."""

    host: str
    publicity: Annotated[str, Meta(description="as_account, counted, named or nothing.")]
    effective: Annotated[str, Meta(description="What holds: that of the account, or a stricter one.")]
    region: Annotated[str, Meta(description="A country, a continent of UN M49, or 001.")]


class PublicityResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The part of the account's websites that may be published."""

    ok: Literal[True]
    publicity: Annotated[str, Meta(description="Of the account: counted, named or nothing.")]
    websites: list[WebsitePublicity]
    total: Annotated[Count, Meta(description="The websites on all pages.")]


class ScanRun(msgspec.Struct, frozen=True, kw_only=True):
    """A scanner of a scan, in the order in which they run."""

    engine: Annotated[str, Meta(description="The scanner's short name.")]
    state: Annotated[
        str, Meta(description="waiting, running, ok, blocked, failed, timed_out, cancelled or skipped.")
    ]
    reason: Annotated[str | None, Meta(description="Why it failed or was skipped, as reason of the scan.")]
    started_at: Annotated[Moment | None, Meta(description="When it began.")]
    ended_at: Annotated[Moment | None, Meta(description="When it ended.")]
    usual_seconds: Annotated[
        Count | None,
        Meta(description="What it usually takes: the median of its last 10 runs; null: unknown."),
    ]


class HomePage(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about the home page of the website."""

    title: str
    links: Annotated[Count, Meta(description="Pages of the website that it links.")]
    script_hosts: Annotated[list[str], Meta(description="Where its scripts are from; at most 20.")]
    cookies: Annotated[list[str], Meta(description="Names of the cookies that it sets; at most 20.")]
    bytes_below: Annotated[
        Count, Meta(description="A power of two: what was read of it, at most 256 KB, has fewer bytes.")
    ]


class PageChange(msgspec.Struct, frozen=True, kw_only=True):
    """The home page that a scan met, and the one that it knew."""

    known: Annotated[HomePage | None, Meta(description="null: no earlier scan knew the page.")]
    seen: HomePage
    confirmed_at: Annotated[
        Moment | None,
        Meta(description="When someone confirmed the page as the website's own; null: not yet."),
    ]


class Scan(msgspec.Struct, frozen=True, kw_only=True):
    """A scan of the website; runs is empty until it begins. Reports are stored at its end."""

    job_id: Annotated[str, Meta(description="The scan, for the other calls.")]
    profile: Annotated[str, Meta(description="quick, standard or deep.")]
    trigger: Annotated[str, Meta(description="Its cause: first, hand, retest or schedule.")]
    finding_id: Annotated[str | None, Meta(description="The finding that a retest looks for.")]
    state: Annotated[str, Meta(description="queued, running, finished, failed or cancelled.")]
    position: Annotated[Count | None, Meta(description="The place of a queued scan, from 1.")]
    cancelling: Annotated[bool, Meta(description="Whether it runs, and ends within 10 seconds.")]
    outcome: Annotated[
        str | None,
        Meta(
            description="Of a finished scan: complete, partial, blocked or different (the page looks "
            "different); of a retest: gone, still_there or inconclusive."
        ),
    ]
    reason: Annotated[
        str | None,
        Meta(
            description="Why it failed, was blocked, or is partial or inconclusive, such as no_address, "
            "connect_failed, blocked, redirected_away, ownership_lapsed, opted_out, engine_timeout, "
            "worker_lost, page_changed, first_look or not_all_checked."
        ),
    ]
    explanation: Annotated[str, Meta(description="The reason in words, and what to do; empty without one.")]
    created_at: Moment
    started_at: Annotated[Moment | None, Meta(description="When it began; null: not yet.")]
    ended_at: Annotated[Moment | None, Meta(description="When it ended; null: not yet.")]
    runs: list[ScanRun]
    new: Annotated[Count | None, Meta(description="Findings that were not known before; null: not stored.")]
    reopened: Annotated[Count | None, Meta(description=f"{_REOPENED} Null: not stored.")]
    fixed: Annotated[Count | None, Meta(description="Findings that are gone; null: not stored.")]
    cancellable: Annotated[
        bool,
        Meta(
            description="Whether you can cancel it now: it waits or runs, and counts for your account, or "
            "for none because staff began it."
        ),
    ]
    page_change: Annotated[
        PageChange | None,
        Meta(description="With the reason page_changed: both pages. Confirm it by confirmed_page of a scan."),
    ]


class ScanResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The scan that was queued, or the one that waited or ran already."""

    ok: Literal[True]
    host: str
    job: Scan
    already: Annotated[bool, Meta(description="Whether it waited or ran before this call.")]


class ScanStatusResponse(msgspec.Struct, frozen=True, kw_only=True):
    """A scan."""

    ok: Literal[True]
    host: str
    job: Scan


class ScansResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The scans of the website, the newest first."""

    ok: Literal[True]
    host: str
    jobs: list[Scan]
    total: Annotated[Count, Meta(description="The scans on all pages.")]


class ScanSchedule(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule: the website is scanned once in a window of hours on each day that is due."""

    frequency: Annotated[str, Meta(description="off, daily, weekly or monthly.")]
    profile: Annotated[str, Meta(description="quick, standard or deep.")]
    start_hour: Annotated[int, Meta(description="The hour at which the window begins.")]
    hours: Annotated[int, Meta(description="The length of the window.")]
    time_zone: Annotated[str, Meta(description="The zone of start_hour.")]
    paused_until: Annotated[date | None, Meta(description="The day before which no scan begins by itself.")]
    pause_reason: Annotated[
        str | None,
        Meta(
            description="Why it paused itself after three scans that failed, such as blocked; set it again."
        ),
    ]


class ScanAllowance(msgspec.Struct, frozen=True, kw_only=True):
    """The scans by hand that are possible with one profile."""

    profile: Annotated[str, Meta(description="quick, standard or deep.")]
    included: Annotated[bool, Meta(description="Whether the plan and the proof allow it.")]
    allowed_at: Annotated[Moment | None, Meta(description="When the next scan may begin; null: now.")]
    remaining_today: Annotated[Count, Meta(description="Scans that may still begin in 24 hours.")]
    reason: Annotated[
        str | None,
        Meta(
            description="Why it is not included: unpaid (a payment is missing), not_in_plan or, of a deep "
            "scan, dns_proof_missing; others may be added. null: it is included."
        ),
    ]


class ScanMonth(msgspec.Struct, frozen=True, kw_only=True):
    """The scans of the account in this month of UTC."""

    used: Annotated[Count, Meta(description="Scans that count.")]
    limit: Annotated[Count | None, Meta(description="What the plan includes; null: any number.")]


class ScanOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """The origin of scans, for a firewall that must let them in."""

    addresses: Annotated[list[str], Meta(description="Addresses and prefixes that scans come from.")]
    user_agent: Annotated[str, Meta(description="The beginning of the User-Agent header.")]


class ScanScheduleResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The schedule of scans, what may be scanned by hand, and where scans come from."""

    ok: Literal[True]
    host: str
    schedule: ScanSchedule
    frequencies: Annotated[
        list[str],
        Meta(description="The frequencies that the plan includes; deep scans are monthly only."),
    ]
    next_at: Annotated[list[Moment], Meta(description="When the next scans begin: at most 3.")]
    allowance: list[ScanAllowance]
    month: ScanMonth
    consent_until: Annotated[Moment | None, Meta(description="The end of the consent to deep scans.")]
    origin: ScanOrigin


class ErrorDetail(msgspec.Struct, frozen=True, kw_only=True):
    """The reason for a refusal; further members depend on the code."""

    code: str
    message: str
    request_id: str


class ErrorResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The body of every refusal."""

    ok: Literal[False]
    error: ErrorDetail


class ReportRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of a report, by its number, and a reason."""

    row: Annotated[int, Meta(ge=0, description="The number of the row in the report.")]
    reason: Annotated[str, Meta(description='The reason, worded to follow "Row 7".')]


class ImportedReport(msgspec.Struct, frozen=True, kw_only=True):
    """A report of one scanner. findings, occurrences, coverage and rejected add up to rows."""

    host: str
    source: str
    source_name: str
    scanned_at: Moment
    state: Annotated[str, Meta(description="The state of the scan: ok, partial or failed.")]
    detail: Annotated[str, Meta(description="What was left out or failed, as text.")]
    rows: Annotated[Count, Meta(description="Rows of the report.")]
    findings: Annotated[
        Count, Meta(description="Rows that are the first of a finding: new, updated or reopened.")
    ]
    occurrences: Annotated[Count, Meta(description="Further rows of the same findings.")]
    coverage: Annotated[Count, Meta(description="Rows about what was checked.")]
    rejected: Annotated[Count, Meta(description="Rows that are not stored.")]
    failed: Annotated[Count, Meta(description="Rows of the coverage whose check failed.")]
    rejects: Annotated[list[ReportRow], Meta(description="The first rejected rows.")]
    failures: Annotated[list[ReportRow], Meta(description="The first failed checks.")]
    suppressed: Annotated[Count, Meta(description="Rows that the report itself suppresses.")]
    suppressions: Annotated[list[ReportRow], Meta(description="The first suppressed rows.")]
    new: Annotated[Count, Meta(description="Findings that were not known before.")]
    updated: Annotated[Count, Meta(description="Findings that were open already.")]
    reopened: Annotated[Count, Meta(description=_REOPENED)]
    fixed: Annotated[Count, Meta(description="Findings that a complete scan no longer reports.")]
    new_severities: Annotated[
        dict[str, int],
        Meta(
            description="How many new and reopened findings have each severity, after standing decisions; "
            "those accepted by one are left out."
        ),
    ]
    unclear_severities: Annotated[
        dict[str, int],
        Meta(
            description="How many rejected rows are findings of each severity whose location is not "
            "understood, and may be on the website; known findings and accepted ones are included."
        ),
    ]
    category: Annotated[str, Meta(description="The name of this scan, if the website has several.")]
    targets: Annotated[list[str], Meta(description="Where a missing finding counts as fixed.")]
    more_targets: Annotated[Count, Meta(description="Further targets, which targets leaves out.")]
    note: Annotated[str, Meta(description="A remark on what this report can prove fixed.")]
    unknown_severities: Annotated[
        Count, Meta(description="Rejected rows that cannot be read, and may be findings of any severity.")
    ]
    dry_run: Annotated[bool, Meta(description="Whether nothing was stored.")]


class ReportResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a report that was sent; 202 while state is waiting."""

    ok: Literal[True]
    id: Annotated[str, Meta(description="Fetch the outcome from /v1/reports/ID.")]
    state: Annotated[Literal["waiting", "done"], Meta(description="Whether the report is imported.")]
    passed: Annotated[
        bool | None,
        Meta(
            description="With fail_on, false if new_severities or unclear_severities has any at least as "
            "bad, or if there are unknown_severities; null: waiting."
        ),
    ]
    reports: Annotated[list[ImportedReport], Meta(description="One for each scanner in the file.")]
