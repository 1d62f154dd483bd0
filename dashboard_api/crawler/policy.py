"""Rules about what may be scanned, when, and how often."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.utils import timezone

from dashboard_api.billing import usage
from dashboard_api.models import (
    Account,
    CrawlerStop,
    Entitlement,
    OwnershipClaim,
    ScanConsent,
    ScanJob,
    ScanOptOut,
    ScanSchedule,
    SiteLink,
    Website,
)
from dashboard_api.models.scan_rules import CONSENT_PERIOD
from foundation.addresses.domains import registrable_domain

LEASE = timedelta(seconds=60)  # a worker that does not renew it in time loses its job
RENEWAL_SECONDS = 3.0  # between renewals; also how soon a worker notices a cancellation
MAX_ATTEMPTS = 2  # of a job that loses its workers
MAX_RUNNING = 2  # scans at the same time, for an account and for an address

Kind = ScanJob.Profile  # names of profiles; ``Profile`` below has their limits
Trigger = ScanJob.Trigger
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Limits of a profile.

    ``seconds`` is the time for all engines, ``cooldown`` the pause between scans of a website, and
    ``by_hand`` the number of scans by hand in 24 hours. ``requests`` and ``megabytes`` limit engines behind
    our proxy. The plan must have ``feature``, if set.
    """

    seconds: int
    requests: int
    megabytes: int
    cooldown: timedelta
    by_hand: int
    feature: str = ""


PROFILES: Mapping[str, Profile] = {
    Kind.QUICK: Profile(seconds=60, requests=200, megabytes=50, cooldown=timedelta(minutes=5), by_hand=20),
    Kind.STANDARD: Profile(seconds=600, requests=3000, megabytes=500, cooldown=timedelta(hours=1), by_hand=4),
    Kind.DEEP: Profile(
        seconds=3600, requests=20_000, megabytes=2000, cooldown=_DAY, by_hand=1, feature="deep_scans"
    ),
}
RETESTS_A_DAY = 20  # of a website
CANCELLED_A_DAY = 50  # before they began, per account and website: they use no quota, but are stored
REPEATED_WITHIN = timedelta(minutes=1)  # after its end, a retest is returned again instead of repeated
CONNECTIONS_A_SECOND = 5.0  # to a website, of a whole scan; each has at most one request
DAILY_FEATURE = "scans_daily"  # the feature of a plan that includes daily schedules


def rank(profile: str) -> int:
    """Return the rank of the profile; it includes the scanners of all lower profiles."""
    return list(PROFILES).index(profile)


class NotScannable(ValidationError):
    """The website may not be scanned; ``code`` and the message say why."""


class OptedOut(ValidationError):
    """The website asked never to be scanned."""


class NotIncluded(ValidationError):
    """The plan of the account does not include the scan."""


class ConsentMissing(ValidationError):
    """A deep scan needs the consent of the owner."""


class Stopped(ValidationError):
    """All scans are stopped, or this deployment has none."""


class TooManyScans(ValidationError):
    """The website was scanned too often; it may be scanned again at ``allowed_at``."""

    def __init__(self, website: Website, allowed_at: datetime, remaining_today: int) -> None:
        self.allowed_at, self.remaining_today = allowed_at, remaining_today
        text = "%(website)s was scanned a short while ago: the next scan can begin at %(time)s UTC."
        super().__init__(text % {"website": website, "time": f"{allowed_at:%Y-%m-%d %H:%M}"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """Time of the next allowed scan by hand (None: now), and the number left in these 24 hours."""

    allowed_at: datetime | None
    remaining_today: int


def check_opted_out(website: Website, addresses: Sequence[str] = ()) -> None:
    """Raise OptedOut if an opt-out covers the website or one of its addresses."""
    if ScanOptOut.objects.of(website.host, addresses):
        raise OptedOut(f"{website} opted out of scans.")


def never_scanned(host: str) -> list[str]:
    """Return the opted-out hosts and address prefixes to which redirects of ``host`` must not be followed.

    Hosts of other domains are left out: redirects to other domains are never followed.
    """
    reachable = Q(kind=ScanOptOut.Kind.PREFIX)
    if domain := registrable_domain(host):
        reachable |= Q(kind=ScanOptOut.Kind.HOST, value__endswith=domain)
    return list(ScanOptOut.objects.filter(reachable).values_list("value", flat=True))


def check_scannable(website: Website, *, profile: str = Kind.QUICK, account: Account | None = None) -> None:
    """Raise NotScannable unless the website is watched and has the proof that the profile needs.

    ``account`` must have the proof; without ``account``, any account's proof counts.
    """
    if website.archived_at is not None:
        raise NotScannable(f"{website} is archived.", code="archived")
    if website.verified_at is None:
        raise NotScannable(
            f"{website} is not verified: verify its ownership in the admin first.",
            code="not_verified",
        )
    claims = OwnershipClaim.objects.current(timezone.now()).filter(host=website.host)
    if account is not None:
        claims = claims.filter(account=account)
    if not claims.exists():
        raise NotScannable(
            f"{website} has no current proof of ownership: prove it, or link an account.",
            code="proof_missing",
        )
    if profile == Kind.DEEP and not claims.proven_by_dns().exists():
        raise NotScannable(
            f"A deep scan of {website} needs a proof by DNS.",
            code="dns_proof_missing",
        )


def check_still_allowed(job: ScanJob, now: datetime) -> None:
    """Raise the error that ``queue.add`` would raise today if the queued job is no longer allowed."""
    check_opted_out(job.website)
    check_scannable(job.website, profile=job.profile, account=job.account)
    if job.profile == Kind.DEEP:
        check_consent(job.account, job.website, now)
    if job.account is not None:
        link = job.website.links.not_revoked().filter(account=job.account).first()
        if link is None:
            raise NotScannable("The website is no longer linked.")
        check_plan(link, profile=job.profile, now=now)


def check_running() -> None:
    """Raise Stopped while all scans are stopped."""
    if not settings.CRAWLER_ENABLED or CrawlerStop.objects.current():
        raise Stopped("All scans are stopped for now.")


def scans_per_month(entitlement: Entitlement | None) -> int | None:
    """Return how many scans a month the plan includes; None means unlimited."""
    return entitlement.scans_per_month if entitlement else None


def check_included(
    entitlement: Entitlement | None, *, profile: str, feature: str = "", now: datetime
) -> None:
    """Raise NotIncluded unless the plan is paid and includes scans of this profile and the feature."""
    if entitlement and not entitlement.may_grow_on(now.date()):
        raise NotIncluded("A payment is missing: no scan can begin until it has arrived.", code="unpaid")
    needed = {name for name in (PROFILES[profile].feature, feature) if name}
    if scans_per_month(entitlement) == 0 or (entitlement and not needed <= set(entitlement.features)):
        raise NotIncluded("The plan does not include these scans.")


def check_plan(link: SiteLink, *, profile: str, feature: str = "", now: datetime) -> None:
    """Raise NotIncluded unless the plan is usable now, and includes the website and these scans."""
    if link.paused_at is not None:
        raise NotIncluded("The plan includes fewer websites.")
    entitlement = Entitlement.objects.filter(account=link.account_id).first()
    if entitlement is None or not entitlement.is_usable_on(now.date()):
        raise NotIncluded("The plan of the account has ended.")
    check_included(entitlement, profile=profile, feature=feature, now=now)


def frequencies(entitlement: Entitlement | None) -> list[str]:
    """Return the frequencies of schedules that the plan includes."""
    if scans_per_month(entitlement) == 0:
        return [ScanSchedule.Frequency.OFF]
    has_daily = entitlement is None or DAILY_FEATURE in entitlement.features
    return [
        each for each in ScanSchedule.Frequency.values if each != ScanSchedule.Frequency.DAILY or has_daily
    ]


def check_consent(account: Account | None, website: Website, now: datetime) -> None:
    """Raise ConsentMissing unless the account agreed to deep scans in the last year.

    Without an account, the consent of any account that has proven the website by DNS is enough.
    """
    if consent_until(account, website, now) is None:
        raise ConsentMissing("A deep scan attacks the website: its owner must agree first.")


def consent_until(account: Account | None, website: Website, now: datetime) -> datetime | None:
    """Return the end of the consent that ``check_consent`` requires, if any."""
    given = ScanConsent.objects.valid_at(now).filter(link__website=website, link__revoked_at=None)
    if account is None:
        proven = OwnershipClaim.objects.current(now).proven_by_dns().filter(host=website.host)
        given = given.filter(link__account__in=proven.values("account"))
    else:
        given = given.filter(link__account=account)
    newest = given.order_by("-at").first()
    return newest.at + CONSENT_PERIOD if newest else None


def allowance(
    website: Website, *, profile: str, entitlement: Entitlement | None = None, now: datetime
) -> Allowance:
    """Return what cooldown, quota and plan allow for this profile."""
    rules = PROFILES[profile]
    jobs = ScanJob.objects.counted().filter(website=website, profile=profile)
    jobs = jobs.filter(created_at__gt=now - max(_DAY, rules.cooldown)).exclude(trigger=Trigger.RETEST)
    newest = jobs.values_list("created_at", flat=True).first()  # jobs are ordered newest first
    by_hand = jobs.filter(trigger=Trigger.HAND).values_list("created_at", flat=True)[: rules.by_hand]
    remaining = max(0, rules.by_hand - len(by_hand))
    waits_until = [newest + rules.cooldown] if newest else []
    if not remaining:
        waits_until.append(by_hand[rules.by_hand - 1] + _DAY)  # the oldest of them leaves the 24 hours
    limit = scans_per_month(entitlement)
    if entitlement and limit is not None:
        left_this_month = max(0, limit - usage.scans_of_month(entitlement.account_id, now))
        remaining = min(remaining, left_this_month)
        if not left_this_month:
            waits_until.append(usage.next_month(now))
    allowed_at = max(waits_until, default=now)
    return Allowance(allowed_at=allowed_at if allowed_at > now else None, remaining_today=remaining)


def check_quota(
    website: Website, *, profile: str, entitlement: Entitlement | None = None, now: datetime
) -> None:
    """Raise TooManyScans during the cooldown, or if no scan is left for the day or month."""
    allowed = allowance(website, profile=profile, entitlement=entitlement, now=now)
    if allowed.allowed_at is not None:
        raise TooManyScans(website, allowed.allowed_at, allowed.remaining_today)


def check_retests(website: Website, now: datetime) -> None:
    """Raise TooManyScans if no retest is left in these 24 hours; retests have no cooldown."""
    recent = ScanJob.objects.counted().filter(
        website=website, trigger=Trigger.RETEST, created_at__gt=now - _DAY
    )
    times = recent.values_list("created_at", flat=True)[:RETESTS_A_DAY]
    if len(times) == RETESTS_A_DAY:
        raise TooManyScans(website, times[RETESTS_A_DAY - 1] + _DAY, 0)


def check_cancelled(website: Website, account: Account, now: datetime) -> None:
    """Raise TooManyScans if the account cancelled too many scans in 24 hours before they began."""
    jobs = ScanJob.objects.filter(website=website, account=account, created_at__gt=now - _DAY)
    cancelled = jobs.filter(state=ScanJob.State.CANCELLED, started_at=None).order_by("-created_at")
    times = cancelled.values_list("created_at", flat=True)[:CANCELLED_A_DAY]
    if len(times) == CANCELLED_A_DAY:
        raise TooManyScans(website, times[CANCELLED_A_DAY - 1] + _DAY, 0)
