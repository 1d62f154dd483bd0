"""The part of the OpenAPI document about public telemetry."""

from collections.abc import Callable, Mapping
from typing import Any

from dashboard_api import errors

GROUP = "Public telemetry"
STATISTICS_PATH, FEED_PATH = "/v1/public/statistics", "/v1/public/feed"
OWN_REFUSALS = (errors.NotPublished,)

_TEXT, _NUMBER, _DAY = {"type": "string"}, {"type": "integer"}, {"type": "string", "format": "date"}
_NUMBERS = {"type": "object", "additionalProperties": _NUMBER}
_MADE = {
    "made_at": {"type": "string", "format": "date-time"},
    "sample": {"type": "boolean", "description": "Only in a demo: the websites are made up."},
}


def _object(properties: Mapping[str, Any], *optional: str) -> dict[str, Any]:
    """Return the schema of an object; all members except ``optional`` are required."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": dict(properties), "required": required}


_STATISTICS = _object(
    {
        **_MADE,
        "websites": {"type": ["integer", "null"], "description": "All counted websites; null for too few."},
        "grades": _NUMBERS | {"description": "Websites by grade."},
        "open": _NUMBERS | {"description": "Websites with an open finding of each severity."},
        "categories": _NUMBERS | {"description": "Websites with an open finding of each category."},
        "regions": _NUMBERS | {"description": "Websites by region."},
    },
    "sample",
)
_FEED = _object(
    {
        **_MADE,
        "entries": {
            "type": "array",
            "items": _object(
                {
                    "severity": {"type": "string", "description": "High, Medium or Low."},
                    "domain": {"type": "string", "description": "Masked: always five dots."},
                    "category": {"type": "string", "description": "The id of the description."},
                    "description": _TEXT,
                    "region": {"type": "string", "description": "A country, a continent (UN M49), or 001."},
                    "day": _DAY,
                }
            ),
        },
    },
    "sample",
)
_MADE_EXAMPLE = {"made_at": "2026-11-23T00:22:01Z"}
_STATISTICS_EXAMPLE = {
    **_MADE_EXAMPLE,
    "websites": 450,
    "grades": {"A": 50, "B": 90, "C": 150, "D": 100, "F": 60},
    "open": {"High": 200, "Medium": 300, "Low": 350},
    "categories": {"security-header": 250, "outdated-tls": 110},
    "regions": {"DE": 150, "US": 110},
}
_FEED_EXAMPLE = {
    **_MADE_EXAMPLE,
    "entries": [
        {
            "severity": "High",
            "domain": "•••••.co.uk",
            "category": "outdated-tls",
            "description": "Outdated or weak TLS",
            "region": "GB",
            "day": "2026-11-21",
        }
    ],
}


def paths(response: Callable[..., dict[str, Any]], refused: Mapping[str, Any]) -> dict[str, Any]:
    """Return the paths; ``response`` describes one response, and ``refused`` has the refusals by status."""

    def path(name: str, summary: str, schema: dict[str, Any], example: Any) -> dict[str, Any]:
        return {
            "get": {
                "operationId": name,
                "tags": [GROUP],
                "summary": summary,
                "description": "Not signed, without cookies, for every origin; send If-None-Match.",
                "security": [],
                "responses": {"200": response(summary, schema, example=example), **refused},
            }
        }

    return {
        STATISTICS_PATH: path(
            "publicStatistics", "The newest statistics of all websites", _STATISTICS, _STATISTICS_EXAMPLE
        ),
        FEED_PATH: path("publicFeed", "The live feed", _FEED, _FEED_EXAMPLE),
    }
