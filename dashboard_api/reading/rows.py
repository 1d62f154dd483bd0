"""The rows of one page of the list of findings."""

from collections.abc import Mapping

from dashboard_api import limits
from dashboard_api.backends.statements import select
from dashboard_api.models.findings import Finding
from dashboard_api.queries.overview import SourceRow
from dashboard_api.queries.threats import THREATS, Threat, threat
from dashboard_api.reading.answered import Answered
from dashboard_api.reading.matching import Filters, Match, whole_condition
from signed_api.findings import DashboardRequest

WORST, NEWEST, OLDEST, PRIORITY = "worst", "newest", "oldest", "priority"
_CONFIRMED_FIRST = "CASE kind WHEN 'confirmed' THEN 0 WHEN 'suspected' THEN 1 ELSE 2 END"
# ``{time}`` is a column to sort by first, or empty.
_ORDERS = {
    WORST: "severity DESC, {time}id DESC",
    PRIORITY: f"severity DESC, {_CONFIRMED_FIRST}, {{time}}id DESC",
    NEWEST: "{time}id DESC",
    OLDEST: "{time}id",
}
# Select the ids first: otherwise SQLite would sort rows with their long texts.
_PAGE = "id IN (SELECT id FROM {tables} WHERE {condition} ORDER BY {order} LIMIT %s OFFSET %s)"


def page(
    website_id: int,
    request: DashboardRequest,
    filters: Filters,
    match: Match,
    answered: Answered,
    sources: Mapping[int, SourceRow],
) -> list[Threat]:
    """Return the requested page of findings in the requested order."""
    condition, parameters = whole_condition(
        website_id, request.status, filters.condition(answered), match.condition()
    )
    order = _ORDERS[request.sort].format(time=_time_column(request))
    statement = THREATS.format(
        more="",
        which=_PAGE.format(tables=filters.tables(answered), condition=condition, order=order),
        order=order,
    )
    offset = (request.page - 1) * request.page_size
    found = select(
        Finding, statement, [limits.MAX_EVIDENCE_BYTES + 1, *parameters, request.page_size, offset]
    )
    return [threat(row, sources) for row in found]


def _time_column(request: DashboardRequest) -> str:
    """Return the column of time that sorts a list limited by time, as SQL; empty for other lists."""
    direction = "" if request.sort == OLDEST else " DESC"
    if request.fixed_since:
        return f"fixed_at{direction}, "
    return f"first_seen{direction}, " if request.older_than else ""
