"""The tables of counts of findings; ``COUNTS`` of each database says how to compute them."""

from typing import NamedTuple


class CountTable(NamedTuple):
    """A table, the columns of its key, and all of its columns."""

    name: str
    key: str
    columns: str


_BUCKET = "website_id, status, source_id, severity, kind"
_HOST = "website_id, status, host, severity, source_id, kind"
_WEEK = "website_id, week, source_id, severity, kind"
_DAY = "website_id, day"
_PROBLEM = "website_id, status, severity, problem, source_id"
COUNT_TABLES = (
    CountTable("dashboard_api_bucketcount", _BUCKET, f"{_BUCKET}, findings"),
    CountTable("dashboard_api_hostcount", _HOST, f"{_HOST}, findings"),
    CountTable("dashboard_api_weekcount", _WEEK, f"{_WEEK}, found, fixed"),
    CountTable("dashboard_api_daycount", _DAY, f"{_DAY}, found, fixed, still_open"),
    CountTable(
        "dashboard_api_problemcount",
        _PROBLEM,
        f"{_PROBLEM}, confirmed, suspected, informational, locations",
    ),
)
