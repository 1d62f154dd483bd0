"""The signed endpoints: the flow of one call, from bytes to answer."""

from typing import Never

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_cookie

from dashboard_api import limits
from dashboard_api.api.authentication import authenticate
from dashboard_api.api.authorization import linked_site
from dashboard_api.api.request import json_endpoint, receive
from dashboard_api.api.response_cache import answer, changes_answer, finding_answer
from dashboard_api.contract import (
    CHANGES_PATH,
    DASHBOARD_PATH,
    FINDING_PATH,
    openapi,
    read_changes_question,
    read_finding_question,
    read_question,
)
from dashboard_api.errors import NotFound


@json_endpoint
def site_dashboard(request: HttpRequest) -> bytes:
    """``POST /v1/site/dashboard``: the specification, section 4."""
    call = receive(request, DASHBOARD_PATH)
    caller = authenticate(call)
    question = read_question(caller.fields)
    link = linked_site(caller.link, question, call.moment)
    return answer(link, question, call.moment)


@json_endpoint
def site_finding(request: HttpRequest) -> bytes:
    """``POST /v1/site/finding``: the same checks, and everything about one finding; decision record 0020."""
    call = receive(request, FINDING_PATH)
    caller = authenticate(call)
    question = read_finding_question(caller.fields)
    link = linked_site(caller.link, question, call.moment)
    return finding_answer(link, question)


@json_endpoint
def site_changes(request: HttpRequest) -> bytes:
    """``POST /v1/site/changes``: the same checks, and what is worse than before; decision record 0032."""
    call = receive(request, CHANGES_PATH)
    caller = authenticate(call)
    question = read_changes_question(caller.fields)
    link = linked_site(caller.link, question, call.moment)
    return changes_answer(link, question, call.moment)


@csrf_exempt  # another method is a 405, not a form that is out of date
@require_safe
def openapi_document(request: HttpRequest) -> HttpResponse:
    """``GET /v1/openapi.json``: the contract for machines."""
    return JsonResponse(openapi.document(_base_url(request)))


@csrf_exempt
@require_safe
@vary_on_cookie  # the theme
def documentation(request: HttpRequest) -> HttpResponse:
    """``GET /v1/docs``: the contract and the signing recipe for people."""
    return render(
        request,
        "dashboard_api/documentation.html",
        {
            "path": DASHBOARD_PATH,
            "base_url": _base_url(request),
            "routes": openapi.routes_for_people(),
            "refusals": list(openapi.refusals()),
            "limits": limits,
        },
    )


def _base_url(request: HttpRequest) -> str:
    return request.build_absolute_uri("/").rstrip("/")


@json_endpoint
def nothing_here(_: HttpRequest) -> Never:
    """Every other path below ``/v1/``, slash variants included: no redirect, JSON."""
    raise NotFound
