"""The part of the OpenAPI document and of ``/v1/docs`` about sending reports."""

from collections.abc import Callable
from typing import Any

from dashboard_api import errors, limits
from dashboard_api.scanners import READERS

PATH = "/v1/reports"
GROUP = "Reports"
SECURITY_SCHEME = {
    "reportToken": {
        "type": "http",
        "scheme": "bearer",
        "description": "A token for reports. It can send reports about some websites, and do nothing else.",
    }
}
# Errors that only these routes return
OWN_REFUSALS = (
    errors.InvalidToken,
    errors.OtherWebsite,
    errors.OtherScanner,
    errors.UnknownReport,
    errors.ReusedKey,
    errors.ReportTooLarge,
    errors.RefusedReport,
    errors.TooManyReports,
    errors.LostReport,
)
_SHARED_REFUSALS = (
    errors.HttpsRequired,
    errors.BadRequest,
    errors.MethodNotAllowed,
    errors.UnsupportedMediaType,
    errors.LengthRequired,
    errors.IncompleteBody,
    errors.InvalidRequest,
    errors.InactiveEntitlement,
    errors.RevokedLink,
    errors.Unavailable,
    errors.InternalError,
)
_FETCHING = (
    errors.HttpsRequired,
    errors.InvalidToken,
    errors.OtherScanner,
    errors.UnknownReport,
    errors.MethodNotAllowed,
    errors.RefusedReport,
    errors.LostReport,
    errors.Unavailable,
    errors.InternalError,
)
_TEXT = {"type": "string"}
_BOOLEAN = {"type": "boolean"}
_SEVERITIES = ["Critical", "High", "Medium", "Low", "Info"]
# Schema and meaning of each query parameter
PARAMETERS: dict[str, tuple[dict[str, Any], str]] = {
    "host": (_TEXT, "The website that was scanned."),
    "format": (
        {"type": "string", "enum": ["auto", *READERS]},
        "The format of the report; by default auto, by its content. An empty file of Nuclei needs nuclei.",
    ),
    "complete": (
        _BOOLEAN,
        "true: the scan ran to its end, so open findings that it does not report are fixed.",
    ),
    "scanned_at": (
        {"type": "string", "format": "date-time"},
        "When the scan ended; replaces the times in the report. Up to 5 minutes ahead counts as now.",
    ),
    "base_url": (_TEXT, "The base of locations without a host, such as https://shop.example.com/."),
    "target": (
        {"type": "array", "items": _TEXT},
        "A host that was scanned but is not named in the report; may be repeated.",
    ),
    "category": (
        {"type": "string", "maxLength": limits.MAX_CATEGORY_LENGTH},
        "A name for this scan, if one scanner checks the website in several parts.",
    ),
    "dry_run": (_BOOLEAN, "true: show the outcome, and store nothing."),
    "fail_on": (
        {"type": "string", "enum": _SEVERITIES},
        (
            "passed is false if a finding at least as bad is new, came back or has an unclear location, or "
            "if a row cannot be read."
        ),
    ),
}
EXAMPLE = {
    "ok": True,
    "id": "0b54d0f2-7d55-4b6f-9a3e-6a1c7f1f2d10",
    "state": "done",
    "passed": False,
    "reports": [
        {
            "host": "shop.example.com",
            "source": "zap",
            "source_name": "ZAP",
            "scanned_at": "2026-11-20T08:30:00Z",
            "state": "ok",
            "detail": "",
            "rows": 12,
            "findings": 3,
            "occurrences": 8,
            "coverage": 0,
            "rejected": 1,
            "failed": 0,
            "rejects": [{"row": 7, "reason": "is of example.com, which is another website"}],
            "failures": [],
            "suppressed": 0,
            "suppressions": [],
            "new": 1,
            "updated": 2,
            "reopened": 0,
            "fixed": 1,
            "new_severities": {"High": 1},
            "unclear_severities": {},
            "category": "",
            "targets": ["shop.example.com"],
            "more_targets": 0,
            "note": "",
            "unknown_severities": 0,
            "dry_run": False,
        }
    ],
}
_WAITING = EXAMPLE | {"state": "waiting", "passed": None, "reports": []}

Respond = Callable[..., dict[str, Any]]


def paths(schema: dict[str, Any], respond: Respond, refuse: Respond) -> dict[str, Any]:
    """Return the two paths; ``respond`` describes a response, and ``refuse`` the refusals by status."""
    done = {
        "200": respond("The outcome of the import", schema, example=EXAMPLE),
        "202": respond(
            "The report is not imported yet: fetch the address in Location", schema, example=_WAITING
        ),
    }
    common = {"tags": [GROUP], "security": [{"reportToken": []}]}
    return {
        PATH: {
            "post": common
            | {
                "operationId": "sendReport",
                "summary": "Send a scanner's report",
                "description": "An addition to the specification. The body is the report itself, of at most "
                f"{limits.MAX_DOCUMENT_BYTES // 1024**2} MB, as JSON lines "
                f"{limits.MAX_SENT_REPORT_BYTES // 1024**2} MB. The response is 202 if the import takes "
                f"longer than {limits.REPORT_WAIT_SECONDS} seconds.",
                "parameters": [*_query(), *_headers()],
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/octet-stream": {"schema": {"type": "string", "format": "binary"}}
                    },
                },
                "responses": done | refuse((*_SHARED_REFUSALS, *OWN_REFUSALS)),
            }
        },
        f"{PATH}/{{id}}": {
            "get": common
            | {
                "operationId": "sentReport",
                "summary": "The outcome of a report that was sent",
                "description": "The current response of POST /v1/reports; kept for a week.",
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": _TEXT | {"format": "uuid"}}
                ],
                "responses": done | refuse(_FETCHING),
            }
        },
    }


def _query() -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "query", "required": name == "host", "description": meaning, "schema": schema}
        for name, (schema, meaning) in PARAMETERS.items()
    ]


def _headers() -> list[dict[str, Any]]:
    key = {"type": "string", "maxLength": limits.MAX_IDEMPOTENCY_KEY_LENGTH}
    encoding = {"type": "string", "enum": ["gzip", "identity"]}
    meanings = {
        "Idempotency-Key": (key, "For a week, the same key with the same report imports it only once."),
        "Content-Encoding": (encoding, "gzip, if the body is compressed."),
    }
    return [
        {"name": name, "in": "header", "required": False, "description": meaning, "schema": schema}
        for name, (schema, meaning) in meanings.items()
    ]
