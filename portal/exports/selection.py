"""What goes into a file: everything that the filters find, page by page, or an error before it is wrong."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from portal.gateway.messages import Dashboard, Threat

Pages = Iterable[Sequence[Threat]]


class Changed(Exception):
    """Two pages are not of the same list: what was found changed between them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """The ``total`` findings of ``pages``, and what the file says of them.

    ``first`` is the answer that the first page came with, ``filters`` are the active ones by name,
    ``list_url`` and ``finding_url`` (by id, empty for none) are whole addresses in the portal.
    """

    first: Dashboard
    total: int
    filters: Mapping[str, str]
    list_url: str
    finding_url: Callable[[str], str]
    pages: Pages


def pages_after(first: Dashboard, ask: Callable[[int], Dashboard], *, total: int, page_rows: int) -> Pages:
    """Yield the rows of ``first``, then of every further page from ``ask``, ``total`` in all.

    Raises Changed as soon as a page does not belong to the same list, and what ``ask`` raises. The service
    answers each page by itself, so the revision of the list is compared, and (older services tell none) what
    it says of the whole website and of the filters.
    """
    known, dashboard = set[str](), first
    for number in range(1, max(-(-total // page_rows), 1) + 1):
        if number > 1:
            dashboard = ask(number)
        if _moment_of(dashboard) != _moment_of(first):
            raise Changed("an answer of another moment")
        known.update(threat.id for threat in dashboard.threats)
        if len(known) != min(number * page_rows, total):
            raise Changed("a finding that moved to another page")
        yield dashboard.threats


def _moment_of(dashboard: Dashboard) -> tuple[object, ...]:
    """What every page of one list has in common."""
    page, summary = dashboard.dashboard, dashboard.summary
    return (
        page.revision,
        page.total,
        page.total_relation,
        page.facets,
        summary.by_severity,
        summary.last_scan_at,
        dashboard.coverage,
    )
