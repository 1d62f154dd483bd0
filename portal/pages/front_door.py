"""Pages for visitors without an account: the start page, and a live sample dashboard of one website.

The setting SAMPLE_WEBSITE chooses the website, and the URL never does: no other website can be shown.
"""

from collections.abc import Callable
from dataclasses import replace

from allauth.decorators import rate_limit
from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from portal.answers import service
from portal.models import Website, WebsiteSummary
from portal.pages import view_models
from portal.pages.error_pages import logged_error_page
from portal.pages.forms import FINDING_ID, Filters
from portal.pages.htmx import HtmxHttpRequest, render_site
from portal.pages.view_models import SitePage, SiteRow
from signed_api.errors import CallError

View = Callable[..., HttpResponse]
_rate_limited: Callable[[View], View] = rate_limit(action="sample", limit_get=True)


def front_door(request: HtmxHttpRequest) -> HttpResponse:
    """Show the start page: the service, the sample's stored numbers, and the sign-in. It sends no call."""
    context = {"sample": _sample_row(), "support_url": settings.SUPPORT_URL}
    return render(request, "portal/front_door.html", context)


@require_safe
@_rate_limited
@gzip_page
def sample(request: HtmxHttpRequest) -> HttpResponse:
    """Show the sample dashboard with the filters of the URL, except the search."""
    website, page = _empty_page(request)
    summary = WebsiteSummary.objects.filter(website_id=website.pk).first()
    is_old = view_models.site_row(website, summary, names_account=False).is_old  # visitors cause few writes
    try:
        dashboard = service.get_dashboard(website, page.address.filters.to_request(), stores_summary=is_old)
    except CallError as error:
        return _render_error(request, website, error)
    return render_site(request, replace(page, results=view_models.sample_results(dashboard, page.address)))


@require_safe
@_rate_limited
@gzip_page
def sample_finding(request: HtmxHttpRequest, finding_id: str) -> HttpResponse:
    """Show one finding of the sample dashboard."""
    if not FINDING_ID.fullmatch(finding_id):
        raise Http404
    website, page = _empty_page(request, finding_id=finding_id)
    try:
        response = service.get_finding(website, finding_id)
    except CallError as error:
        return _render_error(request, website, error)
    link = request.build_absolute_uri(replace(page.address, filters=Filters()).of_finding(finding_id))
    view = view_models.finding_view(response, page.address, link=link)
    return render_site(request, replace(page, finding=view))


def sample_website() -> Website | None:
    """Return the website that SAMPLE_WEBSITE names, if any."""
    ref, _, host = settings.SAMPLE_WEBSITE.partition("/")
    websites = Website.objects.select_related("account")
    return websites.filter(account__ref=ref, host=host).first() if host else None


def _empty_page(request: HtmxHttpRequest, *, finding_id: str = "") -> tuple[Website, SitePage]:
    """Return the sample website and its page without content; raises Http404 without a sample."""
    website = sample_website()
    if website is None:
        raise Http404
    filters = replace(Filters.from_query(request.GET), query="")
    return website, view_models.sample_page(website, filters, finding_id=finding_id)


def _render_error(request: HtmxHttpRequest, website: Website, error: CallError) -> HttpResponse:
    """Return a page for a fault; raises Http404 if the service refused the call."""
    if logged_error_page(error, website.host).status < 500:
        raise Http404 from error
    return render(request, "503.html", status=503)


def _sample_row() -> SiteRow | None:
    """Return the row with the sample's stored numbers, unless the service refuses them."""
    website = sample_website()
    if website is None:
        return None
    summary = WebsiteSummary.objects.filter(website_id=website.pk).first()
    row = view_models.site_row(website, summary, names_account=False)
    return None if row.refusal else replace(row, url=reverse("portal:sample"))
