"""Records the history of open findings: a row for each day on which their numbers changed."""

from collections import Counter, defaultdict
from datetime import datetime, timedelta

from django.db.models import Count, OuterRef, Subquery

from dashboard_api.models import Finding, Kind, OpenCount, Severity

RECORDED_UNTIL_HOUR = 6  # UTC; until then, the findings open now count as open at midnight
_BATCH = 500
_COLUMNS = {severity: severity.name.lower() for severity in Severity}
# Suspected findings of severity Info have no column: the grade counts them like confirmed ones.
_SUSPECTED_COLUMNS = [f"suspected_{name}" for name in _COLUMNS.values() if name != "info"]
_COUNT_COLUMNS = [*_COLUMNS.values(), *_SUSPECTED_COLUMNS]


def record_yesterday(now: datetime) -> int | None:
    """Store yesterday's open findings of each website where they changed; return the number of websites.

    Do nothing after RECORDED_UNTIL_HOUR, and return None: the state at midnight is no longer known.
    """
    if now.hour >= RECORDED_UNTIL_HOUR:
        return None
    yesterday = now.date() - timedelta(days=1)
    newest_id = OpenCount.objects.filter(website=OuterRef("website")).order_by("-day").values("pk")[:1]
    newest_rows = {row.website_id: row for row in OpenCount.objects.filter(pk=Subquery(newest_id))}
    current = _open_findings()
    rows = []
    for website in sorted(newest_rows.keys() | current.keys()):
        counts = {name: current[website][name] for name in _COUNT_COLUMNS}
        row = newest_rows.get(website)
        if row is None or counts != {name: getattr(row, name) for name in _COUNT_COLUMNS}:
            rows.append(OpenCount(website_id=website, day=yesterday, **counts))
    return len(OpenCount.objects.bulk_create(rows, batch_size=_BATCH, ignore_conflicts=True))


def _open_findings() -> defaultdict[int, Counter[str]]:
    """Count the open findings of each website by the columns of ``OpenCount``."""
    counts: defaultdict[int, Counter[str]] = defaultdict(Counter)
    rows = Finding.objects.filter(status=Finding.Status.OPEN).order_by()
    values = rows.values_list("website_id", "severity", "kind").annotate(number=Count("pk"))
    for website, severity, kind, number in values.iterator(chunk_size=5_000):
        name = _COLUMNS[Severity(severity)]
        counts[website][name] += number
        if kind == Kind.SUSPECTED:
            counts[website][f"suspected_{name}"] += number
    return counts
