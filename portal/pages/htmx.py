"""Responses as a whole page or an htmx fragment, with the URL that the browser shows."""

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

REGION = "results"  # HTML id of the part of the page that htmx replaces
FORM = "filters"  # HTML id of the search form
_STYLES = "portal/portal.css"


class HtmxHttpRequest(HttpRequest):
    """A request with the attribute ``htmx`` of the django-htmx middleware."""

    htmx: HtmxDetails


def wants_region(request: HtmxHttpRequest) -> bool:
    """Return whether to send only the region; a restored history entry is always a whole page."""
    htmx = request.htmx
    return bool(htmx) and not htmx.history_restore_request and htmx.target == REGION


def render_site(request: HtmxHttpRequest, page: SitePage) -> HttpResponse:
    """Return ``page`` or its region; an error keeps its status and still replaces the region.

    A page with an old answer retries by itself. While the outage lasts, only its notice is replaced.
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
        # The browser loads the styles before it has the page.
        response["Link"] = f'<{static(_STYLES)}>; rel=preload; as=style; integrity="{integrity(_STYLES)}"'
    return _with_headers(response, page.error_page)


def render_row(request: HtmxHttpRequest, row: SiteRow, error_page: ErrorPage | None) -> HttpResponse:
    """Return ``row`` as a fragment; ``error_page`` belongs to a failed refresh.

    A refusal, such as an expired plan, is a normal state of the row, with status 200. A fault keeps its 5xx.
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
    """Return the URL of the page that requested the fragment; empty if the browser sent an invalid one."""
    try:
        return urlsplit(request.htmx.current_url or "")
    except ValueError:
        return urlsplit("")


def set_shown_url(request: HtmxHttpRequest, response: HttpResponse, url: str, filters: Filters) -> None:
    """Tell htmx to show ``url``: as a new history entry, unless a search was refined or no filter changed."""
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
