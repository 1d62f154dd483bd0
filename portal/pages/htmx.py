"""Responses as a whole page or as an htmx fragment, and the URL that htmx shows for them."""

from dataclasses import replace
from urllib.parse import SplitResult, urlsplit

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.templatetags.static import static
from django.utils.cache import patch_vary_headers
from django_htmx.http import push_url, replace_url, reswap, retarget
from django_htmx.middleware import HtmxDetails

from foundation.pages.integrity import integrity
from portal.pages.error_pages import ErrorPage
from portal.pages.forms import Filters
from portal.pages.view_models import SitePage, SiteRow

REGION = "results"
FORM = "filters"


class HtmxHttpRequest(HttpRequest):
    """A request with the attribute that the middleware of django-htmx adds."""

    htmx: HtmxDetails


def wants_region(request: HtmxHttpRequest) -> bool:
    """Return whether to send the region alone; a restored history entry is always a whole page."""
    htmx = request.htmx
    return bool(htmx) and not htmx.history_restore_request and htmx.target == REGION


def render_site(request: HtmxHttpRequest, page: SitePage) -> HttpResponse:
    """Return ``page`` or its region; an error keeps its status and still replaces the region.

    A page with an old answer asks again by itself: while the outage lasts, only its notice is replaced.
    """
    if page.outage and page.outage.replaces:
        response = render(request, "portal/_outage.html", {"page": page, "outage": page.outage})
        retarget(response, f"#{page.outage.replaces}")
        reswap(response, "outerHTML")
    elif wants_region(request):
        response = render(request, "portal/_fragment.html", {"page": page}, status=page.status)
        set_shown_url(request, response, page.url, page.address.filters)
        if page.status >= 400:
            retarget(response, f"#{REGION}")
    else:
        response = render(request, "portal/site.html", {"page": page}, status=page.status)
        response["Link"] = _early_styles()
    return _with_headers(response, page.error_page)


def _early_styles() -> str:
    """Return the header by which a browser asks for the styles while the page is still on its way."""
    path = "portal/portal.css"
    return f'<{static(path)}>; rel=preload; as=style; integrity="{integrity(path)}"'


def render_row(request: HtmxHttpRequest, row: SiteRow, error_page: ErrorPage | None) -> HttpResponse:
    """Return ``row`` with the latest summary.

    A refusal, such as an expired plan, is a state that the row shows with 200. Only a fault is an error.
    """
    row = replace(row, is_old=False, refresh_failed=bool(error_page and error_page.can_retry))
    status = error_page.status if error_page and error_page.status >= 500 else 200
    response = render(request, "portal/_site_row.html", {"row": row}, status=status)
    if error_page:
        retarget(response, f"#{row.id}")
    return _with_headers(response, error_page)


def _with_headers(response: HttpResponse, error_page: ErrorPage | None) -> HttpResponse:
    if error_page and error_page.retry_after:
        response["Retry-After"] = str(error_page.retry_after)
    patch_vary_headers(response, ("HX-Request", "HX-Target"))
    return response


def current_page(request: HtmxHttpRequest) -> SplitResult:
    """Return the URL of the page that shows the fragment, as the browser sent it; empty if invalid."""
    try:
        return urlsplit(request.htmx.current_url or "")
    except ValueError:
        return urlsplit("")


def set_shown_url(request: HtmxHttpRequest, response: HttpResponse, url: str, filters: Filters) -> None:
    """Let htmx show ``url``: as a new history entry, unless only a search was refined or nothing changed."""
    shown = current_page(request)
    before = Filters.from_query(QueryDict(shown.query))
    is_refined = (
        request.htmx.trigger == FORM
        and before.query
        and filters.query
        and before.without_query == filters.without_query
    )
    is_same_page = shown.path == urlsplit(url).path
    set_url = replace_url if is_same_page and (is_refined or before == filters) else push_url
    set_url(response, url)
