"""The calendar of claims: when the next check is due, and how long each state may last."""

from datetime import datetime, timedelta

from dashboard_api.models import OwnershipClaim

PENDING_FOR = timedelta(days=30)  # how long a claim waits for its token
# A verified claim is failing after both, and lapses after 14 days without its token.
FAILING_AFTER = timedelta(hours=24)
MISSES = 3  # checks that missed the token
LAPSES_AFTER = timedelta(days=14)
RESTORED_WITHIN = timedelta(days=180)  # a lapsed claim begins again with its token
LISTED_FOR = timedelta(days=30)  # after the end of a claim
UNASKED_FOR = timedelta(days=30)  # checks that could not ask do not count as misses for so long
JUDGED_BY = timedelta(hours=1)  # checks of this time show whether our own network works

_MINUTES = (1, 2, 4, 8, 15, 30, 60, 120, 240)  # between the first checks of a new claim
_AFTER_MISSES = (timedelta(hours=1), timedelta(hours=6))  # until the next check, after one miss and two
_WEEK = timedelta(days=7)


def next_check(claim: OwnershipClaim, now: datetime) -> datetime | None:
    """Return the time of the claim's next check, unless it has ended or was confirmed by hand."""
    state = claim.state
    if claim.ended_at is not None or claim.method == OwnershipClaim.Method.MANUAL:
        return None
    if state in (OwnershipClaim.State.PENDING, OwnershipClaim.State.CONTESTED):
        return _next_of_pending(claim.created_at, now)
    if claim.unasked_at is None and claim.misses == 0:
        return now + _WEEK - timedelta(minutes=claim.pk % (24 * 60))  # spreads checks over a day
    if claim.unasked_at is None and claim.misses <= len(_AFTER_MISSES):
        return now + _AFTER_MISSES[claim.misses - 1]
    return now + timedelta(days=1)


def _next_of_pending(created_at: datetime, now: datetime) -> datetime:
    """Return the next check: often in the first hours, then every 4 hours, and daily after a week."""
    at = created_at
    for minutes in _MINUTES:
        at += timedelta(minutes=minutes)
        if at > now:
            return at
    return now + (timedelta(hours=4) if now - created_at < _WEEK else timedelta(days=1))
