"""The routes of public telemetry, as part of the OpenAPI document."""

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
    "stale": {"type": "boolean", "description": "Whether the document is older than 26 hours."},
    "sample": {"type": "boolean", "description": "Only in a demo: the websites are made up."},
}


def _object(properties: Mapping[str, Any], *optional: str) -> dict[str, Any]:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": dict(properties), "required": required}


def _list(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": _object(properties)}


_STATISTICS = _object(
    {
        "day": _DAY,
        **_MADE,
        "method": {"type": "string", "description": "The number of the rules of counting and rounding."},
        "websites": {
            "type": ["integer", "string"],
            "description": 'All counted websites; "<15" for too few.',
        },
        "grades": _NUMBERS | {"description": "Websites by grade; other has the small groups."},
        "open": _NUMBERS | {"description": "Websites with an open finding of each severity."},
        "weeks": _list(
            {"week": _DAY, "found": {"type": ["integer", "null"]}, "fixed": {"type": ["integer", "null"]}}
        ),
        "median_days_to_fix": _NUMBERS,
        "categories": _list({"id": _TEXT, "label": _TEXT, "share": _NUMBER}),
        "regions": _list({"region": _TEXT, "websites": _NUMBER}),
        "coverage": _object({"engines_per_website": _NUMBER}, "engines_per_website"),
    },
    "sample",
)
_FEED = _object(
    {
        **_MADE,
        "entries": _list(
            {
                "id": _TEXT,
                "severity": {"type": "string", "description": "High, Medium or Low."},
                "domain": {"type": "string", "description": "Masked: always five dots."},
                "category": {"type": "string", "description": "The id of the description."},
                "description": _TEXT,
                "region": {"type": "string", "description": "A country, a continent (UN M49), or 001."},
                "day": _DAY,
            }
        ),
    },
    "sample",
)
_MADE_EXAMPLE = {"made_at": "2026-11-22T02:22:01Z", "stale": False}
_STATISTICS_EXAMPLE = {
    "day": "2026-11-21",
    **_MADE_EXAMPLE,
    "method": "1",
    "websites": 450,
    "grades": {"A": 50, "B": 90, "C": 150, "D": 100, "F": 60},
    "open": {"High": 200, "Medium": 300, "Low": 350},
    "weeks": [{"week": "2026-11-09", "found": 250, "fixed": 200}],
    "median_days_to_fix": {"High": 7, "Medium": 21, "Low": 45},
    "categories": [{"id": "security-header", "label": "Missing security header", "share": 56}],
    "regions": [{"region": "DE", "websites": 150}, {"region": "other", "websites": 300}],
    "coverage": {"engines_per_website": 3},
}
_FEED_EXAMPLE = {
    **_MADE_EXAMPLE,
    "entries": [
        {
            "id": "5e0b8c7d2f6a4193",
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
    """Return the paths; ``response`` describes one response, and ``refused`` holds the refusals by status."""

    def path(name: str, summary: str, schema: dict[str, Any], example: Any, **more: Any) -> dict[str, Any]:
        return {
            "get": {
                "operationId": name,
                "tags": [GROUP],
                "summary": summary,
                "description": "Not signed, without cookies, for every origin; send If-None-Match.",
                "security": [],
                "responses": {"200": response(summary, schema, example=example), **refused},
                **more,
            }
        }

    day = {"name": "day", "in": "path", "required": True, "schema": _DAY, "description": "A day in UTC."}
    own, newest = _STATISTICS, _STATISTICS_EXAMPLE
    return {
        STATISTICS_PATH: path("publicStatistics", "The newest statistics of all websites", own, newest),
        f"{STATISTICS_PATH}/{{day}}": path(
            "publicStatisticsOfDay",
            "The statistics of a day, which never change",
            own,
            newest,
            parameters=[day],
        ),
        FEED_PATH: path("publicFeed", "The live feed", _FEED, _FEED_EXAMPLE),
    }
