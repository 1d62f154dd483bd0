"""The pages for strangers: the start page, and a live sample dashboard of the one website that settings name.

Nothing in a URL chooses the website, so no other website's data can be reached here.
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
_limited: Callable[[View], View] = rate_limit(action="sample", limit_get=True)


def front_door(request: HtmxHttpRequest) -> HttpResponse:
    """Show the start page: what the service does, the sample's numbers, and the sign-in. It sends no call."""
    context = {"sample": _sample_row(), "support_url": settings.SUPPORT_URL}
    return render(request, "portal/front_door.html", context)


@require_safe
@_limited
@gzip_page
def sample(request: HtmxHttpRequest) -> HttpResponse:
    """Show the sample dashboard with the filters of the URL, without the search."""

    def fill(website: Website, page: SitePage) -> SitePage:
        dashboard = service.get_dashboard(
            website, page.address.filters.to_request(), stores_summary=_is_old(website)
        )
        return replace(page, results=view_models.sample_results(dashboard, page.address))

    return _render_sample(request, fill)


@require_safe
@_limited
@gzip_page
def sample_finding(request: HtmxHttpRequest, finding_id: str) -> HttpResponse:
    """Show one finding of the sample dashboard."""
    if not FINDING_ID.fullmatch(finding_id):
        raise Http404

    def fill(website: Website, page: SitePage) -> SitePage:
        response = service.get_finding(website, finding_id)
        link = request.build_absolute_uri(replace(page.address, filters=Filters()).of_finding(finding_id))
        return replace(page, finding=view_models.finding_view(response, page.address, link=link))

    return _render_sample(request, fill, finding_id=finding_id)


def sample_website() -> Website | None:
    """Return the website that SAMPLE_WEBSITE names; None without the setting or without such a website."""
    ref, _, host = settings.SAMPLE_WEBSITE.partition("/")
    websites = Website.objects.select_related("account")
    return websites.filter(account__ref=ref, host=host).first() if host else None


def _render_sample(
    request: HtmxHttpRequest, fill: Callable[[Website, SitePage], SitePage], *, finding_id: str = ""
) -> HttpResponse:
    """Return the page with what ``fill`` adds; a refusal by the service is a page that does not exist."""
    website = sample_website()
    if website is None:
        raise Http404
    filters = replace(Filters.from_query(request.GET), query="")
    page = view_models.sample_page(website, filters, finding_id=finding_id)
    try:
        page = fill(website, page)
    except CallError as error:
        if logged_error_page(error, website.host).status < 500:
            raise Http404 from error
        return render(request, "503.html", status=503)
    return render_site(request, page)


def _sample_row() -> SiteRow | None:
    """Return the sample's stored numbers; None without a sample, or while the service refuses it."""
    website = sample_website()
    if website is None:
        return None
    summary = WebsiteSummary.objects.filter(website_id=website.pk).first()
    row = view_models.site_row(website, summary, is_shared=False)
    return None if row.refusal else replace(row, url=reverse("portal:sample"))


def _is_old(website: Website) -> bool:
    summary = WebsiteSummary.objects.filter(website_id=website.pk).first()
    return view_models.site_row(website, summary, is_shared=False).is_old
