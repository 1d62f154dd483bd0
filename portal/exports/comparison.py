"""Two scans compared, as a table for spreadsheets."""

from collections.abc import Callable, Iterator

from portal.answers import service
from portal.exports.as_csv import cell
from portal.exports.errors import TooManyFindings
from portal.exports.files import MAX_ROWS, PAGE_ROWS
from portal.files.spreadsheets import BYTE_ORDER_MARK, csv_lines
from portal.models import Website
from signed_api.compare import LISTED, ComparedFinding, CompareRequest
from signed_api.errors import BadResponse

COLUMNS = (
    "group",
    "severity",
    "severity_before",
    "status",
    "status_before",
    "new_check",
    "title",
    "location",
    "rule",
    "problem",
    "id",
    "link",
)
Row = tuple[str, ComparedFinding]


def compared_rows(website: Website, request: CompareRequest) -> list[Row]:
    """Return all findings of the listed groups; raises CallError and TooManyFindings.

    The file begins when all are there, so it is never incomplete.
    """
    first = service.compare(website, request)
    counts = {group.name: group.count or 0 for group in first.groups if group.name in LISTED}
    if sum(counts.values()) > MAX_ROWS:
        raise TooManyFindings(max_rows=MAX_ROWS)
    rows: list[Row] = []
    for name, count in counts.items():
        own: list[Row] = []
        for page in range(1, -(-count // PAGE_ROWS) + 1):
            asked = _page_of(request, name, page)
            found = service.compare(website, asked)
            own += [(name, each) for group in found.groups if group.name == name for each in group.findings]
        if len({each.id for _, each in own}) != count:
            raise BadResponse("the comparison changed between two pages")
        rows += own
    return rows


def _page_of(request: CompareRequest, group: str, page: int) -> CompareRequest:
    """Return ``request`` for a page of one group."""
    return CompareRequest(
        from_run=request.from_run, to_run=request.to_run, group=group, page=page, page_size=PAGE_ROWS
    )


def write_comparison(rows: list[Row], finding_url: Callable[[str], str]) -> Iterator[str]:
    """Yield the header, then a line for each finding."""
    yield BYTE_ORDER_MARK + csv_lines([COLUMNS])
    for group, finding in rows:
        values = {"group": group, "link": finding_url(finding.id)}
        yield csv_lines(
            [[cell(values[name] if name in values else getattr(finding, name)) for name in COLUMNS]]
        )
