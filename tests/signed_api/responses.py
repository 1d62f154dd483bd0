"""Responses of the service as JSON values, for tests to modify."""

import json

from signed_api.findings import DashboardResponse, FindingDetail, FindingResponse, Note, Page, Threat
from tests.structs import as_json

HOST = "shop.example.com"


def dashboard(**changes):
    page = as_json(Page, grade="A", page=1, page_size=20)
    return as_json(DashboardResponse, ok=True, host=HOST, dashboard=page) | changes


def threat(finding_id="7", **changes):
    return as_json(Threat, id=finding_id, severity="High", title="A finding") | changes


def note(number, **changes):
    return as_json(Note, id=str(number), author="Ada", body="Look.") | changes


def finding(**changes):
    found = as_json(FindingDetail, id="7", severity="High", title="A finding")
    return as_json(FindingResponse, ok=True, host=HOST, finding=found) | changes


def refusal(code, **details):
    return {"ok": False, "error": {"code": code, "message": "No.", "request_id": "req-1"} | details}


def encoded(value):
    return json.dumps(value).encode()
