"""May they see it? Link first, so that another account's link is unknown; then what was paid for."""

from datetime import datetime

from dashboard_api.contract import DashboardQuestion
from dashboard_api.errors import InactiveEntitlement, RevokedLink, UnknownLink
from dashboard_api.models import callers
from dashboard_api.models.callers import Seen


def linked_site(account_id: int, question: DashboardQuestion, now: datetime) -> Seen:
    """The linked website, with link and entitlement in force at ``now``.

    Raises UnknownLink (404), InactiveEntitlement or RevokedLink (403): the specification, section 4.
    """
    link = callers.find_link(account_id, question.link_id, question.host)
    if link is None:
        raise UnknownLink
    today = now.date()
    entitlement = link.entitlement
    if entitlement is None:
        raise InactiveEntitlement(plan=None, status="expired", ends_on=None)
    if not entitlement.is_usable_on(today):
        raise InactiveEntitlement(
            plan=entitlement.plan,
            status=entitlement.status_on(today),
            ends_on=entitlement.ends_on.isoformat(),
        )
    if link.revoked_at is not None:
        raise RevokedLink(revoked_at=f"{link.revoked_at:%Y-%m-%dT%H:%M:%SZ}")
    return link
