"""Notices to owners about plans and limits: each is stored once, and the portal mails it once."""

from collections.abc import Iterable, Iterator
from datetime import date, datetime

from django.db import transaction

from dashboard_api.billing import entitlements, websites
from dashboard_api.billing.usage import Use, uses
from dashboard_api.models import BillingNotice, Entitlement

Kind = BillingNotice.Kind
Status = Entitlement.Status
SYSTEM = "billing"  # who ends overrides
# Each step has a notice: days before the end, days since the payment was due, and days after the end.
BEFORE_TRIAL_ENDS, BEFORE_PLAN_ENDS = (7, 3, 0), (14, 3, 0)
WHILE_PAST_DUE, AFTER_EXPIRY = (0, 3, 6), (0, 30)
LATE = 7  # days after which a missed notice is skipped


def watch(now: datetime) -> tuple[int, int]:
    """Store due notices, and end overrides after their last day; return the number of each."""
    ended, rows = 0, []
    unsettled = websites.accounts_to_settle()
    for entitlement in Entitlement.objects.select_related("account", "plan_revision").iterator():
        if not all(each.holds_on(now.date()) for each in entitlement.own_overrides):
            entitlements.change(entitlement.account, {}, by=SYSTEM, reason="An override ended.", now=now)
            ended += 1
        used = uses(entitlement, now)
        has_too_many_websites = used[0].is_exceeded  # ``uses`` begins with websites
        if entitlement.account_id in unsettled or has_too_many_websites:
            websites.settle(entitlement.account, now)
        entitlements.store_limit_states(entitlement, used)
        rows += [*_plan_notices(entitlement, now), *_limit_notices(entitlement, used, now)]
    with transaction.atomic():
        before = BillingNotice.objects.count()
        BillingNotice.objects.bulk_create(rows, ignore_conflicts=True, batch_size=500)
        added = BillingNotice.objects.count() - before
        # The next suspension of a resumed account gets a new notice.
        resumed = Entitlement.objects.exclude(status=Status.SUSPENDED).values("account")
        BillingNotice.objects.filter(kind=Kind.SUSPENDED, account__in=resumed).delete()
    return added, ended


def _plan_notices(entitlement: Entitlement, now: datetime) -> Iterator[BillingNotice]:
    """Yield the notice for the step that the plan has reached, if any."""
    today = now.date()
    status = entitlement.status_on(today)
    left = (entitlement.ends_on - today).days

    def notice(kind: str, step: str, days: int | None) -> BillingNotice:
        return BillingNotice(account=entitlement.account, kind=kind, period=step, days=days, at=now)

    if status == Status.SUSPENDED:
        yield notice(Kind.SUSPENDED, "", None)
    elif status == Status.EXPIRED:
        ended = entitlement.usable_until
        since = (today - ended).days - 1  # negative if staff or the provider ended it earlier
        if (step := _step_after(AFTER_EXPIRY, since)) is not None:
            yield notice(Kind.EXPIRED, f"{ended}:{step}", step)
    elif status == Status.PAST_DUE and entitlement.past_due_since:
        since = (today - entitlement.past_due_since).days
        if (step := _step_after(WHILE_PAST_DUE, since)) is not None:
            yield notice(Kind.PAST_DUE, f"{entitlement.past_due_since}:{step}", since)
    elif entitlement.starts_on > today:
        return
    elif entitlement.cancels or (
        status == Status.ACTIVE and not entitlement.renews and left <= max(BEFORE_PLAN_ENDS)
    ):
        step_left = _step_before(BEFORE_PLAN_ENDS, left)
        yield notice(Kind.PLAN_ENDS, f"{entitlement.ends_on}:{step_left}", max(left, 0))
    elif status == Status.TRIALING and left <= max(BEFORE_TRIAL_ENDS):
        step_left = _step_before(BEFORE_TRIAL_ENDS, left)
        yield notice(Kind.TRIAL_ENDS, f"{entitlement.ends_on}:{step_left}", max(left, 0))


def _step_before(steps: Iterable[int], left: int) -> str:
    """Return the step that is reached ``left`` days before the end; "at once" before the first step."""
    due = [step for step in steps if left <= step]
    return str(min(due)) if due else "at once"


def _step_after(steps: Iterable[int], days: int) -> int | None:
    """Return the step that was reached after ``days`` days, unless it is more than LATE days past."""
    due = [step for step in steps if step <= max(days, 0) <= step + LATE]
    return max(due) if due else None


def _limit_notices(entitlement: Entitlement, used: Iterable[Use], now: datetime) -> Iterator[BillingNotice]:
    """Yield a notice for each limit that is nearly or fully used in its period."""
    if not entitlement.is_usable_on(now.date()):
        return
    for use in used:
        if use.state != "ok":
            kind = Kind.LIMIT_NEAR if use.state == "near" else Kind.LIMIT_REACHED
            period = _period(use, now.date())
            yield BillingNotice(account=entitlement.account, kind=kind, limit=use.name, period=period, at=now)


def _period(use: Use, today: date) -> str:
    if use.resets_at is None:
        return f"of {use.limit}"  # once for each value of the limit
    return str(today) if use.name == "calls_per_day" else f"{today:%Y-%m}"
