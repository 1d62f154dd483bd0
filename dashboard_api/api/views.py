"""The signed endpoints for findings and calls, and the pages of the documentation."""

import functools
import html
from typing import Any, Never

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.safestring import SafeString
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_cookie

from dashboard_api import limits
from dashboard_api.api import downloads
from dashboard_api.api.authentication import Authenticated
from dashboard_api.api.authorization import authorize
from dashboard_api.api.mistakes import ADVICE
from dashboard_api.api.public_views import shown_feed
from dashboard_api.api.request import Call, error_response, json_endpoint
from dashboard_api.api.response_cache import (
    calls_response,
    changes_response,
    comparison_response,
    dashboard_response,
    finding_response,
)
from dashboard_api.api.signed import signed
from dashboard_api.contract import openapi
from dashboard_api.contract.changelog import VERSIONS
from dashboard_api.errors import NotFound
from es1.vectors import read_vectors
from foundation.texts.snippets import SNIPPETS
from signed_api.account import CALLS, CallsRequest
from signed_api.compare import COMPARE, CompareRequest
from signed_api.example_calls import LINK
from signed_api.findings import CHANGES, DASHBOARD, FINDING, ChangesRequest, DashboardRequest, FindingRequest
from signed_api.health import HealthResponse

_FEED_LENGTH = 5  # on the documentation page


@signed(DASHBOARD)
def site_dashboard(call: Call, caller: Authenticated, fields: DashboardRequest) -> bytes:
    """``POST /v1/site/dashboard``: return a website's dashboard (specification, section 4)."""
    link = authorize(caller.link, fields, call.moment)
    return dashboard_response(link, fields, call.moment)


@signed(FINDING)
def site_finding(call: Call, caller: Authenticated, fields: FindingRequest) -> bytes:
    """``POST /v1/site/finding``: return one finding."""
    link = authorize(caller.link, fields, call.moment)
    return finding_response(link, fields)


@signed(CHANGES)
def site_changes(call: Call, caller: Authenticated, fields: ChangesRequest) -> bytes:
    """``POST /v1/site/changes``: return new findings, regressions and notes since a cursor."""
    link = authorize(caller.link, fields, call.moment)
    return changes_response(link, fields, call.moment)


@signed(COMPARE)
def site_compare(call: Call, caller: Authenticated, fields: CompareRequest) -> bytes:
    """``POST /v1/site/compare``: return two runs of one scanner compared."""
    link = authorize(caller.link, fields, call.moment)
    return comparison_response(link, fields)


@signed(CALLS)
def account_calls(call: Call, caller: Authenticated, fields: CallsRequest) -> bytes:
    """``POST /v1/account/calls``: list the account's calls; needs no plan."""
    return calls_response(caller.account_id, fields, caller.as_reader(call))


@csrf_exempt  # other methods get 405, not the CSRF page
@require_safe
def openapi_document(request: HttpRequest) -> HttpResponse:
    """``GET /v1/openapi.json``: return the OpenAPI document."""
    return JsonResponse(openapi.document(_base_url(request)))


@csrf_exempt
@require_safe
def vectors(_: HttpRequest) -> HttpResponse:
    """``GET /v1/vectors.json``: return the test vectors of ES1."""
    return HttpResponse(read_vectors(), content_type="application/json")


@csrf_exempt
@require_safe
def sample(request: HttpRequest, language: str) -> HttpResponse:
    """``GET /v1/samples/<language>``: return a program that makes a signed call, as plain text."""
    snippet = next((each for each in SNIPPETS if each.key == language), None)
    if snippet is None:
        return error_response(NotFound(), request)
    text = html.unescape(render_to_string(snippet.template, _sample_values(request)))
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


@csrf_exempt
@require_safe
@vary_on_cookie  # the theme
def documentation(request: HttpRequest) -> HttpResponse:
    """``GET /v1/docs``: show the documentation of the API and of signing."""
    return render(
        request,
        "dashboard_api/documentation.html",
        {
            **_sample_values(request),
            "routes": _routes(),
            "routes_in_full": _routes_in_full(),
            "reports": openapi.reports_for_people(),
            "health": openapi.members_for_people(HealthResponse),
            "feed": shown_feed(_FEED_LENGTH),
            "refusals": list(openapi.refusals()),
            "limits": limits,
            "calls_per_second": settings.CALLS_PER_SECOND,
            "calls_burst": settings.CALLS_BURST,
            "mistakes": ADVICE,
            "versions": VERSIONS,
            "snippets": SNIPPETS,
            "example": LINK,
            "test_header": openapi.TEST_HEADER,
            "wheels": list(downloads.WHEELS),
        },
    )


@functools.cache
def _routes() -> list[dict[str, Any]]:
    return openapi.routes_for_people()


@functools.cache
def _routes_in_full() -> SafeString:
    """Return the HTML about the signed routes; cached, because it is constant and slow to render."""
    with translation.override("en"):
        return render_to_string("dashboard_api/_routes.html", {"routes": _routes()})


def _sample_values(request: HttpRequest) -> dict[str, str]:
    """Return the values for a sample: they name the example website, which needs only a test secret."""
    return {
        "path": DASHBOARD.path,
        "base_url": _base_url(request),
        "host": LINK["host"],
        "link_id": LINK["link_id"],
        "account_ref": LINK["portal_account_ref"],
    }


def _base_url(request: HttpRequest) -> str:
    return request.build_absolute_uri("/").rstrip("/")


@json_endpoint
def nothing_here(_: HttpRequest) -> Never:
    """Answer every other path below ``/v1/`` with 404 as JSON; a trailing slash causes no redirect."""
    raise NotFound
