"""Usage: how much of each limit an account has used."""

from datetime import UTC, datetime, time, timedelta
from typing import NamedTuple

from dashboard_api import limits
from dashboard_api.models import Entitlement, ScanJob, SiteLink, Usage

# The unit of each limit.
UNITS = {
    "websites": "websites",
    "calls_per_day": "calls",
    "scans_per_month": "scans",
    "seats": "members",
}


class Use(NamedTuple):
    """A limit and its usage; ``limit`` is empty if unlimited, ``used`` if this app does not count it."""

    name: str
    limit: int | None
    used: int | None
    resets_at: datetime | None

    @property
    def is_exceeded(self) -> bool:
        """Whether usage is above the limit, such as after a change to a smaller plan."""
        return self.limit is not None and self.used is not None and self.used > self.limit

    @property
    def state(self) -> str:
        """State of the limit: ``ok``, ``near`` or ``reached``; a limit of 0 is always ``ok``."""
        if not self.limit or self.used is None or self.used * 100 < self.limit * limits.NEAR_PERCENT:
            return "ok"
        return "reached" if self.used >= self.limit else "near"


def uses(entitlement: Entitlement, now: datetime) -> list[Use]:
    """Return the account's limits, each with its usage."""
    account, own = entitlement.account_id, entitlement.limits
    links = SiteLink.objects.not_revoked().filter(account_id=account)
    calls = Usage.objects.filter(account_id=account, day=now.date()).values_list("calls", flat=True).first()
    scans = scans_of_month(account, now)
    return [
        Use("websites", own.websites, links.count(), None),
        Use("calls_per_day", own.calls_per_day, calls or 0, next_day(now)),
        Use("scans_per_month", own.scans_per_month, scans, next_month(now)),
        Use("seats", own.seats, None, None),
    ]


def scans_of_month(account_id: int, now: datetime) -> int:
    """Return how many scans the account has used this month (UTC); retests do not count."""
    jobs = ScanJob.objects.counted().filter(account=account_id, created_at__gte=_first_of_month(now))
    return jobs.exclude(trigger=ScanJob.Trigger.RETEST).count()


def next_day(now: datetime) -> datetime:
    """Return the next midnight in UTC."""
    return datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), time.min, UTC)


def next_month(now: datetime) -> datetime:
    """Return the start of the next month in UTC."""
    some_day_of_it = _first_of_month(now) + timedelta(days=32)
    return some_day_of_it.replace(day=1)


def _first_of_month(now: datetime) -> datetime:
    return datetime.combine(now.astimezone(UTC).date().replace(day=1), time.min, UTC)
