"""Pages on which staff see a website of the portal as its customer does: read-only, and recorded.

Staff remain signed in as themselves, and the pages have no forms of the customer.
"""

from collections.abc import Callable
from dataclasses import replace

from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path, reverse
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from audit.recording import record
from portal.answers import service
from portal.models import Website
from portal.pages import view_models
from portal.pages.access import is_from_elsewhere
from portal.pages.error_pages import logged_error_page
from portal.pages.forms import FINDING_ID, Filters
from portal.pages.htmx import HtmxHttpRequest, wants_region
from portal.pages.urls import Address
from portal.pages.view_models import SitePage
from portal.pages.view_models.people import People
from signed_api.errors import CallError

PERMISSION = "portal.see_as_customer"


def site(request: HtmxHttpRequest, host: str) -> HttpResponse:
    """Show the dashboard of a website, with the filters of the URL."""

    def fill_in(website: Website, page: SitePage) -> SitePage:
        list_request = page.address.filters.to_request()
        dashboard = service.get_dashboard(website, list_request, stores_summary=False)
        reader = view_models.reader_of(website.account_id)
        return replace(page, results=view_models.results_without_links(dashboard, page.address, reader))

    return _render(request, host, fill_in)


def finding(request: HtmxHttpRequest, host: str, finding_id: str) -> HttpResponse:
    """Show one finding of a website."""

    def fill_in(website: Website, page: SitePage) -> SitePage:
        if not FINDING_ID.fullmatch(finding_id):
            raise Http404("There is no such finding.")
        response = service.get_finding(website, finding_id)
        link = request.build_absolute_uri(page.address.of_finding(finding_id))
        return replace(
            page,
            finding=view_models.finding_view(response, page.address, link=link),
            answering=view_models.answering(response, page.address, People.of(website.account_id)),
        )

    return _render(request, host, fill_in, finding_id=finding_id)


def urlpatterns() -> list[URLPattern]:
    """Return the routes, below the path of the admin."""
    staff_only = admin.site.admin_view
    return [
        path("admin/see-as/<str:host>/", staff_only(require_safe(site)), name="see_as_customer"),
        path(
            "admin/see-as/<str:host>/findings/<str:finding_id>/",
            staff_only(require_safe(finding)),
            name="see_as_customer_finding",
        ),
    ]


def _render(
    request: HtmxHttpRequest,
    host: str,
    fill_in: Callable[[Website, SitePage], SitePage],
    *,
    finding_id: str = "",
) -> HttpResponse:
    """Return the page, or the region that htmx swaps, after recording what it shows.

    A request from another website is refused: its links could fill a customer's audit log.
    """
    if not request.user.has_perm(PERMISSION):
        raise PermissionDenied
    if is_from_elsewhere(request):
        messages.info(request, _("To see a website as its customer, enter the address of the page yourself."))
        return redirect("admin:index")
    websites = Website.objects.select_related("account")
    website = get_object_or_404(websites, host=host, account__ref=request.GET.get("account", ""))
    page = _page(website, Filters.from_query(request.GET), finding_id)
    try:
        page = fill_in(website, page)
    except CallError as error:
        page = replace(page, error_page=logged_error_page(error, website.host))
    else:
        _record(request, website, finding_id)
    template = "portal/_fragment.html" if wants_region(request) else "see_as/site.html"
    response = render(request, template, {"page": page}, status=page.status)
    patch_vary_headers(response, ("HX-Request", "HX-Target"))
    return response


def _page(website: Website, filters: Filters, finding_id: str) -> SitePage:
    path = reverse("see_as_customer", args=[website.host])
    address = Address(path=path, account=website.account.ref, filters=filters)
    return SitePage(
        host=website.host,
        account=str(website.account),
        other_accounts=(),
        address=address,
        url=address.of_finding(finding_id) or str(address),
        is_sample=True,  # a page without forms
    )


def _record(request: HttpRequest, website: Website, finding_id: str) -> None:
    what = f"finding {finding_id[:40]}" if finding_id else "the dashboard"
    text = f"Seen as {website.account.ref}: {what}."
    record("website.seen_as_customer", website, after={"finding": finding_id[:40]}, may_wait=True)
    # The type stubs do not know that a signed-in user has a primary key.
    LogEntry.objects.log_actions(request.user.pk or 0, [website], CHANGE, text, single_object=True)
