"""Scans by schedule: their times, changes, and the queueing of due scans."""

import hashlib
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from audit.recording import record as audit
from dashboard_api.crawler import policy, queue
from dashboard_api.models import Entitlement, OwnershipClaim, ScanJob, ScanOptOut, ScanSchedule, SiteLink
from dashboard_api.models.entitlements import has_status
from signed_api.limits import SCAN_HOURS, SCAN_START_HOUR
from signed_api.scans import PROFILES, ScanScheduleRequest

BY = "schedule"  # who queues scans and pauses schedules
BY_DEFAULT = "default"  # who set a schedule that nobody has chosen
_NIGHT_STARTS, _DEFAULT_HOURS = 6, 2  # windows of two hours, which begin at 0:00 to 5:00
_SCANS_A_MONTH = 4  # of a weekly schedule: what a plan must include for each website
MAX_BAD_RUNS = 3  # in a row, then a schedule pauses itself
_MAX_DAYS = 400  # how far ahead to look for the time of a scan
_LAST_YEAR = 9990  # Python counts days until 9999
_LAST_DAY_OF_ALL_MONTHS = 28
# Reasons of scans that count as bad runs: the website caused them.
_BY_THE_WEBSITE = {
    "blocked",
    "no_address",
    "alias_missing",
    "servers_silent",
    "private_address",
    "connect_failed",
    "redirected_away",
    "redirect_loop",
    "timed_out",
    "broken_response",
    "tls_invalid",
}
Frequency = ScanSchedule.Frequency


def of(link_id: int) -> ScanSchedule:
    """Return the schedule of the link, or an unsaved schedule that is off."""
    existing = ScanSchedule.objects.filter(link=link_id).first()
    return existing or ScanSchedule(link_id=link_id, anchor=timezone.now().date())


@transaction.atomic
def change(link: SiteLink, request: ScanScheduleRequest, *, by: str, now: datetime) -> ScanSchedule:
    """Set the schedule; raise OptedOut, NotScannable, NotIncluded or ConsentMissing. Repeatable."""
    SiteLink.objects.select_for_update().get(pk=link.pk)  # there may be no schedule to lock yet
    schedule = ScanSchedule.objects.select_for_update(of=("self",)).filter(link=link).first()
    schedule = schedule or of(link.pk)
    profile = request.profile or PROFILES[0]
    if request.frequency != Frequency.OFF:
        policy.check_opted_out(link.website)
        _check_plan(link, profile, request.frequency, now)
        policy.check_scannable(link.website, profile=profile, account=link.account)
        if profile == ScanJob.Profile.DEEP:
            policy.check_consent(link.account, link.website, now)
    values = {
        "frequency": request.frequency,
        "profile": profile,
        "start_hour": SCAN_START_HOUR if request.start_hour is None else request.start_hour,
        "hours": request.hours or SCAN_HOURS,
        "time_zone": request.time_zone or "UTC",
        "paused_until": request.paused_until,
    }
    before = {name: getattr(schedule, name) for name in values}
    is_chosen = schedule.pk and schedule.changed_by != BY_DEFAULT
    if is_chosen and before == values and not schedule.pause_reason and _is_planned(schedule, now):
        return schedule
    for name, value in values.items():
        setattr(schedule, name, value)
    schedule.anchor = now.astimezone(ZoneInfo(schedule.time_zone)).date()
    schedule.pause_reason, schedule.blocked_runs = "", 0
    schedule.changed_by, schedule.changed_at = by, now
    schedule.next_at = next(times(schedule, now), None)
    schedule.save()
    audit(
        "scan.scheduled",
        schedule,
        by=by,
        host=link.website.host,
        before={name: str(value) for name, value in before.items()},
        after={name: str(value) for name, value in values.items()},
    )
    return schedule


def add_defaults(now: datetime, links: QuerySet[SiteLink] | None = None) -> int:
    """Add a weekly schedule to each link that an owner has proven and scheduled never; return their number.

    ``links`` limits the links. The account's plan must include a weekly scan of all its websites. Scans are
    standard: a quick scan looks for no exposed files.
    """
    return sum(_add_default(link, now) for link in _without_schedule(links, now))


def _without_schedule(links: QuerySet[SiteLink] | None, now: datetime) -> QuerySet[SiteLink]:
    """Return the links for which ``add_defaults`` adds a schedule, unless their websites opted out."""
    links = SiteLink.objects.not_revoked() if links is None else links.filter(revoked_at=None)
    day, plan = now.date(), "account__entitlement__"
    is_paid = has_status(Entitlement.Status.ACTIVE, day, prefix=plan)
    is_paid |= has_status(Entitlement.Status.TRIALING, day, prefix=plan)
    has_begun = Q(account__entitlement__starts_on__lte=day)
    claims = OwnershipClaim.objects.current(now).exclude(method=OwnershipClaim.Method.MANUAL)
    is_proven = Exists(claims.filter(account=OuterRef("account"), host=OuterRef("website__host")))
    links = links.filter(is_paid, has_begun, is_proven, paused_at=None, scan_schedule=None)
    links = links.filter(website__archived_at=None, website__verified_at__isnull=False)
    of_account = SiteLink.objects.not_revoked().filter(account=OuterRef("account")).order_by()
    websites = Subquery(of_account.values("account").annotate(number=Count("pk")).values("number"))
    links = links.annotate(needed=websites * _SCANS_A_MONTH)
    limit = F("account__entitlement__scans_per_month")
    is_enough = Q(account__entitlement__scans_per_month=None) | Q(needed__lte=limit)
    return links.filter(is_enough).select_related("account", "website")


@transaction.atomic
def _add_default(link: SiteLink, now: datetime) -> bool:
    """Add the default schedule of the link; return False if its website opted out, or has a schedule now."""
    SiteLink.objects.select_for_update().get(pk=link.pk)  # as in ``change``
    is_opted_out = ScanOptOut.objects.of(link.website.host, ())
    if is_opted_out or ScanSchedule.objects.filter(link=link).exists():
        return False
    digest = hashlib.sha256(link.website.host.encode()).digest()
    schedule = ScanSchedule(
        link=link,
        frequency=Frequency.WEEKLY,
        profile=ScanJob.Profile.STANDARD,
        start_hour=digest[0] % _NIGHT_STARTS,
        hours=_DEFAULT_HOURS,
        time_zone=link.account.time_zone,
        anchor=now.date() + timedelta(days=digest[1] % 7),
        changed_by=BY_DEFAULT,
        changed_at=now,
    )
    schedule.next_at = next(times(schedule, now), None)
    schedule.save()
    names = ("frequency", "profile", "start_hour", "hours", "time_zone", "anchor")
    after = {name: str(getattr(schedule, name)) for name in names}
    audit("scan.scheduled", schedule, by=BY_DEFAULT, host=link.website.host, after=after)
    return True


def next_times(schedule: ScanSchedule, now: datetime) -> list[datetime]:
    """Return when the next three scans begin."""
    return list(islice(times(schedule, now), 3))


def times(schedule: ScanSchedule, after: datetime) -> Iterator[datetime]:
    """Yield the times of scans after ``after``: one in each window, the same on every call."""
    if schedule.frequency == Frequency.OFF or schedule.pause_reason:
        return
    zone = ZoneInfo(schedule.time_zone)
    first = after.astimezone(zone).date() - timedelta(days=1)  # yesterday's window can reach into today
    if schedule.paused_until:
        first = max(first, schedule.paused_until)
    if first.year > _LAST_YEAR:
        return
    for number in range(_MAX_DAYS):
        day = first + timedelta(days=number)
        if not _is_due_on(schedule, day):
            continue
        begin = datetime.combine(day, time(schedule.start_hour), tzinfo=zone).astimezone(UTC)
        at = begin + timedelta(seconds=_spread(schedule, day))
        if at > after:
            yield at


def _is_planned(schedule: ScanSchedule, now: datetime) -> bool:
    """Return whether ``next_at`` is due, or is the time that the schedule gives now."""
    is_due = schedule.next_at is not None and schedule.next_at <= now
    return is_due or schedule.next_at == next(times(schedule, now), None)


def _is_due_on(schedule: ScanSchedule, day: date) -> bool:
    if schedule.frequency == Frequency.WEEKLY:
        return day.weekday() == schedule.anchor.weekday()
    if schedule.frequency == Frequency.MONTHLY:
        return day.day == min(schedule.anchor.day, _LAST_DAY_OF_ALL_MONTHS)
    return True


def _spread(schedule: ScanSchedule, day: date) -> int:
    """Return the offset from the start of the window in seconds, which differs between websites and days."""
    digest = hashlib.sha256(f"{schedule.link_id}/{day}".encode()).digest()
    window = schedule.hours * 3600
    return int.from_bytes(digest[:4]) % window // 60 * 60  # the start of a minute


def queue_due(now: datetime) -> int:
    """Queue due scans and return their number; skip scans that are not allowed now."""
    # At most 100: the next look of a worker queues the rest.
    return sum(_queue(pk, now) for pk in ScanSchedule.objects.due(now).values_list("pk", flat=True)[:100])


@transaction.atomic
def _queue(pk: int, now: datetime) -> bool:
    due = ScanSchedule.objects.due(now).select_for_update(skip_locked=True, of=("self",))
    schedule = due.filter(pk=pk).select_related("link__account", "link__website").first()
    if schedule is None:  # another worker has it
        return False
    is_due = schedule.next_at is not None and schedule.next_at <= now
    is_new = is_due and _add(schedule, now)  # not due: it was planned while the clock was ahead
    # If a smaller scan of the website was queued just now, this one is no longer due, and keeps its time.
    if ScanSchedule.objects.due(now).filter(pk=pk).exists():
        schedule.next_at = next(times(schedule, now), None)
        schedule.save(update_fields=["next_at"])
    return is_new


def _add(schedule: ScanSchedule, now: datetime) -> bool:
    """Queue the scan and return whether it is new."""
    link = schedule.link
    try:
        with transaction.atomic():
            _check_plan(link, schedule.profile, schedule.frequency, now)
            _, is_new = queue.add(
                link.website,
                by=BY,
                account=link.account,
                profile=schedule.profile,
                trigger=ScanJob.Trigger.SCHEDULE,
                now=now,
            )
    except ValidationError:  # not allowed now; the next time is tried as well
        return False
    return is_new


def _check_plan(link: SiteLink, profile: str, frequency: str, now: datetime) -> None:
    """Raise NotIncluded unless the plan is usable now, and includes the website and the schedule.

    Deep scans attack the website, so they are monthly in every plan.
    """
    feature = policy.DAILY_FEATURE if frequency == Frequency.DAILY else ""
    policy.check_plan(link, profile=profile, feature=feature, now=now)
    if profile == ScanJob.Profile.DEEP and frequency != Frequency.MONTHLY:
        raise policy.NotIncluded("Deep scans by schedule run once a month.", code="monthly_only")


def note_end(job: ScanJob) -> None:
    """Count scheduled scans that failed because of the website; the third in a row pauses the schedule."""
    if job.trigger != ScanJob.Trigger.SCHEDULE or job.account_id is None:
        return
    schedule = ScanSchedule.objects.filter(link__account=job.account_id, link__website=job.website_id).first()
    if schedule is None or job.state == ScanJob.State.CANCELLED:
        return
    if job.reason not in _BY_THE_WEBSITE:
        schedule.blocked_runs = 0
    else:
        schedule.blocked_runs += 1
        if schedule.blocked_runs >= MAX_BAD_RUNS:
            schedule.pause_reason, schedule.next_at = job.reason, None
            audit("scan.paused", schedule, by=BY, host=job.website.host, reason=job.reason)
    schedule.save(update_fields=["blocked_runs", "pause_reason", "next_at"])
