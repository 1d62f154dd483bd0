"""Authorization: the link comes first, so that another account's link is unknown; then the plan."""

from datetime import date, datetime

from dashboard_api.contract import ChangesRequest, DashboardRequest, FindingRequest
from dashboard_api.errors import InactiveEntitlement, RevokedLink, UnknownLink
from dashboard_api.models import Entitlement
from dashboard_api.queries.credentials import AccountSite, EntitlementTerms

Request = DashboardRequest | FindingRequest | ChangesRequest


def authorize(link: AccountSite | None, request: Request, now: datetime) -> AccountSite:
    """Return ``link`` if it leads to the requested host and the entitlement is usable at ``now``.

    Raises UnknownLink (404), InactiveEntitlement or RevokedLink (403): the specification, section 4.
    """
    if link is None or link.host != request.host:
        raise UnknownLink
    check_entitlement(link.entitlement, now.date())
    if link.revoked_at is not None:
        raise RevokedLink(revoked_at=f"{link.revoked_at:%Y-%m-%dT%H:%M:%SZ}")
    return link


def check_entitlement(entitlement: EntitlementTerms | Entitlement | None, today: date) -> None:
    """Raise InactiveEntitlement (403) unless there is an entitlement that is usable on ``today``."""
    if entitlement is None:
        raise InactiveEntitlement(plan=None, status="expired", ends_on=None)
    if not entitlement.is_usable_on(today):
        raise InactiveEntitlement(
            plan=entitlement.plan,
            status=entitlement.status_on(today),
            ends_on=entitlement.ends_on.isoformat(),
        )
