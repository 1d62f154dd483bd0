"""Days and weeks of the dashboard, in UTC."""

from datetime import UTC, date, datetime, timedelta

from dashboard_api import limits


def recent_weeks(today: date) -> list[date]:
    """Return the Monday of each week in the trend, from the oldest to this week."""
    monday = today - timedelta(days=today.weekday())
    return [monday - timedelta(weeks=back) for back in reversed(range(limits.TREND_WEEKS))]


def midnight_days_ago(now: datetime, days: int) -> datetime:
    """Return the start, in UTC, of a period of ``days`` days that ends today."""
    first = now.astimezone(UTC) - timedelta(days=days - 1)
    return first.replace(hour=0, minute=0, second=0, microsecond=0)
