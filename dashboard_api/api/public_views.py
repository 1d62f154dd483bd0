"""``GET /v1/public/...``: serves the published documents to anyone, without signature or cookies."""

import functools
import hashlib
import json
from collections.abc import Callable
from threading import Lock
from typing import Any

from cachetools import TTLCache, cached
from csp.decorators import csp_replace
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from django.views.decorators.clickjacking import xframe_options_exempt

from dashboard_api.api.request import error_response
from dashboard_api.errors import ApiError, MethodNotAllowed, NotFound, NotPublished, UnexpectedQuery
from dashboard_api.models import Published
from dashboard_api.public import pages

CACHE_CONTROL = "public, max-age=300, stale-while-revalidate=86400"
_KEPT_SECONDS = 60  # a document, in the memory of a process
_HEADERS = {
    "Cache-Control": CACHE_CONTROL,
    "Access-Control-Allow-Origin": "*",  # no other part of the service sends this header
    "Cross-Origin-Resource-Policy": "cross-origin",
}
View = Callable[..., HttpResponse]


def public(view: View) -> View:
    """Allow only GET without a query string: variants of the URL could fill caches."""

    @functools.wraps(view)
    def respond(request: HttpRequest, **arguments: Any) -> HttpResponse:
        try:
            if not settings.PUBLIC_TELEMETRY:
                raise NotFound
            if request.method not in ("GET", "HEAD"):
                raise MethodNotAllowed("GET")
            if request.META.get("QUERY_STRING"):
                raise UnexpectedQuery("This address takes no query string.")
            return view(request, **arguments)
        except ApiError as error:
            return error_response(error, request)

    respond.csrf_exempt = True  # type: ignore[attr-defined]  # other methods get 405, not the CSRF page
    return respond


@public
def statistics(request: HttpRequest) -> HttpResponse:
    """``GET /v1/public/statistics``: return the newest statistics."""
    return _send(request, Published.Kind.STATISTICS)


@public
def feed(request: HttpRequest) -> HttpResponse:
    """``GET /v1/public/feed``: return the live feed."""
    response = _send(request, Published.Kind.FEED)
    response["X-Robots-Tag"] = "noindex"
    return response


@public
def page(request: HttpRequest) -> HttpResponse:
    """``GET /v1/public``: show the statistics and the feed to people, with explanations."""
    body = newest(Published.Kind.STATISTICS)
    context = {"statistics": pages.statistics_view(json.loads(body) if body else None), "feed": shown_feed()}
    # No forms in the header: their tokens would set a cookie.
    response = render(request, "public/page.html", context | {"themes": ()})
    response["Cache-Control"] = "private, no-cache"  # the header shows who is signed in
    return response


@xframe_options_exempt
@csp_replace({"frame-ancestors": ["*"]})
@public
def feed_page(request: HttpRequest) -> HttpResponse:
    """``GET /v1/public/feed.html``: show only the feed, for frames on other websites.

    Any website may frame it, because it has no links or buttons to hijack.
    """
    response = render(request, "public/feed.html", {"feed": shown_feed()})
    response["X-Robots-Tag"] = "noindex"
    response["Cache-Control"] = CACHE_CONTROL
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


def shown_feed(length: int | None = None) -> pages.FeedView | None:
    """Return the published feed for a template, if there is one; usually from memory, without a query."""
    if not settings.PUBLIC_TELEMETRY or (body := newest(Published.Kind.FEED)) is None:
        return None
    return pages.feed_view(json.loads(body), length)


@cached(TTLCache(maxsize=8, ttl=_KEPT_SECONDS), lock=Lock())
def newest(kind: str) -> bytes | None:
    """Return the body of the newest document of a kind."""
    body = Published.objects.filter(kind=kind).values_list("body", flat=True).first()
    return body.encode() if body else None


def _send(request: HttpRequest, kind: str) -> HttpResponse:
    """Return the document, or 304 for a client that has it; raises NotPublished."""
    if (body := newest(kind)) is None:
        raise NotPublished
    response = HttpResponse(body, content_type="application/json")
    response["ETag"] = etag = quote_etag(hashlib.sha256(body).hexdigest()[:32])
    reply = get_conditional_response(request, etag=etag, response=response) or response
    for name, value in _HEADERS.items():  # also on a 304
        reply[name] = value
    return reply
