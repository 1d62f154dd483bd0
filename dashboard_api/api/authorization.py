"""May they see it? Link first, so that another account's link is unknown; then what was paid for."""

from datetime import datetime

from dashboard_api.contract import ChangesQuestion, DashboardQuestion, FindingQuestion
from dashboard_api.errors import InactiveEntitlement, RevokedLink, UnknownLink
from dashboard_api.queries.credentials import Seen

Question = DashboardQuestion | FindingQuestion | ChangesQuestion


def linked_site(link: Seen | None, question: Question, now: datetime) -> Seen:
    """The caller's ``link``, if it is to exactly this website, and in force at ``now`` with the entitlement.

    Raises UnknownLink (404), InactiveEntitlement or RevokedLink (403): the specification, section 4.
    """
    if link is None or link.host != question.host:
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
