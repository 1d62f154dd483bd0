"""The page for those who call the signed API, and its test call: for owners and managers."""

import time

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from portal import service
from portal.access import members_only
from portal.api_access.view_models import api_page
from portal.error_pages import logged_error_page
from portal.gateway import DashboardRequest, GatewayError
from portal.models import Membership, Website


@require_safe
@members_only
def api_access(request: HttpRequest) -> HttpResponse:
    """Show references, link ids and snippets of the accounts that the person manages."""
    websites = _manageable(request).order_by("account", "host")
    return render(request, "portal/api_access/index.html", {"page": api_page(request, websites)})


@require_POST
@members_only
def test_call(request: HttpRequest, website: int) -> HttpResponse:
    """Call the API for a website with the portal's own secret, and say how it went."""
    site = get_object_or_404(_manageable(request), pk=website)
    started = time.monotonic()
    try:
        dashboard = service.get_dashboard(site, DashboardRequest(page_size=1))
    except GatewayError as error:
        page = logged_error_page(error, site.host)
        text = _("The call for %(host)s failed: %(reason)s. Reference for support: %(reference)s.")
        values = {"host": site.host, "reason": page.title, "reference": page.reference}
        messages.warning(request, text % values)
    else:
        text = _("The call for %(host)s works: %(count)s open findings, in %(time)s ms.")
        took = round((time.monotonic() - started) * 1000)
        count = number_format(dashboard.summary.open)
        messages.info(request, text % {"host": site.host, "count": count, "time": took})
    return redirect("portal:api")


def _manageable(request: HttpRequest) -> QuerySet[Website]:
    """Return the websites of the accounts in which the person is an owner or a manager."""
    managed = Membership.objects.of_user(request.user).managing().values("account")
    return Website.objects.filter(account__in=managed).select_related("account")
