"""Files and reports: the same filters in the same query string as the dashboard's."""

from collections.abc import Callable
from dataclasses import replace

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_GET

from portal import view_models
from portal.access import members_only
from portal.doors import website_at
from portal.error_pages import Action, Problem, logged_problem
from portal.exports.as_pdf import draw
from portal.exports.errors import NoPdf, Refusal
from portal.exports.files import FORMATS, attached, select, streamed
from portal.exports.report import ask_for_report
from portal.exports.slots import Place
from portal.forms import Address, Filters
from portal.gateway import GatewayError
from portal.htmx import HtmxHttpRequest, render_site
from portal.models import Website
from portal.view_models.export_links import can_draw

Make = Callable[[Website, Address], HttpResponseBase]


@require_GET
@members_only
def findings(request: HtmxHttpRequest, host: str, suffix: str) -> HttpResponseBase:
    """Everything that the address finds, as a file."""

    def make(website: Website, address: Address) -> HttpResponseBase:
        place = Place()
        try:
            return streamed(request, FORMATS[suffix], select(request, website, address), place)
        except BaseException:
            place.release()
            raise

    return _made(request, host, make)


@require_GET
@members_only
@gzip_page
def report(request: HtmxHttpRequest, host: str) -> HttpResponseBase:
    """The worst of it in full, on a page that prints well."""

    def make(website: Website, address: Address) -> HttpResponseBase:
        made, _told = ask_for_report(request, website, address)
        return render(request, "portal/exports/report.html", {"report": made})

    return _made(request, host, make)


@require_GET
@members_only
def pdf(request: HtmxHttpRequest, host: str) -> HttpResponseBase:
    """The same as a PDF."""

    def make(website: Website, address: Address) -> HttpResponseBase:
        if not can_draw():
            raise NoPdf
        with Place():
            made, told = ask_for_report(request, website, address)
            drawn = draw(made)
        response = HttpResponse(drawn, content_type="application/pdf")
        return attached(response, f"{host}-report", told, "pdf")

    return _made(request, host, make)


def _made(request: HtmxHttpRequest, host: str, make: Make) -> HttpResponseBase:
    """What ``make`` makes of the website and the address; else a screen with the true status."""
    website, doors = website_at(request, host)
    if website is None:
        return render_site(request, view_models.unknown_site(host, path=request.path))
    page = view_models.site_page(website, doors, Filters.read(request.GET))
    try:
        return make(website, page.address)
    except GatewayError as error:
        problem = logged_problem(error, host)
    except Refusal as refusal:
        problem = refusal.problem()
    return render_site(request, replace(page, problem=_with_ways_out(problem, request, page.address)))


def _with_ways_out(problem: Problem, request: HtmxHttpRequest, address: Address) -> Problem:
    """Plain links: what htmx would swap in is a page's region, not a file."""
    again = (Action(label=_("Try again"), url=request.get_full_path()),) if problem.can_retry else ()
    back = Action(label=_("Back to the findings"), url=str(address))
    return replace(problem, can_retry=False, actions=(*again, back, *problem.actions))
