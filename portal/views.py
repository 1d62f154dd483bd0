"""The portal's pages: a person's websites, the dashboard of one of them, and one of its findings."""

from collections.abc import Callable
from dataclasses import replace

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from portal import service, view_models
from portal.access import members_only
from portal.doors import website_at
from portal.error_pages import logged_problem
from portal.forms import FINDING_ID, Filters
from portal.gateway import GatewayError, Question, UnknownFinding
from portal.htmx import HtmxHttpRequest, render_card, render_site
from portal.models import LastAnswer, Membership, Website
from portal.models.notifications import hears_of
from portal.view_models import SitePage


@require_safe
@members_only
def sites(request: HtmxHttpRequest) -> HttpResponse:
    """The list of websites, from the last known answers; each card then refreshes itself.

    Staff who are members of no account work in the admin, so they are sent there.
    """
    memberships = list(Membership.objects.of(request.user))
    if not memberships and request.user.is_staff:
        return redirect("admin:index")
    websites = list(Website.objects.visible_to(request.user))
    answers = LastAnswer.objects.in_bulk(website.pk for website in websites)
    page = view_models.sites_page(websites, memberships, answers)
    return render(request, "portal/sites.html", {"page": page})


@require_safe
@members_only
def card(request: HtmxHttpRequest, host: str) -> HttpResponse:
    """What the service tells of ``host`` now, for its place in the list; to anybody but htmx, its page."""
    website, doors = website_at(request, host)
    if website is None:
        raise Http404
    if not request.htmx:
        return redirect("portal:sites")
    problem = None
    try:
        service.ask(website, Question(page_size=1))
    except GatewayError as error:
        problem = logged_problem(error, host)
    answer = LastAnswer.objects.filter(website_id=website.pk).first()
    card = view_models.site_card(website, answer, is_shared=len(doors) > 1)
    return render_card(request, card, problem)


@require_safe
@members_only
@gzip_page
def site(request: HtmxHttpRequest, host: str) -> HttpResponse:
    """The dashboard of ``host``, as the address narrows it."""

    def show(website: Website, page: SitePage) -> SitePage:
        dashboard = service.ask(website, page.address.filters.question())
        # Only where a first check is to come does the page say whether it sends an e-mail.
        hears = dashboard.summary.first_check_by is not None and hears_of(request.user, website)
        return replace(page, results=view_models.results_of(dashboard, page.address, hears=hears))

    return _shown(request, host, show)


@require_safe
@members_only
@gzip_page
def finding(request: HtmxHttpRequest, host: str, finding_id: str) -> HttpResponse:
    """One finding of ``host``; the address also tells the list that it was opened from."""

    def show(website: Website, page: SitePage) -> SitePage:
        if not FINDING_ID.fullmatch(finding_id):  # nothing ever led here
            raise UnknownFinding
        answer = service.ask_about(website, finding_id, page.address.filters.question())
        link = request.build_absolute_uri(replace(page.address, filters=Filters()).of_finding(finding_id))
        return replace(page, finding=view_models.finding_text(answer, page.address, link=link))

    return _shown(request, host, show, finding_id=finding_id)


def _shown(
    request: HtmxHttpRequest,
    host: str,
    show: Callable[[Website, SitePage], SitePage],
    *,
    finding_id: str = "",
) -> HttpResponse:
    """The page that ``show`` fills, where the person may see the website; else what went wrong."""
    website, doors = website_at(request, host)
    if website is None:
        return render_site(request, view_models.unknown_site(host, path=request.path))
    page = view_models.site_page(website, doors, Filters.read(request.GET), finding_id=finding_id)
    try:
        page = show(website, page)
    except GatewayError as error:
        page = replace(page, problem=logged_problem(error, host))
    return render_site(request, page)
