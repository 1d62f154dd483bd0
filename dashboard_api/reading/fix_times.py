"""The median time of fixes by severity."""

from collections import defaultdict
from datetime import date

from dashboard_api.backends.statements import select
from dashboard_api.models import Finding, Severity
from signed_api.answers import FixTime

# The days of a finding that came back begin again. Days are cut from the text, as ``cells`` does.
_FIXED = """
SELECT severity, SUBSTR(CAST(COALESCE((
    SELECT MAX(at) FROM dashboard_api_findingevent
    WHERE finding_id = dashboard_api_finding.id AND event = 'regressed' AND website_id = %(website)s
), first_seen) AS text), 1, 10) AS opened, SUBSTR(CAST(fixed_at AS text), 1, 10) AS fixed, COUNT(*)
FROM dashboard_api_finding WHERE website_id = %(website)s AND status = 'fixed' AND fixed_at >= %(first)s
GROUP BY 1, 2, 3
"""


def read_fix_times(website_id: int, first: date) -> list[FixTime]:
    """Return the median days of the fixes on ``first`` (UTC) or later, the worst severity first."""
    counts: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for severity, opened, fixed, count in select(
        Finding, _FIXED, {"website": website_id, "first": first.isoformat()}
    ):
        days = (date.fromisoformat(fixed) - date.fromisoformat(opened)).days
        counts[severity][max(days, 0)] += count
    return [
        FixTime(severity=Severity(severity).label, median_days=_median(days), findings=sum(days.values()))
        for severity, days in sorted(counts.items(), reverse=True)
    ]


def _median(counts: dict[int, int]) -> int:
    """Return the lower median of values with these counts."""
    half, passed = sum(counts.values()) / 2, 0
    for value in sorted(counts):
        passed += counts[value]
        if passed >= half:
            break
    return value
