"""The page that compares two scans of one scanner: by default the last one with the one before."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from portal.answers import service
from portal.models import Website
from portal.pages.access import get_website, members_only
from portal.pages.error_pages import render_with_error, website_error_page
from portal.pages.htmx import HtmxHttpRequest
from portal.pages.urls import site_address
from portal.scans.comparison import comparison_page
from portal.scans.view_models import url_of
from signed_api.compare import CompareRequest
from signed_api.errors import CallError, InvalidRequest, UnknownRun

_TEMPLATE = "portal/scans/comparison.html"


@require_safe
@members_only
@gzip_page
def newest_comparison(request: HtmxHttpRequest, host: str) -> HttpResponse:
    """Compare the last complete scan, or the one in the query, with the complete one before."""
    website, candidates = get_website(request, host)
    names_account = len(candidates) > 1
    asked = CompareRequest(to_run=request.GET.get("to", ""), source=request.GET.get("source", ""))
    try:
        return _compare(request, website, asked, names_account=names_account)
    except InvalidRequest as error:
        raise Http404 from error
    except UnknownRun:
        page = {
            "host": website.host,
            "url": request.get_full_path(),
            "site_url": str(site_address(website, names_account=names_account)),
            "scans_url": url_of("scans", website, names_account=names_account),
        }
        return render(request, _TEMPLATE, {"page": page, "nothing": True})


@require_safe
@members_only
@gzip_page
def comparison(request: HtmxHttpRequest, host: str, earlier: int, later: int) -> HttpResponse:
    """Compare these two scans."""
    website, candidates = get_website(request, host)
    names_account = len(candidates) > 1
    try:
        asked = CompareRequest(from_run=str(earlier), to_run=str(later))
        return _compare(request, website, asked, names_account=names_account)
    except (InvalidRequest, UnknownRun) as error:
        raise Http404 from error


def _compare(
    request: HtmxHttpRequest, website: Website, asked: CompareRequest, *, names_account: bool
) -> HttpResponse:
    """Return the page, or the page of an error; raises InvalidRequest and UnknownRun."""
    try:
        found = service.compare(website, asked)
    except (InvalidRequest, UnknownRun):
        raise
    except CallError as error:
        error_page = website_error_page(error, website, request.user)
        page = {"url": request.get_full_path(), "host": website.host}
        return render_with_error(request, _TEMPLATE, error_page, page=page)
    return render(request, _TEMPLATE, {"page": comparison_page(website, found, names_account=names_account)})
