"""``GET /v1/public/...``: published documents as they are stored, unsigned, without cookies. Record 0125."""

import functools
import hashlib
import json
import re
from collections.abc import Callable
from datetime import date, datetime
from threading import Lock
from typing import Any, NamedTuple

from cachetools import TTLCache, cached
from csp.decorators import csp_replace
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import get_conditional_response
from django.utils.http import http_date, quote_etag
from django.views.decorators.clickjacking import xframe_options_exempt

from dashboard_api.api.request import error_response
from dashboard_api.errors import ApiError, MethodNotAllowed, NotFound, NotPublished, UnexpectedQuery
from dashboard_api.models import Published
from dashboard_api.public import pages
from dashboard_api.public.publishing import STALE_AFTER, stale_copy

CACHE_CONTROL = "public, max-age=300, stale-while-revalidate=86400"
_SECONDS = 60  # that a process keeps a document
_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))")
_HEADERS = {
    "Cache-Control": CACHE_CONTROL,
    "Vary": "Accept-Encoding",
    "Access-Control-Allow-Origin": "*",  # here and nowhere else
    "Cross-Origin-Resource-Policy": "cross-origin",
}
View = Callable[..., HttpResponse]


class Document(NamedTuple):
    """A published document, as it is sent."""

    body: bytes
    gzipped: bytes
    etag: str
    made_at: datetime


def public(view: View) -> View:
    """Return a view for everyone: GET without a query, so that no cache can be filled with variants."""

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
    """``GET /v1/public/statistics``: the newest statistics."""
    return _send(request, newest(Published.Kind.STATISTICS))


@public
def statistics_of_day(request: HttpRequest, day: date) -> HttpResponse:
    """``GET /v1/public/statistics/2026-11-21``: the statistics of a day, which never change."""
    return _send(request, of_day(day))


@public
def feed(request: HttpRequest) -> HttpResponse:
    """``GET /v1/public/feed``: the live feed."""
    response = _send(request, newest(Published.Kind.FEED))
    response["X-Robots-Tag"] = "noindex"
    return response


@public
def page(request: HttpRequest) -> HttpResponse:
    """``GET /v1/public``: the statistics and the feed for people, with their meaning."""
    documents = [newest(kind) for kind in (Published.Kind.STATISTICS, Published.Kind.FEED)]
    statistics, feed = (json.loads(each.body) if each else None for each in documents)
    context = {"statistics": pages.statistics_view(statistics), "feed": pages.feed_view(feed)}
    # Without the forms of the header, whose tokens would set a cookie.
    response = render(request, "public/page.html", context | {"themes": ()})
    return _unless_known(request, response, max((each.made_at for each in documents if each), default=None))


@xframe_options_exempt
@csp_replace({"frame-ancestors": ["*"]})
@public
def feed_page(request: HttpRequest) -> HttpResponse:
    """``GET /v1/public/feed.html``: the feed alone, for a frame in any page; it has nothing to click."""
    response = render(request, "public/feed.html", {"feed": shown_feed()})
    response["X-Robots-Tag"] = "noindex"
    response["Cache-Control"] = CACHE_CONTROL
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


def _unless_known(request: HttpRequest, response: HttpResponse, made_at: datetime | None) -> HttpResponse:
    """Return the page, or 304 for a client that has the same bytes; it is in several languages."""
    etag = quote_etag(hashlib.sha256(response.content).hexdigest()[:32])
    response["ETag"] = etag
    if made_at is not None:
        response["Last-Modified"] = http_date(made_at.timestamp())
    answer = get_conditional_response(request, etag, None, response) or response
    answer["Cache-Control"] = "private, no-cache"  # the header is that of a member
    return answer


def shown_feed(length: int | None = None) -> pages.FeedView | None:
    """Return the published feed for a template, without any query while it is kept; None without one."""
    if not settings.PUBLIC_TELEMETRY or (document := newest(Published.Kind.FEED)) is None:
        return None
    return pages.feed_view(json.loads(document.body), length)


@cached(TTLCache(maxsize=8, ttl=_SECONDS), lock=Lock())
def newest(kind: str) -> Document | None:
    """Return the newest document of a kind, marked as stale if the command has not run lately."""
    row = Published.objects.filter(kind=kind).order_by("-day").first()
    if row is None:
        return None
    if timezone.now() - row.made_at > STALE_AFTER:
        return _document(*stale_copy(bytes(row.body)), row.made_at)
    return _document(bytes(row.body), bytes(row.gzipped), row.made_at)


@cached(TTLCache(maxsize=200, ttl=_SECONDS), lock=Lock())
def of_day(day: date) -> Document | None:
    """Return the statistics of a day."""
    row = Published.objects.filter(kind=Published.Kind.STATISTICS, day=day).first()
    return _document(bytes(row.body), bytes(row.gzipped), row.made_at) if row else None


def _document(body: bytes, gzipped: bytes, made_at: datetime) -> Document:
    return Document(body, gzipped, hashlib.sha256(body).hexdigest()[:32], made_at)


def _send(request: HttpRequest, document: Document | None) -> HttpResponse:
    """Return the document, or 304 for a client that has it; raises NotPublished."""
    if document is None:
        raise NotPublished
    body, etag = document.body, document.etag
    if packs := bool(_GZIP.search(request.headers.get("Accept-Encoding", ""))):
        body, etag = document.gzipped, f"{etag}-gzip"
    response = HttpResponse(body, content_type="application/json", headers=_HEADERS)
    response["Last-Modified"] = http_date(document.made_at.timestamp())
    response["ETag"] = quote_etag(etag)
    if packs:
        response["Content-Encoding"] = "gzip"
    last_modified = int(document.made_at.timestamp())
    answer = get_conditional_response(request, quote_etag(etag), last_modified, response) or response
    for name, value in _HEADERS.items():  # a 304 has them, too
        answer[name] = value
    return answer
