"""The day of a website's next check, and whether it is overdue."""

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import NamedTuple

from dashboard_api.models import ScanSchedule
from dashboard_api.queries.credentials import ScheduleRow

SCAN_TOLERANCE = timedelta(days=1)  # a scheduled scan may have to wait for others
Frequency = ScanSchedule.Frequency
PERIODS = {
    Frequency.DAILY.value: timedelta(days=1),
    Frequency.WEEKLY.value: timedelta(days=7),
    Frequency.MONTHLY.value: timedelta(days=31),
}
SHORTEST_PERIOD = min(PERIODS.values())


class NextCheck(NamedTuple):
    """The day on which the next check is or was due, and whether it is overdue; no day if unscheduled."""

    on: date | None
    is_overdue: bool


def next_report(last_run_at: datetime, interval_days: int, *, today: date) -> NextCheck:
    """Return when the next report from outside is due: one interval after the last."""
    day = last_run_at.date() + timedelta(days=interval_days)
    return NextCheck(day, is_overdue=day < today)


def next_check(
    schedules: Iterable[ScheduleRow | ScanSchedule], *, last_run_at: datetime | None, today: date
) -> NextCheck:
    """Return the next check by our own scanners: the earliest of the schedules that work.

    If every schedule is late, return the latest day that was missed. Without a schedule, a check is overdue a
    month after the last run, so that old results do not look current.

    A schedule works while its next scan is not late, and its last run, its last change or the end of its
    pause is at most one period ago. The next time alone proves little: forbidden scans have one as well.
    """
    late_on = today - SCAN_TOLERANCE
    next_days, missed_days = [], []
    for schedule in schedules:
        if schedule.next_at is None:
            continue
        next_on = schedule.next_at.date()
        proofs = [schedule.changed_at.date(), schedule.paused_until, last_run_at and last_run_at.date()]
        worked_on = max(filter(None, proofs))
        due_on = min(next_on, worked_on + PERIODS[schedule.frequency])
        if due_on < late_on:
            missed_days.append(due_on)
        else:
            next_days.append(next_on)
    if next_days:
        return NextCheck(min(next_days), is_overdue=False)
    if not missed_days and last_run_at is not None:
        due_on = last_run_at.date() + PERIODS[Frequency.MONTHLY]
        missed_days += [due_on] if due_on < late_on else []
    return NextCheck(max(missed_days, default=None), is_overdue=bool(missed_days))
