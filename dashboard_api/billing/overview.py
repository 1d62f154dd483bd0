"""API responses about an account: its plan, and the data versions of its websites."""

import hashlib
from datetime import datetime, timedelta

from audit.models import AuditEvent
from dashboard_api import limits
from dashboard_api.billing.usage import UNITS, uses
from dashboard_api.models import Account, BillingNotice, Entitlement, Plan, Revision, SiteLink, Usage
from signed_api import billing as contract
from signed_api.account import AccountChangesResponse, WebsiteVersion

HISTORY = 20  # newest changes of the entitlement in a response
_PUBLIC_FIELDS = frozenset(
    (
        *("plan", "status", "starts_on", "ends_on", "renews", "cancels", "features"),
        *("sites_limit", "calls_per_day", "scans_per_month", "seats"),
    )
)


def build_entitlement(account_id: int, now: datetime) -> contract.EntitlementResponse:
    """Return the account's plan, limits, usage, notices and history, even if the plan has ended."""
    own = Entitlement.objects.select_related("plan_revision").filter(account_id=account_id).first()
    today = now.date()
    first_day = today - timedelta(days=limits.USAGE_DAYS - 1)
    calls = dict(Usage.objects.filter(account_id=account_id, day__gte=first_day).values_list("day", "calls"))
    days = [first_day + timedelta(days=number) for number in range(limits.USAGE_DAYS)]
    notices = BillingNotice.objects.filter(account_id=account_id, at__gt=now - timedelta(days=31))
    billing_ref = Account.objects.values_list("billing_ref", flat=True).get(pk=account_id)
    return contract.EntitlementResponse(
        ok=True,
        entitlement=_entitlement(own, now) if own else None,
        limits=_limits(own, now) if own else [],
        calls_by_day=[contract.DayOfCalls(day=day, calls=calls.get(day, 0)) for day in days],
        notices=[
            contract.Notice(id=str(row.pk), kind=row.kind, limit=row.limit, days=row.days, at=row.at)
            for row in notices[:50]
        ],
        plans=[_plan(plan) for plan in Plan.objects.offered()],
        history=_history(account_id) if own else [],
        billing_ref=str(billing_ref),
    )


def build_account_changes(account_id: int) -> AccountChangesResponse:
    """Return the account's linked websites; a website's version changes with its data, answers or a pause."""
    links = SiteLink.objects.not_revoked().filter(account_id=account_id).select_related("website")
    rows = list(links.order_by("website__host"))
    # The data versions of these websites; row 0 is for data that all websites share.
    revisions = Revision.objects.in_bulk([0, *(link.website_id for link in rows)])
    of_all = revisions[0].tag if 0 in revisions else 0
    return AccountChangesResponse(
        ok=True,
        websites=[
            WebsiteVersion(
                host=link.website.host,
                link_id=link.link_id,
                version=_version(
                    revisions[link.website_id].tag if link.website_id in revisions else 0,
                    of_all,
                    link.paused_at,
                    link.answers_version,
                ),
            )
            for link in rows
        ],
    )


def _version(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _entitlement(own: Entitlement, now: datetime) -> contract.AccountEntitlement:
    today = now.date()
    return contract.AccountEntitlement(
        plan=own.plan,
        names=own.plan_revision.name if own.plan_revision else {},
        revision=own.plan_revision.revision if own.plan_revision else None,
        status=own.status_on(today),
        starts_on=own.starts_on,
        ends_on=own.ends_on,
        usable_until=own.usable_until,
        renews=own.renews,
        cancels=own.cancels,
        past_due_since=own.past_due_since,
        is_usable=own.is_usable_on(today),
        may_grow=own.may_grow_on(today),
        features=own.features,
    )


def _limits(own: Entitlement, now: datetime) -> list[contract.LimitUse]:
    overridden = {each.limit for each in own.own_overrides if each.holds_on(now.date())}
    return [
        contract.LimitUse(
            name=use.name,
            unit=UNITS[use.name],
            limit=use.limit,
            used=use.used,
            state=use.state,
            resets_at=use.resets_at,
            is_override=use.name in overridden,
        )
        for use in uses(own, now)
    ]


def _plan(plan: Plan) -> contract.OfferedPlan:
    terms = plan.terms
    return contract.OfferedPlan(
        slug=plan.slug,
        revision=plan.revision,
        names=plan.name,
        prices=plan.price_text,
        limits={name: getattr(terms, name) for name in UNITS},
        features=plan.features,
        trial_days=plan.trial_days,
    )


def _history(account_id: int) -> list[contract.EntitlementEvent]:
    """Return the newest changes of the entitlement from the audit log, without who made them."""
    ref = Account.objects.values_list("ref", flat=True).get(pk=account_id)
    events = AuditEvent.objects.filter(account=ref, action__in=("entitlement.created", "entitlement.changed"))
    changes = []
    for event in events.order_by("-id")[:HISTORY]:
        before, after = (_public(values) for values in (event.before, event.after))
        if after:
            changes.append(contract.EntitlementEvent(at=event.at, before=before, after=after))
    return changes


def _public(values: dict[str, object] | None) -> dict[str, object] | None:
    return None if values is None else {name: values[name] for name in values if name in _PUBLIC_FIELDS}
