"""The dashboard of one website: the shell around the region, and what the region shows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.error_pages import Problem, new_reference, unknown_website
from portal.forms import MAX_QUERY_LENGTH, Address, Filters
from portal.gateway.messages import Dashboard
from portal.models import Website
from portal.view_models.charts import Drawing, drawings
from portal.view_models.export_links import Offer, offers
from portal.view_models.filters import Chip, Facet, Pager, chips, clear_url, facets, pager, status_facet
from portal.view_models.finding import FindingText
from portal.view_models.findings import NoteText, Row, note_texts, rows
from portal.view_models.overview import (
    CoverageRow,
    Emptiness,
    Overview,
    Plan,
    coverage_rows,
    emptiness,
    is_checked,
    overview,
    plan,
)
from portal.view_models.sites import site_address


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """All that one answer of the service says, so that its parts can never disagree."""

    made_at: datetime
    count: str
    overview: Overview
    drawings: tuple[Drawing, ...]
    facets: tuple[Facet, ...]
    chips: tuple[Chip, ...]
    clear_url: str
    findings: tuple[Row, ...]
    emptiness: Emptiness | None
    pager: Pager
    coverage: tuple[CoverageRow, ...]
    notes: tuple[NoteText, ...]
    plan: Plan
    offers: tuple[Offer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """The same website as another account sees it."""

    account: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SitePage:
    """The page; its region shows ``results``, a ``finding`` or a ``problem``, and ``here`` is its address.

    ``address`` is that of the list, also where the region shows one of its findings.
    """

    host: str
    account: str
    doors: tuple[Door, ...]
    address: Address
    here: str
    results: Results | None = None
    finding: FindingText | None = None
    problem: Problem | None = None

    @property
    def status(self) -> int:
        """The browser's true status."""
        return self.problem.status if self.problem else 200

    @property
    def has_form(self) -> bool:
        """Searching makes sense where there are results, or may be again."""
        return self.problem is None or self.problem.can_retry

    @property
    def kept_fields(self) -> Sequence[tuple[str, str]]:
        """What a search keeps: the other filters and the page size, from the first page."""
        fields = self.address.fields(without="query")
        return [(name, value) for name, value in fields.items() if name != "page"]

    @property
    def max_query_length(self) -> int:
        """The service's bound."""
        return MAX_QUERY_LENGTH

    @property
    def title(self) -> str:
        """Of the window and of its step in the history: what is shown of the website."""
        is_usual = self.results and not self.address.filters.active
        return self.host if is_usual else f"{self.announcement} – {self.host}"

    @property
    def list_url(self) -> str:
        """The way back to the list, where the region is about one of its findings."""
        return "" if self.here == str(self.address) else str(self.address)

    @property
    def announcement(self) -> str:
        """What changed, for those who do not see it."""
        if self.results:
            return self.results.emptiness.title if self.results.emptiness else self.results.count
        if self.finding:
            return self.finding.title
        return self.problem.title if self.problem else ""


def site_page(
    website: Website, doors: Sequence[Website], filters: Filters, *, finding_id: str = ""
) -> SitePage:
    """The page of ``website``, or of one of its findings, before anything is known of it.

    ``doors`` lead to the same host.
    """
    is_shared = len(doors) > 1
    address = replace(site_address(website, is_shared=is_shared), filters=filters)
    return SitePage(
        host=website.host,
        account=str(website.account),
        doors=tuple(
            Door(account=str(door.account), url=str(site_address(door, is_shared=True)))
            for door in doors
            if door != website
        ),
        address=address,
        here=address.of_finding(finding_id) or str(address),
    )


def unknown_site(host: str, *, path: str) -> SitePage:
    """The page of a website that does not exist, or not for this person: both alike."""
    problem = unknown_website(new_reference())
    return SitePage(host=host, account="", doors=(), address=Address(path=path), here=path, problem=problem)


def results_of(dashboard: Dashboard, address: Address, *, hears: bool = False) -> Results:
    """Return the results for ``address``; ``hears``: the reader gets e-mails about this website."""
    page, values = dashboard.dashboard, dashboard.dashboard.facets
    is_narrowed = bool(address.filters.active)
    return Results(
        made_at=page.generated_at,
        count=count_text(dashboard, address.filters) if dashboard.summary.open or is_narrowed else "",
        overview=overview(dashboard, address),
        drawings=drawings(dashboard.charts, page, address),
        facets=_offered(dashboard, address),
        chips=chips(values, address),
        clear_url=clear_url(address),
        findings=rows(dashboard.threats, dashboard.analyst_notes, address),
        emptiness=None if dashboard.threats else emptiness(dashboard, address, hears=hears),
        pager=pager(page, address),
        coverage=coverage_rows(dashboard.coverage),
        notes=note_texts(dashboard.analyst_notes, address),
        plan=plan(dashboard.entitlement, today=page.generated_at.date()),
        offers=offers(address),
    )


def _offered(dashboard: Dashboard, address: Address) -> tuple[Facet, ...]:
    """The filters that could change anything: what was never checked has none, what is clean has a past."""
    values = dashboard.dashboard.facets
    if dashboard.summary.open or address.filters.active:
        return (*facets(dashboard.dashboard, address), status_facet(values, address))
    return (status_facet(values, address),) if is_checked(dashboard) else ()


def count_text(dashboard: Dashboard, filters: Filters) -> str:
    """Return text such as "26 of 137 findings", "More than 1,000 of 20,500 findings" or "137 findings".

    How many there are is known of those that are open.
    """
    total, everything = dashboard.dashboard.total, dashboard.summary.open
    shown = number_format(total)
    if dashboard.dashboard.total_relation == "at_least":
        shown = _("More than %(count)s") % {"count": shown}
    if filters.active and not filters.status:
        text = ngettext("%(shown)s of %(all)s finding", "%(shown)s of %(all)s findings", everything)
        return text % {"shown": shown, "all": number_format(everything)}
    return ngettext("%(shown)s finding", "%(shown)s findings", total) % {"shown": shown}
