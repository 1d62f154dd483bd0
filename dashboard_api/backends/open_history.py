"""The statement that records today's open findings of websites; both databases run it in their triggers."""

_SEVERITIES = {"critical": 4, "high": 3, "medium": 2, "low": 1, "info": 0}
_COUNTS = {name: f"severity = {severity}" for name, severity in _SEVERITIES.items()} | {
    f"suspected_{name}": f"severity = {severity} AND kind = 'suspected'"
    for name, severity in _SEVERITIES.items()
    if severity
}


def record_open(websites: str, *, today: str) -> str:
    """Return the statement for ``websites``, a SELECT of their ids; ``today`` is an SQL expression.

    It reads the counts by bucket, so these must be correct already.
    """
    sums = ", ".join(f"COALESCE(SUM(findings) FILTER (WHERE {which}), 0)" for which in _COUNTS.values())
    return f"""
        INSERT INTO dashboard_api_opencount (website_id, day, {", ".join(_COUNTS)})
        SELECT changed.website_id, {today}, {sums}
        FROM ({websites}) AS changed LEFT JOIN dashboard_api_bucketcount AS bucket
        ON bucket.website_id = changed.website_id AND bucket.status = 'open'
        GROUP BY changed.website_id ORDER BY changed.website_id
        ON CONFLICT (website_id, day) DO UPDATE
        SET {", ".join(f"{name} = excluded.{name}" for name in _COUNTS)}
    """
