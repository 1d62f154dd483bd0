"""The entitlement that an account should have, from its subscriptions and the plan that staff set."""

from contextlib import suppress
from datetime import date, datetime
from typing import Any

import msgspec

from dashboard_api.billing.snapshots import (
    CannotApply,
    Snapshot,
    best,
    effect,
    has_same_effect,
    is_paid_on,
    is_usable_on,
    latest,
)
from dashboard_api.models import Account, Entitlement, Plan, PlanPrice, Subscription
from dashboard_api.models.entitlements import AgreedTerms


def lock_entitlement(account: Account) -> Entitlement | None:
    """Lock the account until the transaction ends, and return its current entitlement."""
    Account.objects.select_for_update().get(pk=account.pk)  # only for the lock
    return Entitlement.objects.select_related("account", "plan_revision").filter(account=account).first()


def payment_fields(entitlement: Entitlement) -> tuple[str, ...]:
    """Return the fields that a payment may change; not the status while staff suspend the account."""
    fields = ("plan", "plan_revision", "starts_on", "ends_on", "renews", "cancels", "sites_limit", "features")
    return fields if entitlement.suspended_by_staff else (*fields, "status", "past_due_since")


def wanted_values(
    account: Account,
    now: datetime,
    fetched: dict[str, list[Snapshot]] | None = None,
    *,
    row: Entitlement | None = None,
) -> dict[str, Any] | None:
    """Return the values that the entitlement should have, if a plan is paid for or was set by staff.

    A plan that staff set counts like a subscription until its last day. ``fetched`` has the providers'
    current snapshots; ``row`` is the entitlement if it is not stored yet. Raises CannotApply.
    """
    subscriptions = updated_subscriptions(account, fetched or {})
    current = [(each.provider, with_lateness(each, latest(snapshots_of(each)))) for each in subscriptions]
    paid = best_paid_values(current, now)
    row = row or lock_entitlement(account)
    agreed = row.agreed_terms if row else None
    day = now.date()
    if paid is None:
        return values_as_agreed(agreed) if agreed and day <= agreed.usable_until else None
    if "plan_revision" in paid:
        paid["plan_revision"] = _revision_for(row, paid["plan_revision"])
    if row and agreed is not None and not _is_as_good(paid, agreed, day, row):
        return values_as_agreed(agreed)
    if row and row.starts_on > day and paid["status"] in ("active", "trialing", "past_due"):
        return paid | {"starts_on": day}
    return paid


def values_to_change(
    account: Account, target: dict[str, Any], *, row: Entitlement | None = None
) -> dict[str, Any]:
    """Return the values of ``target`` that differ from ``row``, by default the stored entitlement."""
    entitlement = row or lock_entitlement(account)
    if entitlement is None:
        return target
    allowed = payment_fields(entitlement)
    to = {name: value for name, value in target.items() if name in allowed}
    changed = {name for name, value in to.items() if getattr(entitlement, name) != value}
    if "plan_revision" in changed:  # a revision brings its own features
        changed |= to.keys() & {"features"}
    to = {name: value for name, value in to.items() if name in changed}
    ends_on = to.get("ends_on", entitlement.ends_on)
    if ends_on < to.get("starts_on", entitlement.starts_on):
        to["starts_on"] = ends_on
    return to


def best_paid_values(current: list[tuple[str, Snapshot]], now: datetime) -> dict[str, Any] | None:
    """Return the values of the best snapshot, if any counts; ``current`` has (provider, snapshot) pairs.

    Raises CannotApply.
    """
    # By id, because a snapshot has no hash, and snapshots of two providers may be equal.
    providers_of = {id(snapshot): provider for provider, snapshot in current}

    def size(snapshot: Snapshot) -> tuple[int, int]:
        with suppress(CannotApply):
            if plan := revision_sold(providers_of[id(snapshot)], snapshot):
                return plan.rank, plan.terms.websites
        return -1, -1

    chosen = best([snapshot for _provider, snapshot in current], now.date(), size)
    if chosen is None:
        return None
    provider = providers_of[id(chosen)]
    revision = revision_sold(provider, chosen)
    plan = {"plan_revision": revision} if chosen.price else {"plan": chosen.plan}
    return {**plan, **effect(chosen)}


def updated_subscriptions(account: Account, fetched: dict[str, list[Snapshot]]) -> list[Subscription]:
    """Return the account's subscriptions with the ``fetched`` snapshots, unsaved.

    A fetched snapshot is ordered right after the current one, so that every newer event replaces it.
    """
    rows = {(row.provider, row.object_id): row for row in Subscription.objects.filter(account=account)}
    for provider, snapshots in fetched.items():
        for new in snapshots:
            own = Subscription(provider=provider, object_id=new.object_id, account=account)
            row = rows.setdefault((provider, new.object_id), own)
            held = snapshots_of(row)
            if held and (row.unclear_until or not has_same_effect(latest(held), new)):
                second, rank = latest(held).order
                new = msgspec.structs.replace(new, order=(second, rank + 1))
                row.held = msgspec.to_builtins((new,))
            elif not held:
                row.held = msgspec.to_builtins((new,))
    return list(rows.values())


def snapshots_of(row: Subscription) -> tuple[Snapshot, ...]:
    """Return the decoded snapshots of a subscription."""
    return msgspec.convert(row.held, tuple[Snapshot, ...])


def with_lateness(row: Subscription, snapshot: Snapshot) -> Snapshot:
    """Return the snapshot with ``past_due_since``, from the subscription if the event did not say it."""
    if snapshot.status != "past_due" or snapshot.past_due_since is not None:
        return snapshot
    late_at, settled_at = row.late_at, row.settled_at
    if late_at is None or (settled_at is not None and settled_at > late_at):
        late_at = snapshot.occurred_at  # the event that began the delay has not arrived
    since = late_at.date() if late_at else None
    return msgspec.structs.replace(snapshot, past_due_since=since)


def revision_sold(provider: str, snapshot: Snapshot) -> Plan | None:
    """Return the plan revision that is paid for, if any; raises CannotApply for an unknown plan or price."""
    if not snapshot.status:
        return None
    if snapshot.price:
        prices = (snapshot.price, *snapshot.other_prices)
        sold = PlanPrice.objects.select_related("plan").filter(provider=provider, price__in=prices)
        price = sold.order_by("-plan__rank", "pk").first()
        if price is None:
            raise CannotApply("unknown_price")
        return price.plan
    revision = Plan.objects.newest(snapshot.plan)
    if revision is None:
        raise CannotApply("unknown_plan")
    return revision


def _revision_for(row: Entitlement | None, sold: Plan) -> Plan:
    """Return the later of the account's revision and ``sold``; the newest if the plan is new to it."""
    own = row.plan_revision if row else None
    if own is None or own.slug != sold.slug:
        return Plan.objects.newest(sold.slug) or sold
    return own if own.revision >= sold.revision else sold


def _is_as_good(paid: dict[str, Any], agreed: AgreedTerms, day: date, row: Entitlement) -> bool:
    """Return whether the paid plan serves the account at least as well as the plan that staff set."""
    is_usable = is_usable_on(paid, day)
    if day > agreed.usable_until:  # both plans may have ended: then the later one counts
        return is_usable or paid["status"] == "suspended" or paid["ends_on"] >= agreed.ends_on
    if agreed.starts_on > day or not is_usable:
        return is_usable
    new = paid.get("plan_revision")
    if new is None:  # the account keeps its revision of the same plan
        new = row.plan_revision if row.plan == paid["plan"] else Plan.objects.newest(paid["plan"])
    if new is None:
        return False
    old = _agreed_revision(agreed)
    if old is None and not set(agreed.features) <= set(new.features):
        return False
    new_size = (new.rank, new.terms.websites)
    old_size = (old.rank, old.terms.websites) if old else (new.rank, agreed.sites_limit)
    if new_size == old_size or (new_size > old_size and new.slug == agreed.plan):
        return is_paid_on(paid, day) and bool(paid["renews"] or paid["ends_on"] >= agreed.ends_on)
    return new_size > old_size


def _agreed_revision(agreed: AgreedTerms) -> Plan | None:
    return Plan.objects.get(pk=agreed.plan_revision) if agreed.plan_revision else None


def values_as_agreed(agreed: AgreedTerms) -> dict[str, Any]:
    """Return the entitlement values of the plan that staff set."""
    names = ("status", "starts_on", "ends_on", "renews")
    values: dict[str, Any] = {name: getattr(agreed, name) for name in names}
    values |= {"cancels": False, "past_due_since": None, "features": agreed.features}
    if (revision := _agreed_revision(agreed)) is not None:
        return values | {"plan_revision": revision}
    return values | {"plan": agreed.plan, "sites_limit": agreed.sites_limit}
