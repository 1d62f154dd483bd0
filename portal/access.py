"""Who may come in: people who signed in, each to the websites of their accounts."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import resolve_url
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRedirect

from portal.htmx import HtmxHttpRequest, page_before
from portal.models.languages import note_reading_language
from portal.page_urls import is_path, page_of_form

View = Callable[..., HttpResponseBase]


def members_only(view: View) -> View:
    """Send everyone else to sign in, and from there back to the page they were on."""

    @wraps(view)
    def guarded(request: HtmxHttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return sign_in_first(request)
        note_reading_language(request.session, request.user.pk)
        return view(request, *args, **kwargs)

    return guarded


def sign_in_first(request: HtmxHttpRequest) -> HttpResponse:
    """Redirect to the sign-in, which leads back; for a fragment, the whole page goes there."""
    if not request.htmx:
        return redirect_to_login(_page_to_return_to(request))
    page = (page_before(request).netloc and request.htmx.current_url_abs_path) or ""
    query = urlencode({"next": page if is_path(page) else "/"})
    return HttpResponseClientRedirect(f"{resolve_url(settings.LOGIN_URL)}?{query}")


def _page_to_return_to(request: HtmxHttpRequest) -> str:
    """Return this page; for a form, the page that sent it, with a message that nothing was changed."""
    if request.method in ("GET", "HEAD"):
        return request.get_full_path()
    text = _("You were signed out, so nothing was changed. Sign in, then choose again.")
    messages.warning(request, text, fail_silently=True)
    return page_of_form(request) or "/"
