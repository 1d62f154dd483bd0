"""Requests to the service and its responses, as the portal reads them.

The portal is a tolerant reader: it ignores unknown members, and members that a smaller service leaves out
have defaults. Only the nine members of the specification, section 2, are required. Every list has a limit, a
multiple of the contract's limit, so that no response makes a page slow.
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


class WithTimes(msgspec.Struct, frozen=True, kw_only=True):
    """A message with times, each of which has a date in UTC."""

    def __post_init__(self) -> None:
        """Raise ValueError for a time without a date in UTC, so that the whole response is refused."""
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, datetime):
                try:
                    value.astimezone(UTC)
                except OverflowError as error:
                    raise ValueError(f"{name} is a time beyond the calendar") from error


class DashboardRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The filters and the page of one dashboard request; what is empty is not sent.

    Severity, source, kind and hosts may have several values with commas between them.
    """

    path: ClassVar[str] = "/v1/site/dashboard"
    severity: str = ""
    source: str = ""
    kind: str = ""
    query: str = ""
    status: str = ""
    group_by: str = ""
    problem: str = ""
    sort: str = ""
    since: int | None = None
    older_than: int | None = None
    fixed_since: int | None = None
    hosts: str = ""
    page: int = 1
    page_size: int = 20


class FindingRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request for one finding."""

    path: ClassVar[str] = "/v1/site/finding"
    finding_id: str


class ChangesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request for the changes after the cursor ``since``; without it, for a first cursor.

    ``until`` "next_import" limits it to the first import after the cursor. ``days``, instead of ``since``,
    requests the changes of the last days.
    """

    path: ClassVar[str] = "/v1/site/changes"
    since: str = ""
    min_severity: str = ""
    until: str = ""
    days: int | None = None


class CallsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request for the calls of an account; ``before`` is that of the last response."""

    path: ClassVar[str] = "/v1/account/calls"
    day: str = ""
    outcome: str = ""
    before: str = ""
    page_size: int = 100


class AccountChangesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request for the versions of an account's websites."""

    path: ClassVar[str] = "/v1/account/changes"


class EntitlementRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request for the plan of an account."""

    path: ClassVar[str] = "/v1/account/entitlement"


class ClaimRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request for the account's claim to a website, which begins if there is none."""

    path: ClassVar[str] = "/v1/site/claim"
    host: str


class ClaimCheckRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request to look for the token of a claim now."""

    path: ClassVar[str] = "/v1/site/claim/check"
    claim_id: str


class ClaimWithdrawRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request to end a claim, and its link."""

    path: ClassVar[str] = "/v1/site/claim/withdraw"
    claim_id: str
    reason: str


ClaimAction = ClaimRequest | ClaimCheckRequest | ClaimWithdrawRequest


class ClaimsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request for a page of the account's claims; with ``claim_id``, for this one, even if it has ended."""

    path: ClassVar[str] = "/v1/site/claims"
    host: str = ""
    claim_id: str = ""
    page: int = 1
    page_size: int = 100


class SecretsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request for the account's secrets, which may issue one or retire one."""

    path: ClassVar[str] = "/v1/account/secrets"
    issue: bool = False
    retire: str = ""

    @property
    def changes_again(self) -> bool:
        """Whether a repetition is another change: the secret that the first one issued would be lost."""
        return self.issue or bool(self.retire)


class PublicityRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request for what may be published about the account's websites; it changes what it names."""

    path: ClassVar[str] = "/v1/account/publicity"
    host: str = ""
    publicity: str = ""
    region: str = ""
    page: int = 1
    page_size: int = 100


class WebsitesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request for the account's websites; ``stay`` chooses those that stay in its plan, with commas."""

    path: ClassVar[str] = "/v1/account/websites"
    stay: str = ""


class ScanRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request to scan the website now."""

    path: ClassVar[str] = "/v1/site/scan"
    profile: str = ""
    consent: bool | None = None
    finding_id: str = ""
    confirmed_page: str = ""


class ScanStatusRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request for one scan of the website."""

    path: ClassVar[str] = "/v1/site/scan/status"
    job_id: str


class ScanCancelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request to cancel a scan of the website."""

    path: ClassVar[str] = "/v1/site/scan/cancel"
    job_id: str


class ScansRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request for a page of the scans of the website, the newest first."""

    path: ClassVar[str] = "/v1/site/scans"
    finding_id: str = ""
    page: int = 1
    page_size: int = 20


class ScanRulesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request for what may be scanned, when, and where scans come from; with ``frequency``, set the times.

    The request sets the whole schedule.
    """

    path: ClassVar[str] = "/v1/site/scan/schedule"
    frequency: str = ""
    profile: str = ""
    start_hour: int | None = None
    hours: int | None = None
    time_zone: str = ""
    paused_until: date | None = None
    consent: bool | None = None


AnyRequest = (
    DashboardRequest
    | FindingRequest
    | ChangesRequest
    | CallsRequest
    | AccountChangesRequest
    | EntitlementRequest
    | ClaimAction
    | ClaimsRequest
    | PublicityRequest
    | SecretsRequest
    | WebsitesRequest
    | ScanRequest
    | ScanStatusRequest
    | ScanCancelRequest
    | ScansRequest
    | ScanRulesRequest
)


class FacetValue(msgspec.Struct, frozen=True):
    """One value of a filter and how many findings it would leave."""

    value: str
    label: str
    count: Number


class Facets(msgspec.Struct, frozen=True):
    """The counts next to the filters."""

    severity: Some[FacetValue] = []
    source: Many[FacetValue] = []
    kind: Some[FacetValue] = []
    status: Some[FacetValue] = []
    hosts: Some[FacetValue] = []


class Problem(WithTimes, frozen=True, kw_only=True):
    """All findings of a website with one cause; ``worst_findings`` have its ``severity``."""

    id: str
    title: str
    severity: str
    sources: Some[str] = []
    source_names: Some[str] = []
    rule: str = ""
    findings: Number = 0
    worst_findings: Number = 0
    confirmed: Number = 0
    locations: Number = 0
    hosts: Some[str] = []
    first_seen: Moment | None = None
    newest_first_seen: Moment | None = None
    fix: str = ""
    topic: str | None = None


class Page(WithTimes, frozen=True, kw_only=True):
    """The ``dashboard`` member: the request as understood, its totals, and the revision of its list."""

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
    do_first: Few[Problem] = []
    problems: Some[Problem] = []
    problem_total: Number | None = None
    problem_total_relation: Literal["exact", "at_least"] | None = None


class NextGrade(msgspec.Struct, frozen=True):
    """The grade after fixing the worst findings, and how many these are."""

    grade: str
    fixes: Number


class HistoryDay(msgspec.Struct, frozen=True):
    """Grade and open findings at the end of a day; ``fixes`` of them decided the grade."""

    day: date
    grade: str
    open: Number
    fixes: Number


class Summary(WithTimes, frozen=True, kw_only=True):
    """Figures about the whole website, independent of filters."""

    open: Number
    by_severity: Counts = {}
    confirmed: Number = 0
    new_7d: Number = 0
    fixed_7d: Number = 0
    oldest_open_days: Number | None = None
    last_scan_at: Moment | None = None
    newest_open_days: Number | None = None
    first_check_by: date | None = None
    next_grade: NextGrade | None = None
    history: Some[HistoryDay] = []


class Threat(WithTimes, frozen=True, kw_only=True):
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
    problem: str = ""
    topic: str | None = None
    verified: bool = False


class Location(WithTimes, frozen=True, kw_only=True):
    """One location of a finding, and its evidence there."""

    location: str
    evidence: str = ""
    evidence_truncated: bool = False
    first_seen: Moment | None = None
    last_seen: Moment | None = None
    gone_at: Moment | None = None


class Event(WithTimes, frozen=True, kw_only=True):
    """A step in the history of a finding: first_seen, last_seen, fixed, or a newer kind."""

    at: Moment
    event: str
    reason: str = ""


class Finding(Threat, frozen=True, kw_only=True):
    """One finding with its locations and its history."""

    locations: Many[Location] = []
    timeline: Many[Event] = []
    decided_until: date | None = None


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


class CoverageEntry(WithTimes, frozen=True, kw_only=True):
    """The state of one scanner's check; ``never`` means not checked, which does not mean clean."""

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
    ours: bool | None = None


class Note(WithTimes, frozen=True, kw_only=True):
    """An analyst's words, as Markdown text."""

    id: str
    author: str
    body: str
    created_at: Moment
    finding_id: str | None = None
    updated_at: Moment | None = None
    problem: str | None = None
    pinned: bool = False


class LimitState(msgspec.Struct, frozen=True, kw_only=True):
    """A counted limit of the plan; ``state`` is ``ok``, ``near`` or ``reached``."""

    name: str
    limit: Number = 0
    state: str = "ok"
    resets_at: Moment | None = None


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
    limits: Some[LimitState] = []


class Dashboard(msgspec.Struct, frozen=True, kw_only=True):
    """The response of the dashboard call, in the specification's order of members."""

    ok: bool
    host: str
    dashboard: Page
    summary: Summary
    threats: Some[Threat]
    charts: Few[Chart]
    coverage: Many[CoverageEntry]
    analyst_notes: Some[Note]
    entitlement: Entitlement


class FindingResponse(msgspec.Struct, frozen=True, kw_only=True):
    """One finding, its notes, whether it can be tested again, and the other scanners of its topic."""

    ok: bool
    host: str
    finding: Finding
    analyst_notes: Some[Note]
    can_retest: bool = False
    also_found_by: Some[str] = []


class Change(WithTimes, frozen=True, kw_only=True):
    """A finding that is new, or that was fixed and is open again (``regressed``)."""

    id: str
    event: str
    severity: str
    title: str
    location: str = ""
    at: Moment | None = None
    problem: str = ""
    fix: str = ""


class NoteChange(WithTimes, frozen=True, kw_only=True):
    """A note that was published, without its text."""

    id: str
    author: str
    finding_id: str | None = None
    finding_title: str | None = None
    published_at: Moment | None = None


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """Changes, with findings worst first; ``more``: the next request, with ``cursor``, brings others.

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


class SignedCall(WithTimes, frozen=True, kw_only=True):
    """A call on record; without ``code`` it was answered."""

    at: Moment
    route: str
    host: str | None = None
    secret_id: str = ""
    secret_hint: str = ""
    status: int
    code: str | None = None
    request_id: str = ""
    address: str = ""


class Calls(msgspec.Struct, frozen=True, kw_only=True):
    """Calls of an account, the newest first; with ``before``, older ones follow."""

    ok: bool
    calls: Many[SignedCall] = []
    before: str | None = None


class AccountEntitlement(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of an account; ``names`` are by language."""

    plan: str
    names: dict[str, str] = {}
    revision: Number | None = None
    status: str
    starts_on: date | None = None
    ends_on: date
    usable_until: date
    renews: bool = False
    cancels: bool = False
    past_due_since: date | None = None
    may_grow: bool = True
    features: Some[str] = []


class LimitUse(WithTimes, frozen=True, kw_only=True):
    """A limit, None without one, and how much of it is used, None where it is not counted."""

    name: str
    limit: Number | None = None
    used: Number | None = None
    state: str = "ok"
    resets_at: Moment | None = None


class WebsiteVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A linked website, with a text that changes with its data."""

    link_id: str
    version: str


class AccountChanges(msgspec.Struct, frozen=True, kw_only=True):
    """The linked websites of an account."""

    ok: bool
    websites: list[WebsiteVersion] = []


class AccountWebsite(msgspec.Struct, frozen=True, kw_only=True):
    """A website of the account, and whether it stays in the plan."""

    host: Annotated[str, msgspec.Meta(pattern=r"\A[a-z0-9.:-]{1,253}\Z")]
    stays: bool
    is_paused: bool = False


class AccountWebsites(WithTimes, frozen=True, kw_only=True):
    """The account's websites; those that do not stay are paused at ``pauses_at``, None if all stay."""

    ok: bool
    limit: Number | None = None
    pauses_at: Moment | None = None
    websites: Many[AccountWebsite] = []


class DayOfCalls(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of a day."""

    day: date
    calls: Number


class OfferedPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A plan to choose from; texts are by language."""

    slug: str
    revision: Number | None = None
    names: dict[str, str] = {}
    prices: dict[str, str] = {}
    limits: dict[str, Number | None] = {}
    features: Some[str] = []
    trial_days: Number = 0


class PlanChange(WithTimes, frozen=True, kw_only=True):
    """A change of the plan: the values before it, None for a new plan, and after it."""

    at: Moment
    before: dict[str, str | int | bool | None] | None = None
    after: dict[str, str | int | bool | None] = {}


class BillingNotice(WithTimes, frozen=True, kw_only=True):
    """A notice to owners: about a limit, or about the plan."""

    id: str
    kind: str
    limit: str = ""
    days: Number | None = None
    at: Moment


class AccountPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of an account with limits, calls by day, notices, plans to choose from, and history."""

    ok: bool
    entitlement: AccountEntitlement | None = None
    limits: Few[LimitUse] = []
    calls_by_day: Some[DayOfCalls] = []
    notices: Some[BillingNotice] = []
    plans: Few[OfferedPlan] = []
    history: Some[PlanChange] = []
    billing_ref: Annotated[str, msgspec.Meta(max_length=200)] | None = None


class ProofFile(msgspec.Struct, frozen=True, kw_only=True):
    """The file that proves a website: its address, and a line of it."""

    url: str
    content: str


class ProofRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The TXT record that proves a website; ``relative_name`` is for panels that add the domain."""

    name: str
    relative_name: str
    value: str


class ProofInstructions(msgspec.Struct, frozen=True, kw_only=True):
    """The places for the token of a claim; ``dns`` is None where the service offers no record."""

    dns: ProofRecord | None = None
    file: ProofFile
    meta: str


class ClaimCheck(WithTimes, frozen=True, kw_only=True):
    """The last look in one place: what was expected, and what was found."""

    method: str
    at: Moment
    outcome: str
    asked: Few[str] = []
    expected: str = ""
    found: Few[str] = []
    advice: str = ""


class OtherClaim(WithTimes, frozen=True, kw_only=True):
    """Another account's contested claim to a website that this account holds."""

    claim_id: Annotated[str, msgspec.Meta(pattern=r"\A[1-9][0-9]{0,17}\Z")]
    method: str = ""
    token: str = ""
    since: Moment | None = None


class PausedSchedule(WithTimes, frozen=True, kw_only=True):
    """A schedule of scans that paused itself, and when it was set."""

    reason: str = ""
    set_at: Moment


class DifferentPage(WithTimes, frozen=True, kw_only=True):
    """A home page that scans do not know: the newest scan that met it, and when one met it first."""

    job_id: Annotated[str, msgspec.Meta(pattern=r"\A[1-9][0-9]{0,17}\Z")]
    since: Moment


class WebsiteClaim(WithTimes, frozen=True, kw_only=True):
    """A claim of the account to a website; ``link_id`` is its link once the website is verified."""

    claim_id: Annotated[str, msgspec.Meta(pattern=r"\A[1-9][0-9]{0,17}\Z")]
    host: Annotated[str, msgspec.Meta(pattern=r"\A[a-z0-9.:-]{1,253}\Z")]
    state: str
    method: str | None = None
    strength: str | None = None
    token: str
    instructions: ProofInstructions
    checks: Few[ClaimCheck] = []
    created_at: Moment | None = None
    next_check_at: Moment | None = None
    check_allowed_at: Moment | None = None
    expires_at: Moment | None = None
    verified_at: Moment | None = None
    lapses_at: Moment | None = None
    ended_at: Moment | None = None
    ended_reason: str | None = None
    link_id: (
        Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")] | None
    ) = None
    link_problem: str | None = None
    others: Few[OtherClaim] = []
    paused_schedule: PausedSchedule | None = None
    different_page: DifferentPage | None = None


class ClaimResponse(msgspec.Struct, frozen=True, kw_only=True):
    """One claim."""

    ok: bool
    claim: WebsiteClaim


class Claims(msgspec.Struct, frozen=True, kw_only=True):
    """A page of claims, by host; ``total`` counts all pages."""

    ok: bool
    claims: Some[WebsiteClaim] = []
    total: Number = 0


class AccountSecret(WithTimes, frozen=True, kw_only=True):
    """A secret of the account that works; ``for_portal``: this portal signs with it."""

    id: Annotated[str, msgspec.Meta(pattern=r"\A[0-9]{1,18}\Z")]
    hint: str
    state: str
    is_test: bool
    for_portal: bool
    created_at: Moment
    retires_at: Moment | None = None
    last_used_at: Moment | None = None


class Secrets(msgspec.Struct, frozen=True, kw_only=True):
    """The secrets of an account that work; ``secret`` is the one just issued, in clear."""

    ok: bool
    secrets: Few[AccountSecret] = []
    secret: str | None = None


class WebsitePublicity(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a website that may be published; ``effective`` is what holds."""

    host: Annotated[str, msgspec.Meta(pattern=r"\A[a-z0-9.:-]{1,253}\Z")]
    publicity: str
    effective: str
    region: str


class Publicity(msgspec.Struct, frozen=True, kw_only=True):
    """The part of an account's websites that may be published; ``total`` counts all pages."""

    ok: bool
    publicity: str
    websites: Some[WebsitePublicity] = []
    total: Number = 0


class ScanRun(WithTimes, frozen=True, kw_only=True):
    """A scanner of a scan; ``usual_seconds`` is what it usually takes."""

    engine: str
    state: str
    reason: str | None = None
    started_at: Moment | None = None
    ended_at: Moment | None = None
    usual_seconds: Number | None = None


class HomePage(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about a home page; it had fewer bytes than ``bytes_below``."""

    title: str = ""
    links: Number = 0
    script_hosts: Some[str] = []
    cookies: Some[str] = []
    bytes_below: Number = 0


class PageChange(WithTimes, frozen=True, kw_only=True):
    """The home page that a scan met, and the one that was known."""

    known: HomePage | None = None
    seen: HomePage
    confirmed_at: Moment | None = None


class Scan(WithTimes, frozen=True, kw_only=True):
    """A scan of the website; the numbers of findings are None unless a report was stored."""

    job_id: Annotated[str, msgspec.Meta(pattern=r"\A[1-9][0-9]{0,17}\Z")]
    profile: str = ""
    trigger: str = ""
    finding_id: str | None = None
    state: str
    position: Number | None = None
    cancelling: bool = False
    outcome: str | None = None
    reason: str | None = None
    created_at: Moment
    started_at: Moment | None = None
    ended_at: Moment | None = None
    runs: Few[ScanRun] = []
    new: Number | None = None
    reopened: Number | None = None
    fixed: Number | None = None
    cancellable: bool = True
    page_change: PageChange | None = None


class ScanResponse(msgspec.Struct, frozen=True, kw_only=True):
    """One scan; ``already``: it waited or ran before the request."""

    ok: bool
    host: str
    job: Scan
    already: bool = False


class Scans(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the scans of the website; ``total`` counts all pages."""

    ok: bool
    host: str
    jobs: Some[Scan] = []
    total: Number = 0


class ScanAllowance(WithTimes, frozen=True, kw_only=True):
    """The scans by hand of one profile; ``allowed_at`` is None if one can begin now."""

    profile: str
    included: bool = True
    allowed_at: Moment | None = None
    remaining_today: Number = 0
    reason: str | None = None


class ScanOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """The addresses that scans come from, and their user agent, for a firewall."""

    addresses: Some[str] = []
    user_agent: str = ""


class ScanMonth(msgspec.Struct, frozen=True, kw_only=True):
    """The scans of the account in this month; ``limit`` is None if the plan has any number."""

    used: Number = 0
    limit: Number | None = None


class ScanSchedule(msgspec.Struct, frozen=True, kw_only=True):
    """The times of scans: a window of hours, in which each begins somewhere."""

    frequency: str = "off"
    profile: str = "quick"
    start_hour: Annotated[int, msgspec.Meta(ge=0, le=23)] = 2
    hours: Annotated[int, msgspec.Meta(ge=1, le=24)] = 4
    time_zone: str = "UTC"
    paused_until: date | None = None
    pause_reason: str | None = None


class NextScan(WithTimes, frozen=True):
    """The time of a scan that is due."""

    at: Moment


class ScanRules(WithTimes, frozen=True, kw_only=True):
    """The scans by hand that are possible, the schedule, and the origin of scans."""

    ok: bool
    host: str
    schedule: ScanSchedule | None = None
    frequencies: Few[str] = []
    next_at: Few[Moment] = []
    allowance: Few[ScanAllowance] = []
    month: ScanMonth = ScanMonth()
    consent_until: Moment | None = None
    origin: ScanOrigin = ScanOrigin()

    def __post_init__(self) -> None:
        """Raise ValueError for a time without a date in UTC."""
        super().__post_init__()
        for at in self.next_at:
            NextScan(at)
