"""The next check of a website by our own scanners, from its schedules."""

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import NamedTuple

from dashboard_api.models import ScanSchedule
from dashboard_api.queries.credentials import ScheduleRow

SCAN_TOLERANCE = timedelta(days=1)  # a scan by schedule waits for others
Frequency = ScanSchedule.Frequency
PERIODS = {
    Frequency.DAILY.value: timedelta(days=1),
    Frequency.WEEKLY.value: timedelta(days=7),
    Frequency.MONTHLY.value: timedelta(days=31),
}
SHORTEST_PERIOD = min(PERIODS.values())


class NextCheck(NamedTuple):
    """The day on which the next check is or was due, and whether it is overdue; no day without a schedule."""

    on: date | None
    is_overdue: bool


def next_report(last_run_at: datetime, interval_days: int, *, today: date) -> NextCheck:
    """Return the next report from elsewhere: an interval after the last."""
    day = last_run_at.date() + timedelta(days=interval_days)
    return NextCheck(day, is_overdue=day < today)


def next_check(
    schedules: Iterable[ScheduleRow | ScanSchedule], *, last_run_at: datetime | None, today: date
) -> NextCheck:
    """Return the next check, the first by the schedules that are kept; if none is, the last that was due.

    Without a schedule, a check is due a month after the last: older results are not shown as the present.

    A schedule is kept while its next scan is not late, and the last run, its last change or the end of its
    pause is not older than its period: scans that may not be made have next times, too.
    """
    late_on = today - SCAN_TOLERANCE
    kept, missed = [], []
    for schedule in schedules:
        if schedule.next_at is None:
            continue
        next_on = schedule.next_at.date()
        since = [schedule.changed_at.date(), schedule.paused_until, last_run_at and last_run_at.date()]
        due_on = min(next_on, max(filter(None, since)) + PERIODS[schedule.frequency])
        if due_on < late_on:
            missed.append(due_on)
        else:
            kept.append(next_on)
    if kept:
        return NextCheck(min(kept), is_overdue=False)
    if not missed and last_run_at is not None:
        due_on = last_run_at.date() + PERIODS[Frequency.MONTHLY]
        missed += [due_on] if due_on < late_on else []
    return NextCheck(max(missed, default=None), is_overdue=bool(missed))
