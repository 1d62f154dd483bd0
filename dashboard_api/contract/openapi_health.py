"""The part of the OpenAPI document about the health of the service."""

from collections.abc import Callable
from typing import Any

PATH = "/v1/health"
GROUP = "Platform health"
_EXAMPLE = {
    "ok": True,
    "status": "ok",
    "server_time": 1793448000,
    "window_seconds": 300,
    "retry_after": None,
}


def paths(
    schema: dict[str, Any], response: Callable[..., dict[str, Any]], refused: dict[str, Any]
) -> dict[str, Any]:
    """Return the path; ``response`` describes one response, and ``refused`` has the refusals by status."""
    failing = _EXAMPLE | {"ok": False, "status": "degraded", "retry_after": 5}
    return {
        PATH: {
            "get": {
                "operationId": "health",
                "tags": [GROUP],
                "summary": "Whether the service answers calls",
                "description": "Not signed. An addition to the specification.",
                "security": [],
                "responses": {
                    "200": response("Calls are answered.", schema, example=_EXAMPLE),
                    **refused,
                    "503": response("Calls are not answered now.", schema, example=failing),
                },
            }
        }
    }
