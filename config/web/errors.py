"""Responses to errors outside views: JSON below ``/v1/``, pages elsewhere.

Only ``stale_form`` uses the database: its failure may cause the other errors.
"""

import sys
from collections.abc import Callable
from urllib.parse import urlencode

from allauth.core.internal import ratelimit
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.csrf import csrf_failure

from config.web.theme import current_theme
from dashboard_api.api.request import error_response
from dashboard_api.errors import BadRequest, BodyTooLarge, InternalError, NotFound, Unavailable
from foundation.operations.request_ids import current_request_id
from foundation.operations.storage import is_storage_fault
from foundation.sealing import CannotUnseal
from portal.pages.urls import referring_page

RETRY_SECONDS = 30


def is_api(request: HttpRequest) -> bool:
    """Return whether the path is below ``/v1/``, or below ``//v1/``, which some base URLs produce."""
    return request.path.lstrip("/").startswith("v1/")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return 400, such as for a Host header that is not allowed; 503 if storage failed."""
    if is_storage_fault(exception):
        return unavailable(request)
    return error_response(BadRequest(), request) if is_api(request) else _page(request, 400)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001  # as Django calls it
    """Return 404 for an unknown path; Django's own view fails on an unreadable form."""
    return error_response(NotFound(), request) if is_api(request) else render(request, "404.html", status=404)


def page_for_not_allowed(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Return middleware that shows the 404 page, with status 405, if a browser opens a form's address."""

    def respond(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if response.status_code != 405 or request.method != "GET" or is_api(request):
            return response
        page = render(request, "404.html", status=405)
        page["Allow"] = response["Allow"]
        return page

    return respond


def too_large(request: HttpRequest) -> HttpResponse:
    """Return 413 for a body that is longer than the page accepts; it was not read."""
    return error_response(BodyTooLarge(), request) if is_api(request) else _page(request, 413)


def server_error(request: HttpRequest) -> HttpResponse:
    """Return 500, or 503 if storage failed or a master key is missing; the log has the cause."""
    error = sys.exception()
    if is_storage_fault(error) or isinstance(error, CannotUnseal):
        return unavailable(request)
    return error_response(InternalError(), request) if is_api(request) else _page(request, 500)


def unavailable(request: HttpRequest) -> HttpResponse:
    """Return 503: a database or disk is busy, full, damaged or unreachable, or a master key is missing."""
    if is_api(request):
        return error_response(Unavailable(), request)
    response = _page(request, 503)
    response["Retry-After"] = str(RETRY_SECONDS)
    return response


def longest_wait(limit: str) -> int:
    """Return the seconds after which a limit of ACCOUNT_RATE_LIMITS surely has room again."""
    rates = ratelimit.get_rates(app="allauth.account", action=limit)
    return int(max(rate.duration for rate in rates))


def too_many_requests(request: HttpRequest, *, seconds: int = 60) -> HttpResponse:
    """Return 429; the default wait fits the limits of allauth's own pages."""
    response = render(request, "429.html", {"minutes": seconds // 60}, status=429)
    response["Retry-After"] = str(seconds)
    return response


def stale_form(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Redirect to the page of the form with an explanation; return 403 if that page is not ours.

    The admin returns 403, so that going back shows its long forms still filled in.
    """
    page = "" if request.path.startswith("/admin/") else referring_page(request) or _sign_in_page(request)
    if not page:
        return csrf_failure(request, reason)
    if not request.user.is_authenticated or request.path != reverse("account_login"):
        messages.warning(request, _("The form was out of date, so nothing was sent. Please try again."))
    return redirect(page)


def _sign_in_page(request: HttpRequest) -> str:
    """Return the address of the sign-in with its ``next`` page; empty for other forms."""
    if request.path != reverse("account_login"):
        return ""
    return f"{request.path}?{urlencode({'next': request.POST.get('next', '')})}"


def _page(request: HttpRequest, status: int) -> HttpResponse:
    """Return the page of ``status`` in the visitor's theme and language, without querying the user."""
    context = {"theme": current_theme(request), "reference": current_request_id()}
    text = render_to_string(f"{status}.html", context)
    return HttpResponse(text, status=status)
