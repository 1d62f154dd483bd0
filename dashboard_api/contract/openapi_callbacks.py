"""The part of the OpenAPI document about payment callbacks."""

from collections.abc import Callable, Mapping
from typing import Any

from dashboard_api import errors

PATH = "/v1/callbacks/standard"
GROUP = "Payment callbacks"
OWN_REFUSALS = (errors.CallbackRefused, errors.CallbackTooLarge)
REFUSALS = (
    *OWN_REFUSALS,
    *(errors.HttpsRequired, errors.NotFound, errors.MethodNotAllowed, errors.UnsupportedMediaType),
    *(errors.LengthRequired, errors.IncompleteBody, errors.Unavailable, errors.InternalError),
)
_STATES = ("applied", "duplicate", "superseded", "ignored", "waiting", "failed", "dead")
_DAY = {"type": "string", "format": "date"}
_EVENT = {
    "type": "object",
    "required": ["type", "data"],
    "properties": {
        "type": {
            "type": "string",
            "description": "entitlement.set, customer.linked; others are ignored.",
        },
        "timestamp": {"type": "string", "format": "date-time"},
        "livemode": {"type": "boolean", "description": "The default is true."},
        "data": {
            "type": "object",
            "required": ["version", "status", "ends_on"],
            "properties": {
                "billing_ref": {"type": "string", "description": "The account's reference for payments."},
                "version": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 2**53,
                    "description": "Grows with each change; the greatest holds, whatever arrives last.",
                },
                "customer": {"type": "string", "maxLength": 255},
                "plan": {"type": "string", "maxLength": 50},
                "price": {"type": "string", "maxLength": 255, "description": "Instead of the plan."},
                "status": {
                    "type": "string",
                    "enum": ["trialing", "active", "past_due", "suspended", "expired"],
                },
                "ends_on": _DAY,
                "renews": {"type": "boolean", "description": "The default is false."},
                "cancels": {"type": "boolean", "description": "The default is false."},
                "past_due_since": {**_DAY, "type": ["string", "null"]},
                "subscription": {"type": ["string", "null"], "maxLength": 255},
            },
        },
    },
}
_EXAMPLE = {
    "type": "entitlement.set",
    "timestamp": "2026-11-23T09:00:00Z",
    "livemode": True,
    "data": {
        "billing_ref": "0b0c6d3e-5d0f-4b58-9c0a-2f5f5c7d8e90",
        "version": 7,
        "plan": "team",
        "status": "active",
        "ends_on": "2026-12-23",
        "renews": True,
        "cancels": False,
    },
}
_RESPONSE = {
    "type": "object",
    "required": ["ok", "state"],
    "properties": {
        "ok": {"type": "boolean", "description": "Always true."},
        "state": {"type": "string", "description": f"{', '.join(_STATES)}."},
    },
}


def paths(response: Callable[..., dict[str, Any]], refused: Mapping[str, Any]) -> dict[str, Any]:
    """Return the path; ``response`` describes one response, and ``refused`` has the refusals by status."""
    headers = (
        ("webhook-id", "The id of the event, the same for each attempt."),
        ("webhook-timestamp", "Unix seconds, within 300 of the service's clock."),
        ("webhook-signature", "v1, and the base64 of HMAC-SHA256 over id.timestamp.body."),
    )
    return {
        PATH: {
            "post": {
                "operationId": "callback",
                "tags": [GROUP],
                "summary": "A payment provider reports what an account has paid for",
                "description": "Signed by Standard Webhooks. 200 means that the event is stored for good. "
                "An addition to the specification.",
                "security": [],
                "parameters": [
                    {
                        "name": name,
                        "in": "header",
                        "required": True,
                        "schema": {"type": "string"},
                        "description": meaning,
                    }
                    for name, meaning in headers
                ],
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": _EVENT, "example": _EXAMPLE}},
                },
                "responses": {
                    "200": response("Stored for good.", _RESPONSE, example={"ok": True, "state": "applied"}),
                    **refused,
                },
            }
        }
    }
