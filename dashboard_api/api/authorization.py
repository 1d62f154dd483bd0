"""Authorization: checks the link first, so that a stranger's link is just unknown, and then the plan."""

from datetime import date, datetime

from dashboard_api.errors import InactiveEntitlement, RevokedLink, UnknownLink
from dashboard_api.models import Entitlement, OwnershipClaim
from dashboard_api.models.sites import original_host
from dashboard_api.queries.credentials import AccountSite, EntitlementTerms
from signed_api.example_calls import LINK
from signed_api.values import SiteRequest


def authorize(link: AccountSite | None, request: SiteRequest, now: datetime) -> AccountSite:
    """Return ``link`` if it leads to the requested host and the entitlement is usable at ``now``.

    Raises UnknownLink (404), InactiveEntitlement or RevokedLink (403): the specification, section 4.
    """
    if link is None:
        raise unknown_link(request.link_id)
    # original_host: a former owner must not learn that another account has proven the website since.
    if (host := original_host(link.host)) != request.host:
        raise UnknownLink(f"This link_id belongs to the website {host}: send that host.", host=host)
    check_entitlement(link.entitlement, now.date())
    if link.revoked_at is not None:
        raise revoked_link(request.portal_account_ref, request.host, link.revoked_at)
    if link.paused_at is not None:
        raise paused_link(link.entitlement, now.date())
    return link


def unknown_link(link_id: str) -> UnknownLink:
    """Return the error for a link that does not belong to the account."""
    if link_id == LINK["link_id"]:
        return UnknownLink(
            "This is the link_id of the example website, which a test secret (es1_test_) reaches."
        )
    return UnknownLink()


def paused_link(entitlement: EntitlementTerms | Entitlement | None, today: date) -> InactiveEntitlement:
    """Return the error for a website that is paused because the plan includes fewer."""
    return InactiveEntitlement(
        "The plan of this account includes fewer websites, so this one is paused.",
        plan=entitlement.plan if entitlement else None,
        status=entitlement.status_on(today) if entitlement else "expired",
        ends_on=entitlement.ends_on.isoformat() if entitlement else None,
        reason="websites_limit",
    )


def revoked_link(account_ref: str, host: str, at: datetime) -> RevokedLink:
    """Return the error for a revoked link; the account's last claim to the website gives the reason."""
    claims = OwnershipClaim.objects.filter(account__ref=account_ref, host=host).order_by("-pk")
    state, ended_reason = claims.values_list("state", "ended_reason").first() or ("", "")
    # By the reason for the end of a claim, or by the state of a claim that has not ended
    reasons: dict[str, str] = {
        OwnershipClaim.EndedReason.LAPSED: "ownership_lapsed",
        OwnershipClaim.EndedReason.TAKEN_OVER: "taken_over",
        OwnershipClaim.State.VERIFIED: "by_operator",
        OwnershipClaim.State.FAILING: "by_operator",
        OwnershipClaim.State.PENDING: "proof_awaited",
        OwnershipClaim.State.CONTESTED: "proof_awaited",
    }
    reason = reasons.get(ended_reason or state, "claim_ended")
    return RevokedLink(revoked_at=f"{at:%Y-%m-%dT%H:%M:%SZ}", reason=reason)


def check_entitlement(entitlement: EntitlementTerms | Entitlement | None, today: date) -> None:
    """Raise InactiveEntitlement (403) if the entitlement is missing or not usable on ``today``."""
    if entitlement is None:
        raise InactiveEntitlement(plan=None, status="expired", ends_on=None)
    if entitlement.is_usable_on(today):
        return
    details = {
        "plan": entitlement.plan,
        "status": entitlement.status_on(today),
        "ends_on": entitlement.ends_on.isoformat(),
    }
    # may_grow_on does not look at the first day: here the plan is all right, but has not begun.
    if entitlement.starts_on > today and entitlement.may_grow_on(today):
        first = entitlement.starts_on.isoformat()
        raise InactiveEntitlement(f"The account's entitlement begins on {first}.", **details, starts_on=first)
    raise InactiveEntitlement(**details)
