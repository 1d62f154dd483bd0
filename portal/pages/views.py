"""The main pages: a person's websites, the dashboard of one website, and one of its findings."""

from dataclasses import replace
from functools import partial

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from foundation.texts.people import reference_of
from portal.answers import last_answers, service
from portal.answers.last_answers import Outage
from portal.models import IssueTracker, Membership, Website, WebsiteSummary
from portal.models.notifications import gets_emails
from portal.models.visits import record_dashboard_visit
from portal.pages import view_models
from portal.pages.access import current_user, find_website, get_website, manages, may_answer, members_only
from portal.pages.error_pages import logged_error_page, website_error_page
from portal.pages.forms import FINDING_ID, Filters, ShareFindingForm, ShareForm, ShareListForm, SiteFilters
from portal.pages.front_door import front_door
from portal.pages.htmx import HtmxHttpRequest, render_row, render_site
from portal.pages.urls import portal_origin
from portal.pages.view_models import (
    HandOver,
    Lead,
    Neighbours,
    OpenedView,
    OutageNotice,
    Results,
    ShareOffer,
    SitePage,
)
from portal.pages.view_models.people import People
from signed_api.errors import CallError, InvalidRequest, UnknownFinding
from signed_api.findings import DashboardRequest, DashboardResponse, FindingResponse


@require_safe
def start(request: HtmxHttpRequest) -> HttpResponseBase:
    """Show the person's websites; anonymous visitors see the start page."""
    if request.user.is_authenticated or request.htmx:
        return sites(request)
    return front_door(request)


@members_only
@gzip_page
def sites(request: HtmxHttpRequest) -> HttpResponse:
    """Refresh the numbers of changed websites, and show a page of the list.

    Numbers that do not arrive in time are refreshed when their rows become visible. Staff without an account
    are redirected to the admin.
    """
    memberships = list(Membership.objects.of_user(request.user))
    if not memberships and request.user.is_staff:
        return redirect("admin:index")
    websites = list(Website.objects.visible_to(request.user))
    service.refresh_for_page(websites)
    summaries = WebsiteSummary.objects.in_bulk(website.pk for website in websites)
    filters = SiteFilters.from_query(request.GET)
    page = view_models.sites_page(websites, memberships, summaries, filters)
    return render(request, "portal/sites.html", {"page": page})


@require_safe
@members_only
def help_page(request: HtmxHttpRequest) -> HttpResponse:
    """Explain the words on the pages, and show where to ask for help."""
    return render(request, "portal/help.html", {"page": view_models.help_page()})


@require_safe
@members_only
def site_row(request: HtmxHttpRequest, host: str) -> HttpResponse:
    """Refresh the row of ``host`` in the list of websites; requests without htmx go to the list."""
    website, candidates = get_website(request, host)
    if not request.htmx:
        return redirect("portal:sites")
    error_page = None
    try:
        service.get_dashboard(website, DashboardRequest(page_size=1))
    except CallError as error:
        error_page = logged_error_page(error, host)
    summary = WebsiteSummary.objects.filter(website_id=website.pk).first()
    row = view_models.site_row(website, summary, names_account=len(candidates) > 1)
    return render_row(request, row, error_page)


@require_safe
@members_only
@gzip_page
def site(request: HtmxHttpRequest, host: str) -> HttpResponse:
    """Show the dashboard of ``host`` with the filters of the URL."""
    website, page = _empty_page(request, host)
    if website is None:
        return render_site(request, page)
    reader = view_models.reader_of(website.account_id, request.user)
    opened = view_models.opened_view(request.user, website, page.address.filters, request.GET)
    try:
        dashboard, outage = _get_dashboard(website, page.address.filters.of_person(reader.me), opened)
        opened, address = opened.without_unknown(dashboard.dashboard.facets, page.address, reader)
        if address != page.address:
            asked = address.filters.of_person(reader.me).to_request()
            dashboard, outage = last_answers.get_dashboard(website, asked)
    except CallError as error:
        return _render_error(request, website, page, error)
    # The page mentions e-mails only before the first scan.
    awaits_check = dashboard.summary.first_check_by is not None
    has_emails = awaits_check and gets_emails(request.user, website)
    is_manager = manages(request, website)
    views = view_models.saved_views(opened, address, manages=is_manager)
    page = replace(page, address=address, url=opened.url(address), saved_views=views)
    results = view_models.build_results(
        dashboard,
        page.address,
        gets_emails=has_emails,
        may_scan=not dashboard.summary.open and is_manager,
        may_schedule=is_manager,
        last_visit=record_dashboard_visit(current_user(request).pk),
        reader=reader,
        may_answer=not outage and may_answer(request, website),
    )
    if outage:
        results, notice = replace(results, export_links=()), _outage_notice(request, outage, host)
        return render_site(request, replace(page, results=results, outage=notice))
    form_class = ShareForm if results.chosen_problem else ShareListForm  # a list has no evidence to share
    may_share = is_manager and (results.findings or results.problems)
    page = replace(
        page,
        results=results,
        share=ShareOffer(url=page.address.of_sharing(), form=form_class(auto_id="share-%s"))
        if may_share
        else None,
        hand_over=_hand_over_problem(request, website, page, results, dashboard),
        answer_url=_answer_url(request, website, page, results),
    )
    return render_site(request, page)


@require_safe
@members_only
@gzip_page
def finding(request: HtmxHttpRequest, host: str, finding_id: str) -> HttpResponse:
    """Show one finding of ``host``; the query string carries the filters of the list behind it."""
    website, page = _empty_page(request, host, finding_id=finding_id)
    if website is None:
        return render_site(request, page)
    try:
        if not FINDING_ID.fullmatch(finding_id):
            raise UnknownFinding
        response, outage = last_answers.get_finding(website, finding_id)
    except CallError as error:
        return _render_error(request, website, page, error)
    link = portal_origin(request) + replace(page.address, filters=Filters()).of_finding(finding_id)
    page = replace(
        page,
        finding=view_models.finding_view(response, page.address, link=link),
        answering=view_models.answering(
            response,
            page.address,
            People.of(website.account_id),
            user_id=current_user(request).pk if not outage and may_answer(request, website) else None,
        ),
    )
    if outage:
        return render_site(request, replace(page, outage=_outage_notice(request, outage, host)))
    may_retest = response.can_retest and response.finding.status == "open"
    page = replace(
        page,
        hand_over=_hand_over(request, website, page, response, link=link),
        neighbours=_neighbours(request, website, page, finding_id),
        retest_url=page.address.of_retest(finding_id) if may_retest else "",
    )
    return render_site(request, page)


def _get_dashboard(
    website: Website, filters: Filters, opened: OpenedView
) -> tuple[DashboardResponse, Outage | None]:
    """Return the dashboard; without its scanners if the open view has one that the service does not know."""
    try:
        return last_answers.get_dashboard(website, filters.to_request())
    except InvalidRequest:
        if not opened.view or not filters.source:
            raise
        return last_answers.get_dashboard(website, replace(filters, source="").to_request())


def _empty_page(
    request: HtmxHttpRequest, host: str, *, finding_id: str = ""
) -> tuple[Website | None, SitePage]:
    """Return the website of the URL with its page without content, or only an error page if unknown."""
    website, candidates = find_website(request, host)
    if website is None:
        return None, view_models.site_not_found(host, path=request.path, user=request.user)
    filters = Filters.from_query(request.GET)
    return website, view_models.site_page(website, candidates, filters, finding_id=finding_id)


def _render_error(
    request: HtmxHttpRequest, website: Website, page: SitePage, error: CallError
) -> HttpResponse:
    """Return the page with the reason why the call failed."""
    error_page = website_error_page(error, website, request.user)
    return render_site(request, replace(page, error_page=error_page))


def _outage_notice(request: HtmxHttpRequest, outage: Outage, host: str) -> OutageNotice:
    """Log the outage, and return the notice for a page with an old answer."""
    reference = logged_error_page(outage.error, host).reference
    trigger = request.htmx.trigger or ""
    return view_models.outage_notice(outage, reference=reference, trigger=trigger)


def _neighbours(
    request: HtmxHttpRequest, website: Website, page: SitePage, finding_id: str
) -> Neighbours | None:
    """Return the finding's neighbours in its list, unless the call fails: the page works without them."""
    get_list = partial(service.get_dashboard, website, stores_summary=False)
    try:
        me = reference_of(current_user(request).pk)
        return view_models.find_neighbours(finding_id, page.address, get_list, me=me)
    except CallError:
        return None


def _hand_over(
    request: HtmxHttpRequest, website: Website, page: SitePage, response: FindingResponse, *, link: str
) -> HandOver:
    """Return the ways to share the finding; a share link only for owners and managers."""
    tracker = IssueTracker.objects.filter(account=website.account_id).first()
    lead = Lead(link, is_share_link=False)
    ways = view_models.hand_over(response.finding, host=website.host, link=lead, tracker=tracker)
    if not manages(request, website):
        return ways
    url = page.address.of_sharing(response.finding.id)
    return replace(ways, share=ShareOffer(url=url, form=ShareFindingForm(auto_id="share-%s")))


def _hand_over_problem(
    request: HtmxHttpRequest, website: Website, page: SitePage, results: Results, dashboard: DashboardResponse
) -> HandOver | None:
    """Return the ways to share the problem that the filters choose, if they choose one."""
    if not results.chosen_problem:
        return None
    filters = page.address.filters
    return view_models.hand_over_problem(
        dashboard,
        title=view_models.problem_heading(dashboard, filters.problem),
        filters=filters,
        fix=results.chosen_problem.fix,
        link=Lead(portal_origin(request) + page.address.with_filters(), is_share_link=False),
        tracker=IssueTracker.objects.filter(account=website.account_id).first(),
    )


def _answer_url(request: HtmxHttpRequest, website: Website, page: SitePage, results: Results) -> str:
    """Return the URL that answers all open findings of the problem that the list shows; else empty."""
    is_open = not page.address.filters.status and results.findings
    if not (results.chosen_problem and is_open and may_answer(request, website)):
        return ""
    return page.address.of_answer()


@require_safe
def grading(request: HtmxHttpRequest) -> HttpResponse:
    """Explain the grade to members and visitors."""
    return render(request, "portal/grading.html")
