"""The only writer of entitlements; it records the values before and after each change."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import Any

import msgspec
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from audit.recording import record as audit
from dashboard_api.billing import websites
from dashboard_api.billing.snapshots import CannotApply
from dashboard_api.billing.usage import Use
from dashboard_api.billing.wanted import lock_entitlement, payment_fields, values_to_change, wanted_values
from dashboard_api.models import Account, Entitlement, Override, Plan
from dashboard_api.models.entitlements import new_entitlement
from dashboard_api.models.plans import check_limit

Status = Entitlement.Status
_SETTABLE = ("status", "starts_on", "ends_on", "renews", "cancels", "past_due_since", "features")
_AUDITED = (
    *("plan", "status", "starts_on", "ends_on", "renews", "cancels", "past_due_since", "suspended_by_staff"),
    *("sites_limit", "calls_per_day", "scans_per_month", "seats", "features"),
)


@transaction.atomic
def change(
    account: Account,
    to: Mapping[str, Any],
    *,
    by: str,
    reason: str = "",
    now: datetime | None = None,
    is_payment: bool = False,
) -> Entitlement:
    """Create or change the entitlement of ``account``, and return it; raises ValidationError.

    ``to`` maps fields of ``Entitlement`` to new values. ``plan`` is the slug of a plan, which sets its newest
    revision, or any other name; ``plan_revision`` sets one revision. A suspension by staff lasts until staff
    set another status: a payment (``is_payment``) never lifts it. An active plan that staff set is kept in
    ``agreed``, and applies again whenever payments give less.
    """
    now = now or timezone.now()
    entitlement = lock_entitlement(account)
    before = agreed_before = None
    was_as_agreed = True  # a new entitlement has no paid plan instead of the one that staff set
    if entitlement is None:
        entitlement = new_entitlement(account, {name: to[name] for name in ("starts_on",) if name in to})
    else:
        before = _audited_values(entitlement)
        agreed_before, was_as_agreed = entitlement.agreed, entitlement.is_as_agreed
    if is_payment:
        to = {name: value for name, value in to.items() if name in payment_fields(entitlement)}
    elif "status" in to:
        entitlement.suspended_by_staff = to["status"] == Status.SUSPENDED
    _assign(entitlement, to, now)
    entitlement.copy_limits(now.date())
    entitlement.full_clean()
    after = _audited_values(entitlement)
    old = before or dict.fromkeys(after)
    changed = [name for name, value in after.items() if value != old[name]]
    if changed and not is_payment:
        _store_agreed(entitlement, changed, was_as_agreed=was_as_agreed, sets_status="status" in to)
        if entitlement.agreed and ("ends_on" in changed or entitlement.agreed != agreed_before):
            _prefer_paid(entitlement, now)
        after = _audited_values(entitlement)
        changed = [name for name, value in after.items() if value != old[name]]
    if not changed:
        return entitlement
    entitlement.save()
    terms = entitlement.agreed_terms
    is_used = Q(pk=entitlement.plan_revision_id) | Q(pk=terms.plan_revision if terms else None)
    Plan.objects.filter(is_used, used_at=None).update(used_at=now)
    audit(
        "entitlement.changed" if before else "entitlement.created",
        entitlement,
        by=by,
        reason=reason,
        before={name: old[name] for name in changed} if before else None,
        after={name: after[name] for name in changed},
    )
    if before and "sites_limit" in changed:
        websites.settle(account, now)
    return entitlement


def store_limit_states(entitlement: Entitlement, used: Iterable[Use]) -> None:
    """Store the states of the limits, which dashboards show."""
    states = [
        {
            "name": use.name,
            "limit": use.limit,
            "state": use.state,
            "resets_at": f"{use.resets_at:%Y-%m-%dT%H:%M:%SZ}" if use.resets_at else None,
        }
        for use in used
        if use.limit is not None and use.used is not None
    ]
    if states != entitlement.limit_states:
        Entitlement.objects.filter(pk=entitlement.pk).update(limit_states=states)


def _store_agreed(
    entitlement: Entitlement, changed: Collection[str], *, was_as_agreed: bool, sets_status: bool
) -> None:
    """Store the plan that staff set in ``agreed``; a status other than active or suspended clears it.

    If a paid plan applies, only a new plan or last day replaces ``agreed``. Days that staff add to a paid
    plan do not renew: the payment renews it.
    """
    terms = entitlement.terms
    if terms is None and sets_status:
        entitlement.agreed = None
    elif terms is not None and (was_as_agreed or "plan" in changed or "ends_on" in changed):
        has_payments = entitlement.account.subscriptions.exists()
        renews = terms.renews and (was_as_agreed or "renews" in changed or not has_payments)
        entitlement.agreed = msgspec.to_builtins(msgspec.structs.replace(terms, renews=renews))


def _prefer_paid(entitlement: Entitlement, now: datetime) -> None:
    """Set the paid plan where it is better than the plan that staff set."""
    account = entitlement.account
    if not account.subscriptions.exists():
        return
    with suppress(CannotApply):  # an unknown price: keep what staff set
        if target := wanted_values(account, now, row=entitlement):
            _assign(entitlement, values_to_change(account, target, row=entitlement), now)
            entitlement.copy_limits(now.date())
            entitlement.full_clean()


@transaction.atomic
def extend(
    account: Account, *, days: int, by: str, reason: str = "", now: datetime | None = None
) -> Entitlement:
    """Extend the entitlement from its last day, or from today if that is later; reactivate it."""
    now = now or timezone.now()
    entitlement = lock_entitlement(account) or new_entitlement(account, {})
    to = extension(entitlement, days=days, today=now.date())
    return change(account, to, by=by, reason=reason, now=now)


def extension(entitlement: Entitlement, *, days: int, today: date, status: str = "") -> dict[str, Any]:
    """Return the values that extend the entitlement; ``status`` is the one that staff set along with it.

    Raises ValidationError if the days would have no effect, or would replace another plan that staff set.
    """
    agreed = entitlement.agreed_terms
    is_unpaid = entitlement.status == Status.SUSPENDED and not entitlement.suspended_by_staff
    if not status and (is_unpaid or entitlement.status == Status.PAST_DUE):
        raise ValidationError(
            "A payment is missing: also set the status to active, or more days have no effect."
        )
    if agreed and agreed.ends_on >= today and agreed.plan != entitlement.plan:
        raise ValidationError(
            f"Staff have set {agreed.plan} until {agreed.ends_on}, which follows what is paid "
            "for. To replace it, set "
            "the plan and its last day."
        )
    last = max(entitlement.ends_on, today, agreed.ends_on if agreed else today)
    try:
        to: dict[str, Any] = {"ends_on": last + timedelta(days=days)}
    except OverflowError as error:
        raise ValidationError({"ends_on": "That is beyond the calendar."}) from error
    return to | ({"status": Status.ACTIVE} if entitlement.status == Status.EXPIRED else {})


@transaction.atomic
def override(
    account: Account,
    limit: str,
    value: int | None,
    *,
    until: date | None = None,
    by: str,
    reason: str,
    now: datetime | None = None,
) -> Entitlement:
    """Replace the plan's value of a limit, until a day or for good; raises ValidationError."""
    now = now or timezone.now()
    check_limit(limit, value)
    if not reason.strip():
        raise ValidationError({"reason": "Say why."})
    if until is not None and until < now.date():
        raise ValidationError({"until": "The last day is past."})
    entitlement = _with_plan(account)
    others = [each for each in entitlement.own_overrides if each.limit != limit]
    own = Override(limit=limit, value=value, reason=reason.strip(), until=until)
    return change(account, {"overrides": [*others, own]}, by=by, reason=reason, now=now)


@transaction.atomic
def end_override(
    account: Account, limit: str, *, by: str, reason: str, now: datetime | None = None
) -> Entitlement:
    """Return a limit to the plan's value; raises ValidationError."""
    entitlement = _with_plan(account)
    others = [each for each in entitlement.own_overrides if each.limit != limit]
    return change(account, {"overrides": others}, by=by, reason=reason, now=now)


def _with_plan(account: Account) -> Entitlement:
    entitlement = lock_entitlement(account)
    if entitlement is None or entitlement.plan_revision is None:
        raise ValidationError(
            f"{account} has no plan of the list: give it one first (set_entitlement --plan)."
        )
    return entitlement


def _assign(entitlement: Entitlement, to: Mapping[str, Any], now: datetime) -> None:
    values = dict(to)  # each value is taken out when it is set: the rest are unknown fields
    if "plan_revision" in values:
        _move_to_revision(entitlement, values.pop("plan_revision"))
    elif "plan" in values and (values["plan"] != entitlement.plan or entitlement.pk is None):
        slug = values["plan"].strip()
        entitlement.plan = slug
        _move_to_revision(entitlement, Plan.objects.newest(slug))
    values.pop("plan", None)
    overrides = values.pop("overrides", entitlement.own_overrides)
    if "sites_limit" in values:
        overrides = _with_sites_limit(entitlement, overrides, values.pop("sites_limit"))
    overrides = [each for each in overrides if each.holds_on(now.date())]
    entitlement.overrides = msgspec.to_builtins(overrides)
    for name in _SETTABLE:
        if name in values:
            setattr(entitlement, name, values.pop(name))
    if values:
        raise ValueError(f"an entitlement has no {', '.join(values)}")


def _move_to_revision(entitlement: Entitlement, revision: Plan | None) -> None:
    """Move the entitlement to a revision; without one, clear the limits and overrides of the old revision."""
    old = entitlement.plan_revision
    entitlement.plan_revision = revision
    if revision is not None:
        entitlement.plan, entitlement.features = revision.slug, list(revision.features)
    elif old is not None:
        entitlement.overrides = []
        entitlement.calls_per_day = entitlement.scans_per_month = entitlement.seats = None


def _with_sites_limit(entitlement: Entitlement, overrides: list[Override], value: int) -> list[Override]:
    """Return the overrides with this limit of websites; without a revision, set it on the entitlement."""
    if entitlement.plan_revision is None:
        entitlement.sites_limit = value
        return overrides
    others = [each for each in overrides if each.limit != "websites"]
    if value == entitlement.plan_revision.terms.websites:
        return others
    return [*others, Override(limit="websites", value=value, reason="Agreed with the customer.")]


def _audited_values(entitlement: Entitlement) -> dict[str, Any]:
    """Return the values that the audit log keeps of a change."""
    values = {name: getattr(entitlement, name) for name in _AUDITED}
    revision, agreed = entitlement.plan_revision, entitlement.agreed_terms
    return values | {
        "set_by_staff": f"{agreed.plan} until {agreed.ends_on}" if agreed else None,
        "features": ", ".join(entitlement.features or []),
        "plan_revision": revision.revision if revision else None,
        "overrides": ", ".join(map(_in_words, entitlement.own_overrides)),
    }


def _in_words(override: Override) -> str:
    value = "none" if override.value is None else override.value
    return f"{override.limit} {value}{f' until {override.until}' if override.until else ''}"
