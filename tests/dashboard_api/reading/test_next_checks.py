"""The next check by our own scanners, from the schedules."""

from datetime import UTC, date, datetime, timedelta

import pytest

from dashboard_api.queries.credentials import ScheduleRow
from dashboard_api.reading.next_checks import next_check

NOW = datetime(2026, 3, 20, 12, tzinfo=UTC)
TODAY = NOW.date()


def in_days(days):
    return TODAY + timedelta(days=days)


def schedule(frequency="daily", *, next_in=1, changed=-90, paused_until=None):
    next_at, changed_at = (NOW + timedelta(days=days) for days in (next_in, changed))
    return ScheduleRow("quick", frequency, next_at, changed_at, paused_until)


def checked(*schedules, last_run=None):
    last_run_at = None if last_run is None else NOW + timedelta(days=last_run)
    return next_check(schedules, last_run_at=last_run_at, today=TODAY)


def test_without_a_schedule_a_check_is_overdue_a_month_after_the_last():
    assert checked() == (None, False)
    assert checked(last_run=-32) == (None, False)
    assert checked(last_run=-33) == (in_days(-2), True)


@pytest.mark.parametrize(
    ("frequency", "last_run", "late_on"),
    [
        ("daily", -2, None),
        ("daily", -3, -2),
        ("daily", -9, -8),
        ("weekly", -8, None),
        ("weekly", -9, -2),
        ("monthly", -21, None),
        ("monthly", -32, None),
        ("monthly", -33, -2),
    ],
)
def test_a_schedule_without_a_scan_for_its_period_and_a_day_is_overdue_though_it_has_a_next_time(
    frequency, last_run, late_on
):
    expected = (in_days(1), False) if late_on is None else (in_days(late_on), True)
    assert checked(schedule(frequency), last_run=last_run) == expected


@pytest.mark.parametrize("last_run", [None, -60])
def test_a_new_schedule_is_not_overdue_before_its_first_time_has_passed(last_run):
    assert checked(schedule(changed=0), last_run=last_run) == (in_days(1), False)
    assert checked(schedule("monthly", next_in=30, changed=0), last_run=last_run) == (in_days(30), False)
    assert checked(schedule(next_in=-1, changed=-2), last_run=last_run) == (in_days(-1), False)
    assert checked(schedule(next_in=-2, changed=-3), last_run=last_run) == (in_days(-2), True)
    assert checked(schedule(changed=-3), last_run=last_run) == (in_days(-2), True)


def test_a_pause_counts_until_its_end():
    paused = schedule("weekly", next_in=40, changed=-20, paused_until=date(2026, 4, 26))
    assert checked(paused, last_run=-25) == (in_days(40), False)
    resumed = schedule("weekly", changed=-90, paused_until=in_days(-6))
    assert checked(resumed, last_run=-25) == (in_days(1), False)


def test_a_website_is_checked_by_the_first_of_the_schedules_that_are_kept():
    refused = schedule("daily", next_in=1)
    assert checked(refused, schedule("weekly", next_in=2), last_run=-5) == (in_days(2), False)
    assert checked(refused, schedule("weekly", next_in=2), last_run=-10) == (in_days(-3), True)
    both = schedule("monthly", next_in=9), schedule("weekly", next_in=2)
    assert checked(*both, last_run=-5) == (in_days(2), False)
