"""Access to pages: members see the websites of their accounts, and other people sign in first."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import quote, urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, resolve_url
from django.urls import reverse
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRedirect

from portal.models import Membership, Website
from portal.models.languages import record_language
from portal.pages.htmx import HtmxHttpRequest, current_page, wants_region
from portal.pages.urls import is_local_path, referring_page

View = Callable[..., HttpResponseBase]
MAX_RETURN_LENGTH = 1500  # of the quoted URL to return to; a request line has at most 4,094 characters


def members_only(view: View) -> View:
    """Redirect anonymous visitors to the sign-in, which leads back to the page."""

    @wraps(view)
    def guarded(request: HtmxHttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return redirect_to_sign_in(request)
        record_language(request.session, request.user.pk)
        return view(request, *args, **kwargs)

    return guarded


def current_user(request: HttpRequest) -> Any:
    """Return the signed-in user, whom ``members_only`` guarantees."""
    return request.user


def for_strangers(view: View) -> View:
    """Add headers that hide the page from search engines, caches and linked websites."""

    @wraps(view)
    def respond(request: HtmxHttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = view(request, *args, **kwargs)
        response["Cache-Control"] = "no-store, private"
        response.setdefault("Referrer-Policy", "no-referrer")
        response["X-Robots-Tag"] = "noindex, nofollow, noarchive"
        return response

    return respond


def is_from_elsewhere(request: HttpRequest) -> bool:
    """Return whether another website started the request, as the browser's Sec-Fetch-Site says."""
    return request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site")


def file_of(page: str) -> Callable[[View], View]:
    """Return a decorator for a file or report: requests from other websites are redirected to ``page``.

    A download does not change the window, and an error page does. Without the redirect, another website could
    tell from this difference whether its visitor has the website here.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def respond(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if is_from_elsewhere(request):
                page_arguments = {"host": kwargs["host"]} if "host" in kwargs else None
                return redirect(reverse(page, kwargs=page_arguments, query=request.GET))
            return view(request, *args, **kwargs)

        return respond

    return decorate


def find_website(request: HtmxHttpRequest, host: str) -> tuple[Website | None, list[Website]]:
    """Return the website of the URL if the person may see it, and all their websites with this host."""
    candidates = list(Website.objects.visible_to(request.user).with_host(host))
    account = request.GET.get("account", "")
    return next((site for site in candidates if account in ("", site.account.ref)), None), candidates


def get_website(request: HtmxHttpRequest, host: str) -> tuple[Website, list[Website]]:
    """Return the same as ``find_website``; raises Http404 if the person may not see the website."""
    website, candidates = find_website(request, host)
    if website is None:
        raise Http404
    return website, candidates


def manages(request: HttpRequest, website: Website) -> bool:
    """Return whether the person is an owner or manager of the website's account."""
    own_memberships = Membership.objects.of_user(request.user).managing()
    return own_memberships.filter(account=website.account_id).exists()


def may_answer(request: HttpRequest, website: Website) -> bool:
    """Return whether the person may answer findings: owners, managers and contributors may."""
    own_memberships = Membership.objects.of_user(request.user).answering()
    return own_memberships.filter(account=website.account_id).exists()


def redirect_to_sign_in(request: HtmxHttpRequest) -> HttpResponse:
    """Redirect to the sign-in, which leads back to this page.

    For an htmx fragment, the whole page is redirected, and returns to the clicked filter or finding.
    """
    if not request.htmx:
        return redirect_to_login(_short(_return_path(request)))
    # An invalid URL has no netloc here; ``current_url_abs_path`` would raise, and is None for other websites.
    page = (current_page(request).netloc and request.htmx.current_url_abs_path) or ""
    if request.method == "GET" and wants_region(request):
        page = request.get_full_path()
    query = urlencode({"next": _short(page) if is_local_path(page) else "/"})
    return HttpResponseClientRedirect(f"{resolve_url(settings.LOGIN_URL)}?{query}")


def _short(page: str) -> str:
    """Return the page's URL for the sign-in; if too long, only its path, or the start page."""
    path = page.partition("?")[0]
    for url in (page, path):
        if len(quote(url)) <= MAX_RETURN_LENGTH:
            return url
    return "/"


def _return_path(request: HtmxHttpRequest) -> str:
    """Return this page's URL; for a form, the URL of the form's page, and warn that it was not saved."""
    if request.method in ("GET", "HEAD"):
        return request.get_full_path()
    text = _("You were signed out, so nothing was changed. Sign in and try again.")
    messages.warning(request, text, fail_silently=True)
    return referring_page(request) or "/"
