"""Payment events: each is stored and applied in one transaction, retried if it fails, then given up."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, time, timedelta
from typing import Any
from uuid import UUID

import msgspec
from django.db import IntegrityError, transaction
from django.db.models import Q

from dashboard_api.billing import entitlements
from dashboard_api.billing.callbacks import providers
from dashboard_api.billing.snapshots import (
    CannotApply,
    Content,
    CustomerLink,
    Ignored,
    Snapshot,
    is_ambiguous,
    latest,
    merge,
)
from dashboard_api.billing.wanted import (
    lock_entitlement,
    revision_sold,
    snapshots_of,
    updated_subscriptions,
    values_as_agreed,
    values_to_change,
    wanted_values,
    with_lateness,
)
from dashboard_api.models import (
    Account,
    BillingCustomer,
    CallbackEvent,
    Entitlement,
    Subscription,
)
from dashboard_api.models.entitlements import has_status
from foundation.operations.metrics import count_callback
from foundation.operations.storage import is_storage_fault
from foundation.sealing import CannotUnseal

logger = logging.getLogger(__name__)

State = CallbackEvent.State
# The pause after each failed attempt; after the last one, the event is given up.
RETRIES = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 720))
WAIT_FOR_ACCOUNT = timedelta(hours=24)  # then an event without an account is given up
ASK_PROVIDER_AFTER = timedelta(minutes=10)  # after contradicting events with the same timestamp
LONG_WAIT = timedelta(hours=1)  # a person should look at events that wait longer
LOOK_AGAIN = timedelta(minutes=5)  # how often a waiting event looks for its account
RECENT_DAYS = 31  # how far to look back for plans that began or ended: runs may have been missed
OVERDUE = timedelta(minutes=15)  # process_callbacks should have retried an event by then
BODY_LIFETIME = timedelta(days=30)
EVENT_LIFETIME = timedelta(days=400)
_RECORDED_FIELDS = ("plan", "status", "ends_on", "renews", "cancels", "past_due_since")


@transaction.atomic
def receive(provider: str, event_id: str, body: bytes, now: datetime) -> str:
    """Store and apply an event, and return its state; a storage fault undoes both."""
    if CallbackEvent.objects.filter(provider=provider, event_id=event_id).exists():
        return State.DUPLICATE
    event = CallbackEvent(provider=provider, event_id=event_id, received_at=now)
    event.keep_body(body)
    try:
        with transaction.atomic():
            event.save(force_insert=True)
    except IntegrityError:  # another process has stored it just now
        return State.DUPLICATE
    process(event, now)
    return event.state


def process(event: CallbackEvent, now: datetime) -> None:
    """Apply an event that the caller has locked, and store its new state."""
    event.attempts += 1
    event.error, event.next_at = "", None
    try:
        with transaction.atomic():
            content = providers.read(event.provider, event.body())
            event.type, event.occurred_at = content.type, content.occurred_at
            # An ignored event has neither a customer nor an object.
            event.customer = getattr(content, "customer", "")
            event.object_id = getattr(content, "object_id", "")
            event.state = _apply(event, content, now)
    except CannotApply as error:
        _fail(event, error.code, now)
    except CannotUnseal:
        _fail(event, "cannot_unseal", now)
    except Exception as error:
        if is_storage_fault(error):
            raise
        logger.exception("%s cannot be applied", event)
        _fail(event, type(error).__name__, now)
    event.save()
    transaction.on_commit(lambda: count_callback(event.provider, event.state))


def process_due(now: datetime) -> dict[str, int]:
    """Apply the events that are due, each in its own transaction; return their number by state."""
    due = CallbackEvent.objects.filter(next_at__lte=now).order_by("id").values_list("pk", flat=True)
    states: dict[str, int] = {}
    for pk in list(due):
        state = replay(pk, now, only_due=True)
        if state:
            states[state] = states.get(state, 0) + 1
    _settle_contradictions(now)
    _settle_ends(now)
    return states


def _settle_contradictions(now: datetime) -> None:
    """Ask providers for the current state where events with the same timestamp contradict each other."""
    unclear = Subscription.objects.filter(unclear_until__lte=now).select_related("account")
    for row in [each for each in unclear if providers.can_fetch(each.provider)]:
        try:
            fetched = fetch(row.account, now)
        except CannotApply as error:
            logger.error("%s cannot be asked: %s", row.provider, error.code)  # noqa: TRY400 - the code says it
        else:
            adopt(row.account, fetched, by=f"payments ({row.provider})", reason="Asked the provider", now=now)


def _settle_ends(now: datetime) -> None:
    """Change entitlements when the paid plan or the plan that staff set began or ended without an event.

    Plans that staff or an event ended, and other changes by hand, are left alone.
    """
    today = now.date()
    days = [today - timedelta(days=number) for number in range(RECENT_DAYS)]
    oldest = days[-1]
    expired = Entitlement.Status.EXPIRED
    # The status of a day follows from the dates, so it can be "expired" before that is stored.
    has_ended = has_status(expired, today, prefix="entitlement__") & ~Q(entitlement__status=expired)
    is_recent = Q(entitlement__ends_on__gte=oldest) | Q(entitlement__past_due_since__gte=oldest)
    due = Account.objects.filter(
        (has_ended & is_recent)
        | Q(entitlement__agreed__starts_on__in=map(str, days)),  # texts, because ``agreed`` is JSON
        subscriptions__isnull=False,
    )
    for account in due.distinct():
        try:
            with transaction.atomic():
                row = lock_entitlement(account)  # lock before reading the subscriptions
                if row is None:
                    continue
                has_expired = row.status != expired and row.status_on(today) == expired
                if has_expired or _should_begin(row, now):
                    _follow(account, by="payments", reason="Another plan has ended or begun", now=now)
        except CannotApply as error:
            logger.error("%s cannot have another plan: %s", account, error.code)  # noqa: TRY400 - as above


def _should_begin(row: Entitlement, now: datetime) -> bool:
    """Return whether the plan that staff set should apply since its first day, but does not yet."""
    agreed = row.agreed_terms
    if agreed is None or row.is_as_agreed:
        return False
    # No payment gave more on its first day, or gives more now.
    began = datetime.combine(agreed.starts_on, time(), UTC)
    return all(wanted_values(row.account, at, row=row) == values_as_agreed(agreed) for at in (began, now))


def fetch(account: Account, now: datetime) -> dict[str, list[Snapshot]]:
    """Return the account's current snapshots by provider, from their APIs; raises CannotApply."""
    customers = [row for row in account.billing_customers.all() if providers.can_fetch(row.provider)]
    return {row.provider: providers.fetch(row.provider, row.customer, now) for row in customers}


@transaction.atomic
def adopt(
    account: Account, fetched: dict[str, list[Snapshot]], *, by: str, reason: str, now: datetime
) -> None:
    """Store the providers' current snapshots, and change the entitlement; raises CannotApply."""
    account = Account.objects.select_for_update().get(pk=account.pk)
    for row in updated_subscriptions(account, fetched):
        row.unclear_until = None
        row.save()
    _follow(account, by=by, reason=reason, now=now)


def _follow(account: Account, *, by: str, reason: str, now: datetime) -> None:
    """Change the entitlement to the values of ``wanted_values``; raises CannotApply."""
    target = wanted_values(account, now)
    if target is not None and (to := values_to_change(account, target)):
        entitlements.change(account, to, by=by, reason=reason, now=now, is_payment=True)


@transaction.atomic
def replay(pk: int, now: datetime, *, only_due: bool = False) -> str:
    """Apply an event again, and return its state; empty if it is locked, not due, or has no body."""
    rows = CallbackEvent.objects.select_for_update(skip_locked=True).filter(pk=pk)
    event = (rows.filter(next_at__lte=now) if only_due else rows).first()
    if event is None or not event.sealed_body:
        return ""
    if not only_due:
        event.attempts = 0
        event.received_at = min(event.received_at, now)  # a clock that was ahead would prolong the wait
    process(event, now)
    return str(event.state)


@transaction.atomic
def replace_customer(pk: int, now: datetime) -> str:
    """Make the customer of an event that failed with ``second_customer`` the payer; return its state.

    Payments by the account's previous customer at this provider no longer count. Payments by the new customer
    for another account now count for this one; the other account keeps its plan until its last day, unless
    it has another payment or a plan that staff set. The state is empty if the event has another error. Raises
    CannotApply, and changes nothing, if the event fails again.
    """
    event = CallbackEvent.objects.select_for_update().filter(pk=pk, error="second_customer").first()
    if event is None or event.account_id is None:
        return ""
    customers = BillingCustomer.objects.filter(provider=event.provider)
    payers = Q(pk=event.account_id) | Q(pk__in=customers.filter(customer=event.customer).values("account"))
    accounts = list(Account.objects.select_for_update().filter(payers).order_by("pk"))
    customers.filter(Q(account=event.account_id) | Q(customer=event.customer)).delete()
    subscriptions = Subscription.objects.filter(provider=event.provider)
    subscriptions.filter(account=event.account_id).delete()
    for row in subscriptions.filter(account__in=accounts):  # of the other account
        if row.object_id == event.object_id or latest(snapshots_of(row)).customer == event.customer:
            row.account_id = event.account_id
            row.save()
    state = replay(pk, now)
    # Duplicate or superseded: the subscriptions that moved with the customer say the same, or are newer.
    if state not in (State.APPLIED, State.DUPLICATE, State.SUPERSEDED):
        raise CannotApply(CallbackEvent.objects.get(pk=pk).error)
    by = f"payments ({event.provider})"
    reason = f"Event {pk}: another customer pays"
    for account in accounts:
        # Nothing is fetched: the stored subscriptions have changed accounts.
        adopt(account, {}, by=by, reason=reason, now=now)
        is_unpaid = wanted_values(account, now) is None
        if is_unpaid and (own := lock_entitlement(account)) and own.renews:
            entitlements.change(account, {"renews": False}, by=by, reason=reason, now=now, is_payment=True)
    return state


def prune(now: datetime) -> int:
    """Delete bodies after 30 days and events after 400; return how many rows changed."""
    old = CallbackEvent.objects.filter(received_at__lt=now - BODY_LIFETIME).exclude(sealed_body="")
    deleted, _each = CallbackEvent.objects.filter(received_at__lt=now - EVENT_LIFETIME).delete()
    return old.update(sealed_body="", next_at=None) + deleted


def _apply(event: CallbackEvent, content: Content, now: datetime) -> str:
    if isinstance(content, Ignored):
        event.error = content.why
        return State.IGNORED
    account = _account_of(event.provider, content)
    if account is None:
        give_up_at = event.received_at + WAIT_FOR_ACCOUNT
        if now >= give_up_at:
            raise CannotApply("no_account")
        event.next_at = min(now + LOOK_AGAIN, give_up_at)
        return State.WAITING
    account = Account.objects.select_for_update().get(pk=account.pk)
    event.account = account
    if content.customer:
        _link_customer(event.provider, account, content.customer)
    if isinstance(content, CustomerLink):
        _apply_waiting(event, content.customer, now)
        return State.APPLIED
    return _apply_snapshot(event, account, content, now)


def _account_of(provider: str, content: Snapshot | CustomerLink) -> Account | None:
    if content.billing_ref:
        try:
            ref = UUID(content.billing_ref)
        except ValueError:
            return None
        return Account.objects.filter(billing_ref=ref).first()
    customers = BillingCustomer.objects.select_related("account")
    known = customers.filter(provider=provider, customer=content.customer).first()
    return known.account if known else None


def _link_customer(provider: str, account: Account, customer: str) -> None:
    """Link the provider's customer to the account; raises CannotApply if either has another link."""
    same_provider = BillingCustomer.objects.filter(provider=provider)
    for row in same_provider.filter(Q(account=account) | Q(customer=customer)):
        if (row.account_id, row.customer) != (account.pk, customer):
            raise CannotApply("second_customer")
        return  # they are linked already
    with _unless_taken("second_customer"):
        BillingCustomer.objects.create(provider=provider, account=account, customer=customer)


@contextmanager
def _unless_taken(problem: str) -> Iterator[None]:
    """Turn an IntegrityError into CannotApply: a concurrent event gave the row to another account."""
    try:
        yield
    except IntegrityError as error:
        raise CannotApply(problem) from error


def _apply_waiting(link_event: CallbackEvent, customer: str, now: datetime) -> None:
    """Apply the customer's events that wait for their account, or were given up without one.

    Events that another process has locked are skipped: it applies them.
    """
    gave_up = Q(state=State.DEAD, error="no_account") & ~Q(sealed_body="")
    waiting = CallbackEvent.objects.select_for_update(skip_locked=True).filter(
        Q(state=State.WAITING) | gave_up, provider=link_event.provider, customer=customer
    )
    for event in waiting.order_by("id"):
        process(event, now)


def _apply_snapshot(event: CallbackEvent, account: Account, new: Snapshot, now: datetime) -> str:
    """Store the snapshot if it is newer, and change the entitlement; raises CannotApply."""
    revision_sold(event.provider, new)  # an unknown plan fails before anything is stored
    row = Subscription.objects.filter(provider=event.provider, object_id=new.object_id).first()
    if row is None:
        row = Subscription(provider=event.provider, object_id=new.object_id, account=account)
    elif row.account_id != account.pk:
        raise CannotApply("other_account")
    before = snapshots_of(row)
    current_before = with_lateness(row, latest(before)) if before else None
    merged = merge(before, new)
    has_new_lateness = _record_lateness(row, new)
    if merged == before and not has_new_lateness:
        return State.DUPLICATE if new in before else State.SUPERSEDED
    row.held = msgspec.to_builtins(merged)
    _mark_contradiction(event, row, merged, now)
    with _unless_taken("other_account"):
        row.save()
    if with_lateness(row, latest(merged)) != current_before:
        target = wanted_values(account, now)
        if target is not None:
            _change_and_record(event, account, target, now)
    return State.APPLIED if latest(merged) == new else State.SUPERSEDED


def _record_lateness(row: Subscription, new: Snapshot) -> bool:
    """Record when payments became late, or were last in order; return whether that changed the row."""
    at = new.occurred_at
    if at is None or (new.status == "past_due" and new.past_due_since is None):
        return False
    field = "late_at" if new.status == "past_due" else "settled_at"
    recorded_at = getattr(row, field)
    if recorded_at is not None and recorded_at >= at:
        return False
    setattr(row, field, at)
    return True


def _mark_contradiction(
    event: CallbackEvent, row: Subscription, merged: tuple[Snapshot, ...], now: datetime
) -> None:
    """Mark a subscription with contradicting events of the same timestamp, or clear the mark."""
    if len(merged) == 1 or not is_ambiguous(merged):
        row.unclear_until = None
        return
    logger.error("%s contradicts another event of the same moment", event)
    row.unclear_until = now + ASK_PROVIDER_AFTER


def _change_and_record(event: CallbackEvent, account: Account, target: dict[str, Any], now: datetime) -> None:
    event.before = recorded_values(account)
    to = values_to_change(account, target)
    if to:
        reason = f"Event {event.pk} of {event.provider}"
        by = f"payments ({event.provider})"
        entitlements.change(account, to, by=by, reason=reason, now=now, is_payment=True)
    event.after = recorded_values(account)


def recorded_values(account: Account) -> dict[str, Any] | None:
    """Return the entitlement's values that an event records before and after it."""
    row = lock_entitlement(account)
    return msgspec.to_builtins({name: getattr(row, name) for name in _RECORDED_FIELDS}) if row else None


def _fail(event: CallbackEvent, code: str, now: datetime) -> None:
    """Schedule the next attempt, or give the event up."""
    retries = RETRIES[event.attempts - 1 : event.attempts]  # one pause; empty after the last attempt
    event.error = code
    event.state = State.FAILED if retries and code != "no_account" else State.DEAD
    event.next_at = now + retries[0] if event.state == State.FAILED else None
    logger.error("%s: %s (%s)", event, event.state, code)


def undelivered(now: datetime) -> dict[str, int]:
    """Return how many events need a person's attention, by reason."""
    rows = CallbackEvent.objects.order_by()  # unordered: they are only counted
    overdue = rows.filter(next_at__lt=now - OVERDUE)
    return {
        "dead": rows.filter(state=State.DEAD).count(),
        "failed": rows.filter(state=State.FAILED).count(),
        "waiting": rows.filter(state=State.WAITING, received_at__lt=now - LONG_WAIT).count(),
        "overdue": overdue.count(),
        "unclear": Subscription.objects.exclude(unclear_until=None).count(),
    }
