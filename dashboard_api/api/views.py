"""The signed endpoints: each call from request to response."""

from typing import Never

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_cookie

from dashboard_api import limits
from dashboard_api.api.authentication import authenticate
from dashboard_api.api.authorization import authorize
from dashboard_api.api.request import json_endpoint, receive
from dashboard_api.api.response_cache import changes_response, dashboard_response, finding_response
from dashboard_api.contract import (
    CHANGES_PATH,
    DASHBOARD_PATH,
    FINDING_PATH,
    openapi,
    read_changes_request,
    read_dashboard_request,
    read_finding_request,
)
from dashboard_api.errors import NotFound


@json_endpoint
def site_dashboard(request: HttpRequest) -> bytes:
    """``POST /v1/site/dashboard``: the specification, section 4."""
    call = receive(request, DASHBOARD_PATH)
    caller = authenticate(call)
    fields = read_dashboard_request(caller.fields)
    link = authorize(caller.link, fields, call.moment)
    return dashboard_response(link, fields, call.moment)


@json_endpoint
def site_finding(request: HttpRequest) -> bytes:
    """``POST /v1/site/finding``: a single finding; decision record 0020."""
    call = receive(request, FINDING_PATH)
    caller = authenticate(call)
    fields = read_finding_request(caller.fields)
    link = authorize(caller.link, fields, call.moment)
    return finding_response(link, fields)


@json_endpoint
def site_changes(request: HttpRequest) -> bytes:
    """``POST /v1/site/changes``: new and returned findings, and notes; decision record 0032."""
    call = receive(request, CHANGES_PATH)
    caller = authenticate(call)
    fields = read_changes_request(caller.fields)
    link = authorize(caller.link, fields, call.moment)
    return changes_response(link, fields, call.moment)


@csrf_exempt  # other methods get 405, not the CSRF page
@require_safe
def openapi_document(request: HttpRequest) -> HttpResponse:
    """``GET /v1/openapi.json``: the OpenAPI document."""
    return JsonResponse(openapi.document(_base_url(request)))


@csrf_exempt
@require_safe
@vary_on_cookie  # the theme
def documentation(request: HttpRequest) -> HttpResponse:
    """``GET /v1/docs``: the documentation of the API and of signing."""
    return render(
        request,
        "dashboard_api/documentation.html",
        {
            "path": DASHBOARD_PATH,
            "base_url": _base_url(request),
            "host": "shop.example.com",
            "link_id": "6f1c…",
            "account_ref": "acct_0001",
            "routes": openapi.routes_for_people(),
            "refusals": list(openapi.refusals()),
            "limits": limits,
        },
    )


def _base_url(request: HttpRequest) -> str:
    return request.build_absolute_uri("/").rstrip("/")


@json_endpoint
def nothing_here(_: HttpRequest) -> Never:
    """Any other path below ``/v1/``, also with a trailing slash: 404 as JSON, no redirect."""
    raise NotFound
