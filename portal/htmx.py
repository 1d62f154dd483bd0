"""Page or fragment: the one place that answers it, and that tells htmx which address it now shows."""

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django_htmx.http import push_url, replace_url, retarget
from django_htmx.middleware import HtmxDetails

from portal.error_pages import Problem, without_linking
from portal.forms import Filters
from portal.models.members import Membership

if TYPE_CHECKING:
    from portal.view_models import SiteCard, SitePage

REGION = "results"
FORM = "filters"


class HtmxHttpRequest(HttpRequest):
    """A request as django-htmx's middleware hands it on."""

    htmx: HtmxDetails


def wants_region(request: HtmxHttpRequest) -> bool:
    """Whether to answer with the region alone; a restored history entry is always a whole page."""
    htmx = request.htmx
    return bool(htmx) and not htmx.history_restore_request and htmx.target == REGION


def render_site(request: HtmxHttpRequest, page: "SitePage") -> HttpResponse:
    """``page`` whole, or its region; an error keeps its true status and still reaches the region."""
    if page.problem and not Membership.objects.of(request.user).may_link():
        page = replace(page, problem=without_linking(page.problem))
    if wants_region(request):
        response = render(request, "portal/_fragment.html", {"page": page}, status=page.status)
        show_address(request, response, page.here, page.address.filters)
        if page.status >= 400:
            retarget(response, f"#{REGION}")
    else:
        response = render(request, "portal/site.html", {"page": page}, status=page.status)
    return _finished(response, page.problem)


def render_card(request: HtmxHttpRequest, card: "SiteCard", problem: Problem | None) -> HttpResponse:
    """Return ``card`` with the latest answer, or with what was known before.

    A refusal (such as an expired plan) is a state that the card shows with 200. Only a fault is an error.
    """
    card = replace(card, is_asking=False, has_failed=bool(problem and problem.can_retry))
    status = problem.status if problem and problem.status >= 500 else 200
    response = render(request, "portal/_site_card.html", {"card": card}, status=status)
    if problem:
        retarget(response, f"#{card.id}")
    return _finished(response, problem)


def _finished(response: HttpResponse, problem: Problem | None) -> HttpResponse:
    """With the headers that every page of the service's answers has."""
    if problem and problem.retry_after:
        response["Retry-After"] = str(problem.retry_after)
    patch_vary_headers(response, ("HX-Request", "HX-Target"))
    return response


def page_before(request: HtmxHttpRequest) -> SplitResult:
    """Return the address of the page that shows the fragment, as the browser says; empty for a bad one."""
    try:
        return urlsplit(request.htmx.current_url or "")
    except ValueError:
        return urlsplit("")


def show_address(request: HtmxHttpRequest, response: HttpResponse, here: str, now: Filters) -> None:
    """A new state is a step in the history; the same one, or a search being refined, is not."""
    shown = page_before(request)
    before = Filters.read(QueryDict(shown.query))
    refined = request.htmx.trigger == FORM and before.query and now.query and before.bare == now.bare
    is_same_thing = shown.path == urlsplit(here).path
    write = replace_url if is_same_thing and (refined or before == now) else push_url
    write(response, here)
