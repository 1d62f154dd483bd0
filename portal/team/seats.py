"""Seats in an account's plan: the service knows the limit, the portal counts the members."""

import logging
from dataclasses import dataclass

from django.utils import timezone
from django.utils.translation import gettext as _

from portal.answers import service
from portal.models import Account
from signed_api.errors import CallError

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seats:
    """The number of members that the plan includes, if limited, and whether members may be added."""

    limit: int | None = None
    may_grow: bool = True


UNLIMITED = Seats()


class NoSeat(Exception):
    """All ``limit`` seats of the plan are taken, by members and open invitations."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(f"{limit} seats")


class PlanInactive(Exception):
    """A payment is missing, or no plan is active."""


def of(account: Account) -> Seats:
    """Return the seats of the plan; unlimited if the service does not answer.

    Call this outside any open transaction, like every request to the service.
    """
    try:
        answer = service.get_entitlement(account)
    except CallError as error:
        logger.warning("The seats of %s are not known: %s", account.ref, type(error).__name__)
        return UNLIMITED
    limit = next((use.limit for use in answer.limits if use.name == "seats"), None)
    return Seats(limit=limit, may_grow=answer.entitlement is not None and answer.entitlement.may_grow)


def warning(account: Account) -> str:
    """Return a warning for operators if more seats are taken than the plan includes, else an empty text.

    Operators add members without the limit. Call this outside any open transaction.
    """
    limit, taken = of(account).limit, account.seats_taken(timezone.now())
    if limit is None or taken <= limit:
        return ""
    text = _(
        "Seats in the plan of %(account)s: %(limit)s. Taken: %(taken)s, with open invitations. "
        "Raise the limit, or remove a member."
    )
    return text % {"account": account.ref, "limit": limit, "taken": taken}


def check_may_invite(account: Account, email: str, seats: Seats) -> None:
    """Raise PlanInactive or NoSeat; the caller holds the account's lock."""
    if not seats.may_grow:
        raise PlanInactive
    if seats.limit is not None and account.seats_taken(timezone.now(), without=email) >= seats.limit:
        raise NoSeat(seats.limit)


def check_may_join(account: Account, seats: Seats) -> None:
    """Raise NoSeat; the caller holds the account's lock. Open invitations do not count."""
    if seats.limit is not None and account.memberships.count() >= seats.limit:
        raise NoSeat(seats.limit)
