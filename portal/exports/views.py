"""Views of exports: files and reports with the filters of the dashboard's query string."""

from collections.abc import Callable
from dataclasses import replace

from allauth.core.internal import ratelimit
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_GET

from audit.recording import record
from foundation.operations.places import NoPlace
from portal.exports.as_pdf import render_pdf
from portal.exports.comparison import compared_rows, write_comparison
from portal.exports.errors import ExportError, ExportsBusy, PdfUnavailable, TooManyExports
from portal.exports.files import FORMATS, as_attachment, file_name, select, stream
from portal.exports.report import get_report
from portal.files.places import hold_place
from portal.models import Website
from portal.pages.access import file_of, find_website, members_only
from portal.pages.error_pages import Action, ErrorPage, website_error_page
from portal.pages.forms import Filters
from portal.pages.htmx import HtmxHttpRequest, render_site
from portal.pages.urls import Address
from portal.pages.view_models import site_not_found, site_page
from portal.pages.view_models.export_links import pdf_available
from signed_api.compare import CompareRequest
from signed_api.errors import CallError, UnknownRun

MAX_RUN_ID = 10**18
Export = Callable[[Website, Address], HttpResponseBase]


@require_GET
@file_of("portal:site")
@members_only
def findings(request: HtmxHttpRequest, host: str, suffix: str) -> HttpResponseBase:
    """Send all findings that match the filters, as a file."""

    def export(website: Website, address: Address) -> HttpResponseBase:
        hold_place(request, website.account_id)
        return stream(request, FORMATS[suffix], select(request, website, address))

    return _export(request, host, export)


@require_GET
@file_of("portal:site")
@members_only
def comparison(request: HtmxHttpRequest, host: str, earlier: int, later: int) -> HttpResponseBase:
    """Send the findings of two scans compared, as a file."""

    def export(website: Website, address: Address) -> HttpResponseBase:
        hold_place(request, website.account_id)
        if not earlier < later < MAX_RUN_ID:
            raise Http404
        rows = compared_rows(website, CompareRequest(from_run=str(earlier), to_run=str(later)))

        def finding_url(id_: str) -> str:
            url = Address(path=address.path, account=address.account).of_finding(id_)
            return request.build_absolute_uri(url) if url else ""

        text = "".join(write_comparison(rows, finding_url))
        response = HttpResponse(text, content_type=FORMATS["csv"].content_type)
        name = f"{file_name(host)}-scans-{earlier}-{later}.csv"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        response["Cache-Control"] = "private, no-store"
        return response

    return _export(request, host, export)


@require_GET
@file_of("portal:site")
@members_only
@gzip_page
def report(request: HtmxHttpRequest, host: str) -> HttpResponseBase:
    """Show the worst findings in full, on a page made for printing."""

    def export(website: Website, address: Address) -> HttpResponseBase:
        report, _dashboard = get_report(request, website, address)
        return render(request, "portal/exports/report.html", {"report": report})

    return _export(request, host, export)


@require_GET
@file_of("portal:site")
@members_only
def pdf(request: HtmxHttpRequest, host: str) -> HttpResponseBase:
    """Send the report as a PDF."""

    def export(website: Website, address: Address) -> HttpResponseBase:
        if not pdf_available():
            raise PdfUnavailable
        hold_place(request, website.account_id)
        report, dashboard = get_report(request, website, address)
        response = HttpResponse(render_pdf(report), content_type="application/pdf")
        return as_attachment(response, f"{host}-report", dashboard, "pdf")

    return _export(request, host, export)


def _export(request: HtmxHttpRequest, host: str, export: Export) -> HttpResponseBase:
    """Return the result of ``export`` for the website and the filters of the URL, or an error page."""
    website, candidates = find_website(request, host)
    if website is None:
        return render_site(request, site_not_found(host, path=request.path, user=request.user))
    page = site_page(website, candidates, Filters.from_query(request.GET))
    # Drop the view, as our links do: grouped by problem, the service returns no findings.
    address = replace(page.address, filters=page.address.filters.without_page)
    try:
        if not ratelimit.consume(request, app="allauth.account", action="export", limit_get=True):
            raise TooManyExports
        response = export(website, address)
    except UnknownRun as error:
        raise Http404 from error
    except CallError as error:
        error_page = website_error_page(error, website, request.user)
    except NoPlace:
        error_page = ExportsBusy().error_page()
    except ExportError as error:
        error_page = error.error_page()
    else:
        record("findings.exported", website, after={"file": request.path.rpartition("/")[2]}, may_wait=True)
        return response
    return render_site(request, replace(page, error_page=_with_links(error_page, request, page.address)))


def _with_links(error_page: ErrorPage, request: HtmxHttpRequest, address: Address) -> ErrorPage:
    """Return ``error_page`` with plain links: htmx cannot swap in a file."""
    retry = (Action(label=_("Try again"), url=request.get_full_path()),) if error_page.can_retry else ()
    back = Action(label=_("Back to the findings"), url=str(address))
    return replace(error_page, can_retry=False, actions=(*retry, back, *error_page.actions))
