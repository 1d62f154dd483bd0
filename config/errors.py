"""Errors outside any view: JSON below ``/v1/``, pages for everything else.

Only ``stale_form`` uses the database, because a failing database may cause the other errors.
"""

import sys
from urllib.parse import urlencode

from django.contrib import messages
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views import defaults
from django.views.csrf import csrf_failure

from config.theme import current_theme
from dashboard_api.api.request import error_response, new_request_id
from dashboard_api.errors import ApiError, BadRequest, BodyTooLarge, InternalError, NotFound, Unavailable
from portal.page_urls import referring_page

WAIT_SECONDS = 15 * 60  # as the page says
RETRY_SECONDS = 30


def is_api(request: HttpRequest) -> bool:
    """Return whether a program called: also below ``//v1/``, which some base URLs lead to."""
    return request.path.lstrip("/").startswith("v1/")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return 400, such as for a Host header that is not allowed; 503 if the database failed."""
    if _database_failed(exception):
        return unavailable(request)
    return _json(BadRequest()) if is_api(request) else defaults.bad_request(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return 404: no route takes the path."""
    return _json(NotFound()) if is_api(request) else defaults.page_not_found(request, exception)


def too_large(request: HttpRequest) -> HttpResponse:
    """Return 413: the body is longer than the page accepts, and was not read."""
    return _json(BodyTooLarge()) if is_api(request) else _page(request, 413)


def server_error(request: HttpRequest) -> HttpResponse:
    """Return 500, or 503 if the database failed; the log has the cause."""
    if _database_failed(sys.exception()):
        return unavailable(request)
    return _json(InternalError()) if is_api(request) else defaults.server_error(request)


def unavailable(request: HttpRequest) -> HttpResponse:
    """Return 503: the database is locked, unreachable or full."""
    if is_api(request):
        return _json(Unavailable())
    response = _page(request, 503)
    response["Retry-After"] = str(RETRY_SECONDS)
    return response


def too_many_requests(request: HttpRequest) -> HttpResponse:
    """Return 429: too many attempts to sign in or to reset a password."""
    response = render(request, "429.html", status=429)
    response["Retry-After"] = str(WAIT_SECONDS)
    return response


def stale_form(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Redirect to the form's page with an explanation, if the form is on a page of ours; else return 403.

    The admin returns 403: its long forms are still filled in when the browser goes back.
    """
    page = "" if request.path.startswith("/admin/") else referring_page(request) or _sign_in_page(request)
    if not page:
        return csrf_failure(request, reason)
    if not request.user.is_authenticated or request.path != reverse("account_login"):
        messages.warning(request, _("The form was out of date, so nothing was sent. Please try again."))
    return redirect(page)


def _sign_in_page(request: HttpRequest) -> str:
    """Return the address of the sign-in, with the page to open next; empty for any other form."""
    if request.path != reverse("account_login"):
        return ""
    return f"{request.path}?{urlencode({'next': request.POST.get('next', '')})}"


def _database_failed(error: BaseException | None) -> bool:
    """Return whether a database failed, also if Django's sessions raised another error because of it."""
    while error is not None:
        if isinstance(error, (OperationalError, InterfaceError)):
            return True
        error = error.__cause__ or error.__context__
    return False


def _page(request: HttpRequest, status: int) -> HttpResponse:
    """Return the page of ``status`` in the visitor's theme and language, without querying the user."""
    text = render_to_string(f"{status}.html", {"theme": current_theme(request)})
    return HttpResponse(text, status=status)


def _json(error: ApiError) -> HttpResponse:
    return error_response(error, new_request_id())
