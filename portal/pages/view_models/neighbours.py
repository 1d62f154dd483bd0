"""The previous and next finding in the list from which a finding was opened."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from portal.pages.forms import Filters
from portal.pages.urls import Address
from signed_api.findings import DashboardRequest, DashboardResponse
from signed_api.limits import MAX_PAGE_DEPTH

GetList = Callable[[DashboardRequest], DashboardResponse]
GetPage = Callable[[Filters], DashboardResponse]


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """URLs of the previous and next finding (empty at the ends), and a position such as "3 of 45"."""

    previous_url: str
    next_url: str
    position: str


def find_neighbours(
    finding_id: str, address: Address, get_list: GetList, *, me: str = ""
) -> Neighbours | None:
    """Return the neighbours of a finding, if the page of the list at ``address`` contains it.

    At the ends of the page, it also requests the previous or next page. ``me`` is the reader's reference.
    """
    if address.filters.view:
        return None

    def get_page(filters: Filters) -> DashboardResponse:
        return get_list(filters.of_person(me).to_request())

    page = get_page(address.filters)
    ids = [threat.id for threat in page.threats]
    if finding_id not in ids:
        return None
    at, last = ids.index(finding_id), len(ids) - 1
    number = (page.dashboard.page - 1) * page.dashboard.page_size + at + 1
    position = {"number": number_format(number), "total": number_format(page.dashboard.total)}
    return Neighbours(
        previous_url=address.of_finding(ids[at - 1]) if at else _on_page(address, -1, page, get_page),
        next_url=address.of_finding(ids[at + 1]) if at < last else _on_page(address, 1, page, get_page),
        position=_("%(number)s of %(total)s") % position,
    )


def _on_page(address: Address, step: int, page: DashboardResponse, get_page: GetPage) -> str:
    """Return the URL of the nearest finding on the page ``step`` pages away; empty without such a page."""
    number, size = address.filters.page + step, address.filters.page_size
    if not 1 <= number <= page.dashboard.page_count or number * size > MAX_PAGE_DEPTH:
        return ""
    there = replace(address, filters=replace(address.filters, page=number))
    threats = get_page(there.filters).threats
    return there.of_finding(threats[0 if step > 0 else -1].id) if threats else ""
