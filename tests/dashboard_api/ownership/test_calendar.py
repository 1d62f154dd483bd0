"""The calendar: soon after the start, then rarely; after a miss soon again."""

from datetime import UTC, datetime, timedelta

from dashboard_api.models import OwnershipClaim
from dashboard_api.ownership import calendar

START = datetime(2026, 11, 23, tzinfo=UTC)


def checks_of(claim, until):
    now, times = START, []
    while (now := calendar.next_check(claim, now)) and now < START + until:
        times.append(now - START)
    return times


def test_a_claim_that_waits_is_checked_often_at_first():
    times = checks_of(OwnershipClaim(created_at=START), calendar.PENDING_FOR)
    minutes = [int(time.total_seconds() // 60) for time in times]
    assert minutes[:9] == [1, 3, 7, 15, 30, 60, 120, 240, 480]
    assert times[10] - times[9] == timedelta(hours=4)
    assert times[-1] - times[-2] == timedelta(days=1)
    assert 65 <= len(times) <= 80


def test_a_verified_claim_is_checked_weekly_and_claims_are_spread():
    claims = [OwnershipClaim(pk=pk, state="verified", method="dns", created_at=START) for pk in (1, 500)]
    first, second = (calendar.next_check(claim, START) for claim in claims)
    assert timedelta(days=6) <= first - START <= timedelta(days=7)
    assert first != second


def test_after_a_miss_the_next_check_is_in_1_then_6_hours_then_daily():
    claim = OwnershipClaim(pk=1, state="verified", method="dns", created_at=START)
    waits = []
    for misses in (1, 2, 3, 9):
        claim.misses = misses
        waits.append((calendar.next_check(claim, START) - START) / timedelta(hours=1))
    assert waits == [1, 6, 24, 24]


def test_a_claim_by_hand_or_an_ended_one_is_not_checked():
    assert calendar.next_check(OwnershipClaim(state="verified", method="manual"), START) is None
    assert calendar.next_check(OwnershipClaim(state="expired", ended_at=START), START) is None
