"""The portal's pages: a person's websites, and the dashboard of one of them."""

import logging
from dataclasses import replace

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from portal import pages, upstream
from portal.forms import Filters
from portal.fragments import HtmxHttpRequest, render_site
from portal.gateway import GatewayError
from portal.members import members_only
from portal.models import Membership, Website
from portal.problems import problem_for

logger = logging.getLogger(__name__)


@require_safe
@members_only
def sites(request: HtmxHttpRequest) -> HttpResponse:
    """Every website that the person may see."""
    websites = Website.objects.visible_to(request.user)
    page = pages.sites_page(websites, Membership.objects.of(request.user))
    return render(request, "portal/sites.html", {"page": page})


@require_safe
@members_only
def site(request: HtmxHttpRequest, host: str) -> HttpResponse:
    """The dashboard of ``host``, as the address narrows it."""
    doors = list(Website.objects.visible_to(request.user).with_host(host))
    account = request.GET.get("account", "")
    website = next((door for door in doors if account in ("", door.account.ref)), None)
    if website is None:
        return render_site(request, pages.unknown_site(host, path=request.path))
    page = pages.site_page(website, doors, Filters.read(request.GET))
    try:
        dashboard = upstream.ask(website, page.address.filters.question())
    except GatewayError as error:
        problem = problem_for(error)
        if not error.request_id:  # the gateway's line names the service's own id; this one is ours
            logger.warning("%s: %s, reference %s", host, type(error).__name__, problem.reference)
        return render_site(request, replace(page, problem=problem))
    return render_site(request, replace(page, results=pages.results_of(dashboard, page.address)))
