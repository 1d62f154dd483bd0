"""Selection of a file's findings: all matches of the filters, page by page; an error if the list changes."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from signed_api.findings import DashboardResponse, Threat

Pages = Iterable[Sequence[Threat]]


class ListChanged(Exception):
    """The list changed between two pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The ``total`` findings of ``pages``, and their context.

    ``first`` is the dashboard of the first page, ``filters`` are the active ones by name. ``list_url`` and
    ``finding_url`` (by id, empty for a finding without a page) are absolute URLs in the portal.
    ``person_name`` returns the name of an assignee by the reference.
    """

    first: DashboardResponse
    total: int
    filters: Mapping[str, str]
    list_url: str
    finding_url: Callable[[str], str]
    person_name: Callable[[str], str]
    pages: Pages

    def assignee_of(self, threat: Threat) -> str:
        """Return the name of the person who will fix the finding; empty without one."""
        return self.person_name(threat.answer.assignee) if threat.answer else ""


def all_pages(
    first: DashboardResponse, get_page: Callable[[int], DashboardResponse], *, total: int, page_rows: int
) -> Pages:
    """Yield the rows of ``first`` and of all further pages, ``total`` rows in all.

    Raises the errors of ``get_page``, and ListChanged if a page belongs to another version of the list: the
    service reads each page in its own snapshot. The revision identifies the list; older services send no
    revision, so the figures about the website and the filters are compared as well.
    """
    ids, dashboard = set[str](), first
    page_count = max(math.ceil(total / page_rows), 1)
    for number in range(1, page_count + 1):
        if number > 1:
            dashboard = get_page(number)
        if _version(dashboard) != _version(first):
            raise ListChanged("the page belongs to another version of the list")
        ids.update(threat.id for threat in dashboard.threats)
        if len(ids) != min(number * page_rows, total):
            raise ListChanged("a finding moved to another page")
        yield dashboard.threats


def _version(dashboard: DashboardResponse) -> tuple[object, ...]:
    """Return the values that all pages of one version of a list share."""
    page, summary = dashboard.dashboard, dashboard.summary
    return (
        page.revision,
        page.total,
        page.facets,
        summary.by_severity,
        summary.last_scan_at,
        dashboard.coverage,
    )
