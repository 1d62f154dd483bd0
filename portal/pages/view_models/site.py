"""The page of one website, and the dashboard's results in its region."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, npgettext

from foundation.addresses.hosts import readable_host
from portal.models import Website
from portal.pages.error_pages import ErrorPage, unknown_website
from portal.pages.forms import Filters
from portal.pages.urls import Address, site_address
from portal.pages.view_models.answered import BulkAnswer, Shortcut, bulk_answer, has_answers, shortcuts
from portal.pages.view_models.answers import Answering
from portal.pages.view_models.charts import ChartView, chart_views
from portal.pages.view_models.export_links import ExportLink, export_links
from portal.pages.view_models.filters import (
    Chip,
    Choice,
    Facet,
    Pager,
    answer_facets,
    chips,
    clear_url,
    facets,
    host_facet,
    pager,
    period_facet,
    sorts,
    status_facet,
    views,
)
from portal.pages.view_models.finding import FindingView
from portal.pages.view_models.findings import FindingRow, NoteView, finding_rows, note_views
from portal.pages.view_models.hand_over import HandOver, ShareOffer
from portal.pages.view_models.neighbours import Neighbours
from portal.pages.view_models.outage import OutageNotice
from portal.pages.view_models.overview import (
    CoverageRow,
    EmptyState,
    Overview,
    Plan,
    coverage_rows,
    empty_state,
    is_checked,
    overview,
    plan,
)
from portal.pages.view_models.problems import (
    ChosenProblem,
    DoFirst,
    ProblemRow,
    chosen_problem,
    do_first,
    problem_rows,
    problem_titles,
)
from portal.pages.view_models.reader import VISITOR, Reader
from portal.pages.view_models.saved_views import SavedViews
from signed_api.findings import DashboardResponse
from signed_api.limits import MAX_QUERY_LENGTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """The dashboard's content, from one response of the service, so that all its parts agree.

    ``bulk`` answers many findings, for people who may answer.
    """

    generated_at: datetime
    count: str
    total: int
    do_first: DoFirst | None
    overview: Overview
    charts: tuple[ChartView, ...]
    facets: tuple[Facet, ...]
    chips: tuple[Chip, ...]
    clear_url: str
    shortcuts: tuple[Shortcut, ...]
    bulk: BulkAnswer | None
    views: tuple[Choice, ...]
    sorts: tuple[Choice, ...]
    chosen_problem: ChosenProblem | None
    problems: tuple[ProblemRow, ...]
    findings: tuple[FindingRow, ...]
    empty_state: EmptyState | None
    pager: Pager
    coverage: tuple[CoverageRow, ...]
    schedule_url: str
    scans_url: str
    notes: tuple[NoteView, ...]
    plan: Plan | None
    export_links: tuple[ExportLink, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherAccount:
    """A link to the same website in another account."""

    account: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SitePage:
    """The page of a website; its region shows ``results``, a ``finding`` or an ``error_page``.

    With an ``outage``, the content is an older answer of the service, without exports and sharing.
    ``neighbours``, ``retest_url`` and ``answering`` belong to a finding, ``share`` and ``saved_views`` to a
    list, ``answer_url`` to the list of one problem, and ``hand_over`` to a finding or to the problem that
    the list shows. ``url`` is the page's URL, and ``address`` always the list's.
    """

    host: str
    account: str
    other_accounts: tuple[OtherAccount, ...]
    address: Address
    url: str
    results: Results | None = None
    finding: FindingView | None = None
    hand_over: HandOver | None = None
    neighbours: Neighbours | None = None
    share: ShareOffer | None = None
    saved_views: SavedViews | None = None
    retest_url: str = ""
    answering: Answering | None = None
    answer_url: str = ""
    outage: OutageNotice | None = None
    error_page: ErrorPage | None = None
    is_sample: bool = False

    @property
    def scans_url(self) -> str:
        """The URL of the website's scans."""
        return self.address.of_scans()

    @property
    def inventory_url(self) -> str:
        """The URL of the website's certificates and scripts."""
        return self.address.of_inventory()

    @property
    def status(self) -> int:
        """The HTTP status of the response."""
        return self.error_page.status if self.error_page else 200

    @property
    def has_form(self) -> bool:
        """Whether the page has a search form: not in the sample, nor if a retry cannot solve the error."""
        if self.is_sample:
            return False
        return self.error_page is None or self.error_page.can_retry

    @property
    def search_fields(self) -> Sequence[tuple[str, str]]:
        """The hidden fields of the search form: other filters, order, view and page size."""
        fields = self.address.fields(without="query")
        return [(name, value) for name, value in fields.items() if name != "page"]

    @property
    def max_query_length(self) -> int:
        """The service's limit for the length of a search."""
        return MAX_QUERY_LENGTH

    @property
    def title(self) -> str:
        """The title of the window and of the history entry."""
        is_default = self.results and not self.address.filters.active
        host = readable_host(self.host)
        return host if is_default else f"{self.announcement} – {host}"

    @property
    def list_url(self) -> str:
        """The URL of the list while the region shows one of its findings, else empty."""
        return "" if self.url == str(self.address) else str(self.address)

    @property
    def badge_url(self) -> str:
        """The URL of the page about the website's badge."""
        return str(Address(path=f"{self.address.path}badge/", account=self.address.account))

    @property
    def announcement(self) -> str:
        """The text that screen readers announce when the region changes."""
        if self.results:
            empty_state = self.results.empty_state
            return empty_state.title if empty_state else self.results.count
        if self.finding:
            return self.finding.title
        return self.error_page.title if self.error_page else ""


def site_page(
    website: Website, candidates: Sequence[Website], filters: Filters, *, finding_id: str = ""
) -> SitePage:
    """Return the page of ``website``, or of one of its findings, without content.

    ``candidates`` are all websites with this host that the person may see.
    """
    names_account = len(candidates) > 1
    address = replace(site_address(website, names_account=names_account), filters=filters)
    return SitePage(
        host=website.host,
        account=str(website.account),
        other_accounts=tuple(
            OtherAccount(account=str(other.account), url=str(site_address(other, names_account=True)))
            for other in candidates
            if other != website
        ),
        address=address,
        url=address.of_finding(finding_id) or str(address),
    )


def sample_page(website: Website, filters: Filters, *, finding_id: str = "") -> SitePage:
    """Return the page of the sample, or of one of its findings, without content."""
    address = Address(path=reverse("portal:sample"), filters=filters)
    return SitePage(
        host=website.host,
        account="",
        other_accounts=(),
        address=address,
        url=address.of_finding(finding_id) or str(address),
        is_sample=True,
    )


def site_not_found(host: str, *, path: str, user: AbstractBaseUser | AnonymousUser) -> SitePage:
    """Return one page for both cases: the website does not exist, or the person may not see it."""
    return SitePage(
        host=host,
        account="",
        other_accounts=(),
        address=Address(path=path),
        url=path,
        error_page=unknown_website(user),
    )


def build_results(
    dashboard: DashboardResponse,
    address: Address,
    *,
    gets_emails: bool = False,
    may_scan: bool = False,
    may_schedule: bool = False,
    last_visit: date | None = None,
    reader: Reader = VISITOR,
    may_answer: bool = False,
) -> Results:
    """Return the content of the dashboard with the filters of ``address``.

    ``gets_emails``: the reader gets e-mails about this website; ``may_scan``: the reader may start scans;
    ``may_schedule``: the reader may schedule scans; ``last_visit``: the day of the reader's previous visit;
    ``reader``: who reads the page; ``may_answer``: the reader may answer findings.
    """
    page, values = dashboard.dashboard, dashboard.dashboard.facets
    is_filtered = bool(address.filters.active)
    has_list = bool(dashboard.threats or page.problems)
    return Results(
        generated_at=page.generated_at,
        count=count_text(dashboard, address.filters) if dashboard.summary.open or is_filtered else "",
        total=page.total,
        do_first=do_first(dashboard, address),
        overview=overview(dashboard, address),
        charts=chart_views(dashboard.charts, page, address),
        facets=_visible_facets(dashboard, address, last_visit, reader),
        chips=chips(
            values,
            address,
            problem_title=problem_title(dashboard, address.filters.problem),
            reader=reader,
        ),
        clear_url=clear_url(address),
        shortcuts=shortcuts(values, address, reader) if has_answers(dashboard, address.filters) else (),
        bulk=bulk_answer(dashboard, address, reader) if may_answer else None,
        views=views(address) if has_list else (),
        sorts=sorts(address) if has_list else (),
        chosen_problem=chosen_problem(dashboard, address),
        problems=problem_rows(page.problems, dashboard, address, answering=reader if may_answer else None),
        findings=finding_rows(
            dashboard.threats,
            dashboard.analyst_notes,
            address,
            today=page.generated_at.date(),
            reader=reader,
            may_answer=may_answer,
        ),
        empty_state=None
        if has_list
        else empty_state(dashboard, address, gets_emails=gets_emails, may_scan=may_scan),
        pager=pager(page, address),
        coverage=coverage_rows(dashboard.coverage, address),
        schedule_url=address.of_scans() if may_schedule else "",
        scans_url=address.of_scans(),
        notes=note_views(dashboard.analyst_notes, address),
        plan=plan(dashboard.entitlement, today=page.generated_at.date()),
        export_links=export_links(address),
    )


def sample_results(dashboard: DashboardResponse, address: Address) -> Results:
    """Return the results for visitors: without the plan and without links for members."""
    return replace(results_without_links(dashboard, address), plan=None)


def results_without_links(
    dashboard: DashboardResponse, address: Address, reader: Reader = VISITOR
) -> Results:
    """Return the results without links to pages for members."""
    results = build_results(dashboard, address, reader=reader)
    overview = replace(results.overview, new_url="")
    return replace(results, export_links=(), scans_url="", overview=overview)


def _visible_facets(
    dashboard: DashboardResponse, address: Address, last_visit: date | None, reader: Reader
) -> tuple[Facet, ...]:
    """Return the useful facets: only the status for a clean website, and no facet before the first scan."""
    values = dashboard.dashboard.facets
    if dashboard.summary.open or address.filters.active:
        narrowing = facets(dashboard.dashboard, address)
        if has_answers(dashboard, address.filters):
            narrowing += answer_facets(dashboard.dashboard, address, reader)
        hosts = host_facet(dashboard.dashboard, address)
        period = period_facet(address, last_visit=last_visit)
        return (*narrowing, *hosts, period, status_facet(values, address))
    return (status_facet(values, address),) if is_checked(dashboard) else ()


def problem_title(dashboard: DashboardResponse, problem: str) -> str:
    """Return the title of ``problem`` for a sentence; if its findings' titles differ, one as an example."""
    titles = problem_titles(dashboard, problem)
    if not titles:
        return _("this problem")
    return titles[0] if len(titles) == 1 else _("such as “%(title)s”") % {"title": titles[0]}


def problem_heading(dashboard: DashboardResponse, problem: str) -> str:
    """Return the title of ``problem`` as a heading, which must make sense alone."""
    titles = problem_titles(dashboard, problem)
    return (
        titles[0]
        if len(titles) == 1
        else _("Findings: %(filters)s") % {"filters": problem_title(dashboard, problem)}
    )


def count_text(dashboard: DashboardResponse, filters: Filters) -> str:
    """Return text such as "26 of 137 findings" or "137 findings".

    The total is known only for lists of open findings.
    """
    total, open_total = dashboard.dashboard.total, dashboard.summary.open
    if dashboard.dashboard.problem_total is not None:
        return _problem_count_text(dashboard)
    shown = number_format(total)
    if filters.active and not filters.status:
        text = ngettext("%(shown)s of %(all)s finding", "%(shown)s of %(all)s findings", open_total)
        return text % {"shown": shown, "all": number_format(open_total)}
    return ngettext("%(shown)s finding", "%(shown)s findings", total) % {"shown": shown}


def _problem_count_text(dashboard: DashboardResponse) -> str:
    """Return text such as "12 problems with 137 findings"."""
    page = dashboard.dashboard
    problems = page.problem_total or 0
    shown = number_format(problems)
    findings = npgettext("after “with”", "%(shown)s finding", "%(shown)s findings", page.total)
    text = ngettext(
        "%(problems)s problem with %(findings)s", "%(problems)s problems with %(findings)s", problems
    )
    return text % {"problems": shown, "findings": findings % {"shown": number_format(page.total)}}
