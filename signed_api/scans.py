"""Routes about scans of a linked website."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Annotated, Any

from signed_api import limits
from signed_api.routes import SCANS as GROUP  # here, SCANS is a route
from signed_api.routes import Route
from signed_api.values import (
    DAY,
    REOPENED,
    TRUE_OR_FALSE,
    Count,
    Few,
    Member,
    Moment,
    NumericId,
    Ok,
    PageField,
    PageSize,
    SiteRequest,
    Some,
    about,
    any_text,
    check_times,
    id_of,
    one_of,
    required,
    short_text,
    whole_number,
)

PROFILES = ("quick", "standard", "deep")
# What recognisably blocks scans, and its name.
PROTECTIONS = {
    "akamai": "Akamai",
    "aws_waf": "AWS WAF",
    "cloudflare": "Cloudflare",
    "datadome": "DataDome",
    "fastly": "Fastly",
    "imperva": "Imperva",
    "modsecurity": "ModSecurity",
    "sucuri": "Sucuri",
    "vercel": "Vercel",
    "wordfence": "Wordfence",
}
FREQUENCIES = ("off", "daily", "weekly", "monthly")
_JOB_ID = id_of("job_id of a scan")
JobId = Annotated[str, required(_JOB_ID), about("job_id of a scan.")]
Profile = Annotated[
    str,
    one_of(PROFILES),
    about(
        "quick: under a minute. standard: some minutes, with more scanners. deep: up to an hour, with "
        "attacks; it needs a proof by DNS and consent. The default is quick."
    ),
]
Consent = Annotated[
    bool,
    TRUE_OR_FALSE,
    about(
        "true: the owner agrees to deep scans of the website for a year. Recorded, if DNS proves the website."
    ),
]


class ScanRequest(SiteRequest, frozen=True, kw_only=True):
    """A request to scan the website now."""

    profile: Profile = ""
    consent: Consent = False
    finding_id: Annotated[
        str,
        any_text(),
        about("Retest this finding: only its scanner runs. Cannot be combined with profile."),
    ] = ""
    confirmed_page: Annotated[
        str,
        _JOB_ID,
        about(
            "The job_id of a scan with a page_change: the owner confirms that the page is the website's own. "
            "The confirmation is recorded even if no scan can begin now."
        ),
    ] = ""


class ScanStatusRequest(SiteRequest, frozen=True, kw_only=True):
    """A request for one scan."""

    job_id: JobId


class ScanCancelRequest(SiteRequest, frozen=True, kw_only=True):
    """A request to cancel a scan."""

    job_id: JobId
    reason: Annotated[str, short_text(limits.MAX_REASON_LENGTH), about("Why.")] = ""


class ScansRequest(SiteRequest, frozen=True, kw_only=True):
    """A request to list the scans of the website."""

    finding_id: Annotated[str, id_of("the id of a finding"), about("Only the retests of this finding.")] = ""
    page: PageField = 1
    page_size: PageSize = limits.DEFAULT_PAGE_SIZE


class ScanScheduleRequest(SiteRequest, frozen=True, kw_only=True):
    """A request for the schedule of scans; with frequency, it sets the whole schedule first."""

    frequency: Annotated[
        str,
        one_of(FREQUENCIES),
        about("Sets the whole schedule; missing fields get their defaults."),
    ] = ""
    profile: Profile = ""
    start_hour: Annotated[
        int | None,
        whole_number(0, 23),
        about(f"The hour at which the window begins. The default is {limits.SCAN_START_HOUR}."),
    ] = None
    hours: Annotated[
        int | None,
        whole_number(1, 24),
        about(
            f"The length of the window in hours; a scan begins within it. The default is {limits.SCAN_HOURS}."
        ),
    ] = None
    time_zone: Annotated[
        str,
        any_text("time_zone"),
        about("The zone of start_hour, such as Europe/Berlin. The default is UTC."),
    ] = ""
    paused_until: Annotated[date | None, DAY, about("Scheduled scans resume on this day.")] = None
    consent: Annotated[
        bool | None,
        TRUE_OR_FALSE,
        about(
            "true: the owner agrees to deep scans of the website for a year. Recorded, if DNS proves the "
            "website."
        ),
    ] = None


class ScanRun(Member, frozen=True, kw_only=True):
    """The run of one scanner; runs are in the order in which the scanners start."""

    engine: Annotated[str, about("The scanner's short name.")]
    state: Annotated[str, about("waiting, running, ok, blocked, failed, timed_out, cancelled or skipped.")]
    reason: Annotated[str | None, about("Why it failed or was skipped; the same words as reason of a scan.")]
    started_at: Annotated[Moment | None, about("When it began.")]
    ended_at: Annotated[Moment | None, about("When it ended.")]
    usual_seconds: Annotated[
        Count | None, about("Its usual time: the median of its last 10 runs; null: unknown.")
    ]
    run_id: Annotated[
        str | None, about("The import run of its report, to compare it; null: none, or not stored yet.")
    ] = None
    title: Annotated[str, about("The scanner's name as people read it; empty: it no longer runs here.")] = ""


class HomePage(Member, frozen=True, kw_only=True):
    """Facts about the home page of the website."""

    title: Annotated[str, about("Its title.")]
    links: Annotated[Count, about("How many pages of the website it links to.")]
    script_hosts: Annotated[Some[str], about("Hosts of its scripts; at most 20.")]
    cookies: Annotated[Some[str], about("Names of the cookies that it sets; at most 20.")]
    bytes_below: Annotated[
        Count, about("Its size class: a power of two above its size; only 256 KB of the page are read.")
    ]


class PageChange(Member, frozen=True, kw_only=True):
    """The home page that a scan saw, and the page that it expected."""

    known: Annotated[HomePage | None, about("The expected page; null: no earlier scan knew the page.")]
    seen: HomePage
    confirmed_at: Annotated[
        Moment | None, about("When someone confirmed the page as the website's own; null: not yet.")
    ]


class Scan(Member, frozen=True, kw_only=True):
    """A scan of the website; runs is empty until it begins. Findings are stored when it ends."""

    job_id: Annotated[NumericId, about("The scan, for the other calls.")]
    profile: Annotated[str, about("quick, standard or deep.")]
    trigger: Annotated[str, about("Its cause: first, hand, retest or schedule.")]
    finding_id: Annotated[str | None, about("The finding of a retest.")]
    state: Annotated[str, about("queued, running, finished, failed or cancelled.")]
    position: Annotated[Count | None, about("The position in the queue, from 1.")]
    cancelling: Annotated[bool, about("Whether it is being cancelled: it ends within 10 seconds.")]
    outcome: Annotated[
        str | None,
        about(
            "A finished scan: complete, partial, blocked or different (the page looks different). A finished "
            "retest: gone, still_there or inconclusive."
        ),
    ]
    reason: Annotated[
        str | None,
        about(
            "Why it failed, was blocked, or is partial or inconclusive, such as no_address, "
            "connect_failed, blocked, redirected_away, ownership_lapsed, opted_out, engine_timeout, "
            "worker_lost, page_changed, first_look or not_all_checked."
        ),
    ]
    explanation: Annotated[str, about("The reason in words, and what to do; empty without a reason.")]
    created_at: Annotated[Moment, about("When it was queued.")]
    started_at: Annotated[Moment | None, about("When it began; null: not yet.")]
    ended_at: Annotated[Moment | None, about("When it ended; null: not yet.")]
    runs: Few[ScanRun]
    new: Annotated[Count | None, about("Findings that were not known before; null: not stored.")]
    reopened: Annotated[Count | None, about(f"{REOPENED} Null: not stored.")]
    fixed: Annotated[Count | None, about("Findings that are gone; null: not stored.")]
    cancellable: Annotated[
        bool,
        about(
            "Whether you can cancel it: it waits or runs, and your account pays for it, or staff started it."
        ),
    ]
    page_change: Annotated[
        PageChange | None,
        about("For the reason page_changed: both pages. To confirm the new one, scan with confirmed_page."),
    ]
    protection: Annotated[
        str | None,
        about(f"What seems to have blocked it: {', '.join(PROTECTIONS)}. null: unknown, or not blocked."),
    ] = None


class ScanResponse(Member, frozen=True, kw_only=True):
    """The queued scan, or the scan that was already waiting or running."""

    ok: Ok
    host: Annotated[str, about("The website, as in the request.")]
    job: Scan
    already: Annotated[bool, about("Whether the scan existed before this call.")]


class ScanStatusResponse(Member, frozen=True, kw_only=True):
    """One scan."""

    ok: Ok
    host: Annotated[str, about("The website, as in the request.")]
    job: Scan


class ScansResponse(Member, frozen=True, kw_only=True):
    """The scans of the website, newest first."""

    ok: Ok
    host: Annotated[str, about("The website, as in the request.")]
    jobs: Some[Scan]
    total: Annotated[Count, about("The number of scans on all pages.")]


class ScanSchedule(Member, frozen=True, kw_only=True):
    """A schedule: on each due day, one scan begins within a window of hours."""

    frequency: Annotated[str, about("off, daily, weekly or monthly.")]
    profile: Annotated[str, about("quick, standard or deep.")]
    start_hour: Annotated[int, about("The hour at which the window begins.", ge=0, le=23)]
    hours: Annotated[int, about("The length of the window.", ge=1, le=24)]
    time_zone: Annotated[str, about("The zone of start_hour.")]
    paused_until: Annotated[date | None, about("The day on which scheduled scans resume.")]
    pause_reason: Annotated[
        str | None,
        about("Why it paused itself after three failed scans, such as blocked. Set it again to resume."),
    ]
    by_default: Annotated[
        bool, about("Whether the service chose it when the website was proven, and nobody has set it since.")
    ] = False


class ScanAllowance(Member, frozen=True, kw_only=True):
    """The scans by hand that one profile allows."""

    profile: Annotated[str, about("quick, standard or deep.")]
    included: Annotated[bool, about("Whether the plan and the proof allow it.")]
    allowed_at: Annotated[Moment | None, about("When the next scan may begin; null: now.")]
    remaining_today: Annotated[Count, about("How many scans may still begin within 24 hours.")]
    reason: Annotated[
        str | None,
        about(
            "Why it is not included: unpaid (a payment is missing), not_in_plan, or dns_proof_missing for "
            "deep scans; others may be added. null: it is included."
        ),
    ]


class ScanMonth(Member, frozen=True, kw_only=True):
    """The scans of the account in this month (UTC)."""

    used: Annotated[Count, about("Scans that count towards the limit.")]
    limit: Annotated[Count | None, about("How many scans the plan includes; null: unlimited.")]


class ScanOrigin(Member, frozen=True, kw_only=True):
    """The origin of scans, for the rules of a firewall."""

    addresses: Annotated[Some[str], about("Addresses and prefixes that scans come from.")]
    user_agent: Annotated[str, about("The beginning of their User-Agent header.")]


class ScanScheduleResponse(Member, frozen=True, kw_only=True):
    """The schedule of scans, the scans by hand that are allowed, and the origin of scans."""

    ok: Ok
    host: Annotated[str, about("The website, as in the request.")]
    schedule: ScanSchedule
    frequencies: Annotated[
        Few[str], about("The frequencies that the plan includes; deep scans are monthly only.")
    ]
    next_at: Annotated[Few[Moment], about("When the next scans begin: at most 3.")]
    allowance: Few[ScanAllowance]
    month: ScanMonth
    consent_until: Annotated[Moment | None, about("The end of the consent to deep scans.")]
    origin: ScanOrigin

    def __post_init__(self) -> None:
        """Check the times in ``next_at`` as well; raises ValueError."""
        super().__post_init__()
        check_times({f"next_at {number}": at for number, at in enumerate(self.next_at)})


def _between_scan(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if given.get("finding_id") and "profile" in given:
        yield "finding_id", "must not be given with profile"


def _between_schedule(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "frequency" not in given:
        for field in ScanScheduleRequest.__struct_fields__:
            if field in given and field not in SiteRequest.__struct_fields__:
                yield field, "must not be given without frequency"


_SCHEDULE_CODES = ("scans_not_included", "opted_out", "consent_missing", "not_scannable")
SCAN = Route(
    path="/v1/site/scan",
    name="siteScan",
    summary="Scan a linked website",
    description="An addition to the specification: queues a scan. If a scan waits or runs already, the call "
    "returns that one, so repeating it is safe. finding_id asks for a retest of that finding.",
    request=ScanRequest,
    response=ScanResponse,
    own_codes=("unknown_finding", "unknown_job", *_SCHEDULE_CODES, "scan_cooldown", "crawler_stopped"),
    group=GROUP,
    between_fields=_between_scan,
    changes=True,
)
SCAN_STATUS = Route(
    path="/v1/site/scan/status",
    name="siteScanStatus",
    summary="One scan of a linked website",
    description="An addition to the specification: returns which scanner runs, since when, and its usual "
    "time; at the end, the outcome. Poll at most every 3 seconds.",
    request=ScanStatusRequest,
    response=ScanStatusResponse,
    own_codes=("unknown_job",),
    group=GROUP,
)
SCANS = Route(
    path="/v1/site/scans",
    name="siteScans",
    summary="The scans of a linked website",
    description="An addition to the specification: lists the scans, newest first.",
    request=ScansRequest,
    response=ScansResponse,
    group=GROUP,
)
SCAN_CANCEL = Route(
    path="/v1/site/scan/cancel",
    name="siteScanCancel",
    summary="Cancel a scan",
    description="An addition to the specification: a queued scan ends at once, a running scan within 10 "
    "seconds; reports of scanners that have finished are kept. Repeating the call is safe.",
    request=ScanCancelRequest,
    response=ScanStatusResponse,
    own_codes=("unknown_job",),
    group=GROUP,
    changes=True,
)
SCAN_SCHEDULE = Route(
    path="/v1/site/scan/schedule",
    name="siteScanSchedule",
    summary="Scans by schedule, and what may be scanned by hand",
    description="An addition to the specification: returns the account's schedule for the website; "
    "frequency sets it first.",
    request=ScanScheduleRequest,
    response=ScanScheduleResponse,
    own_codes=_SCHEDULE_CODES,
    group=GROUP,
    between_fields=_between_schedule,
    changes=True,
)
ROUTES: tuple[Route[Any, Any], ...] = (SCAN, SCAN_STATUS, SCANS, SCAN_CANCEL, SCAN_SCHEDULE)
