"""Responses of the service as Python values, for tests to modify."""

import json

HOST = "shop.example.com"


def dashboard(**changes):
    return {
        "ok": True,
        "host": HOST,
        "dashboard": {"generated_at": "2026-01-02T03:04:05Z", "grade": "A", "page": 1, "page_size": 20},
        "summary": {"open": 0},
        "threats": [],
        "charts": [],
        "coverage": [],
        "analyst_notes": [],
        "entitlement": {"plan": "standard", "status": "active"},
    } | changes


def threat(finding_id="7", **changes):
    return {"id": finding_id, "severity": "High", "title": "A finding"} | changes


def note(number, **changes):
    return {
        "id": str(number),
        "author": "Ada",
        "body": "Look.",
        "created_at": "2026-01-02T03:04:05Z",
    } | changes


def finding(**changes):
    return {"ok": True, "host": HOST, "finding": threat(), "analyst_notes": []} | changes


def refusal(code, **details):
    return {"ok": False, "error": {"code": code, "message": "No.", "request_id": "req-1"} | details}


def encoded(value):
    return json.dumps(value).encode()
