"""Revisions of plans: how they are saved, and how accounts move between them."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from audit.recording import record as audit
from dashboard_api.billing import entitlements
from dashboard_api.models import Account, Entitlement, Plan, PlanPrice, SiteLink

FIELDS = ("name", "rank", "limits", "features", "trial_days", "price_text", "is_offered")


@transaction.atomic
def save(plan: Plan, *, by: str, reason: str = "") -> Plan:
    """Save ``plan``, and return the stored revision; raises ValidationError.

    A revision is used once an account has had it. An unused newest revision is changed in place. A used one
    is never changed, except ``is_offered``: the values become the next revision.
    """
    # The number of the revision, which has to be unique, is only known below.
    plan.full_clean(exclude=["revision"], validate_constraints=False)
    stored = Plan.objects.select_for_update().filter(slug=plan.slug).order_by("-revision").first()
    values = {name: getattr(plan, name) for name in FIELDS}
    before = {name: getattr(stored, name) for name in FIELDS} if stored else {}
    changed = [name for name in FIELDS if before.get(name) != values[name]] if stored else list(FIELDS)
    if stored and not changed:
        return stored
    if stored is None or (stored.used_at is not None and changed != ["is_offered"]):
        saved = Plan(slug=plan.slug, revision=stored.revision + 1 if stored else 1, **values)
    else:
        saved = stored
        for name, value in values.items():
            setattr(saved, name, value)
    saved.full_clean()
    saved.save()
    audit(
        "plan.saved",
        saved,
        by=by,
        reason=reason,
        before={name: before[name] for name in changed} if stored else None,
        after={"revision": saved.revision} | {name: values[name] for name in changed},
    )
    return saved


def entitlements_to_move(plan: Plan) -> list[Entitlement]:
    """Return the entitlements on other revisions of the plan."""
    rows = Entitlement.objects.filter(plan_revision__slug=plan.slug).exclude(plan_revision=plan)
    return list(rows.select_related("account").order_by("account__ref"))


def websites_over(account: Account, plan: Plan) -> int:
    """Return how many websites the account has above the plan's limit."""
    return max(0, SiteLink.objects.not_revoked().filter(account=account).count() - plan.terms.websites)


@transaction.atomic
def move_accounts(plan: Plan, *, by: str, reason: str) -> list[Entitlement]:
    """Move all accounts of the plan to this revision, and return the moved entitlements.

    Prices that buy later revisions now buy this one: otherwise the next payment would move the accounts back.
    """
    if not reason.strip():
        raise ValidationError({"reason": "Say why."})
    later_prices = PlanPrice.objects.filter(plan__slug=plan.slug, plan__revision__gt=plan.revision)
    for price in later_prices.select_related("plan"):
        revision_before = price.plan.revision
        price.plan = plan
        price.save()
        audit(
            "planprice.changed",
            price,
            by=by,
            reason=reason,
            before={"revision": revision_before},
            after={"revision": plan.revision},
        )
    to: dict[str, Any] = {"plan_revision": plan}
    rows = entitlements_to_move(plan)
    return [entitlements.change(row.account, to, by=by, reason=reason) for row in rows]
