"""``GET /v1/health`` tells clients whether calls are answered, without details."""

import time
from dataclasses import dataclass
from datetime import datetime

import msgspec
from django.http import HttpRequest
from django.utils import timezone

from config.operations import health
from config.operations.heartbeats import last_runs
from dashboard_api import limits
from dashboard_api.api.request import Reply, json_endpoint
from dashboard_api.errors import MethodNotAllowed
from dashboard_api.models import Nonce
from foundation.operations.health import Readiness
from signed_api import health as contract


class Late(Exception):
    """A scheduled command is late; the message names it."""


@dataclass(slots=True)
class _Fence:
    """The time until which calls are refused after a restore, as last read."""

    refused_until: datetime | None = None


_fence = _Fence()


def _check_commands() -> None:
    if late := [run.command for run in last_runs(timezone.now()) if run.is_late]:
        raise Late(", ".join(late))


def _check_fence() -> None:
    """Read the time until which calls are refused after a restore; this check itself always passes."""
    _fence.refused_until = Nonce.objects.fenced_until(timezone.now())


# As for readiness, the checks end within a second, and their results are kept for two.
CHECKS = Readiness({"commands": _check_commands, "fence": _check_fence})


@json_endpoint
def client_health(request: HttpRequest) -> Reply:
    """Return the state of the service, from readiness and heartbeats."""
    if request.method not in ("GET", "HEAD"):
        raise MethodNotAllowed("GET")
    degraded = bool(CHECKS.failed())
    wait = _wait(ready=not health.READINESS.failed())
    response = contract.HealthResponse(
        ok=wait is None,
        status="degraded" if degraded or wait is not None else "ok",
        server_time=int(time.time()),
        window_seconds=limits.TIMESTAMP_WINDOW_SECONDS,
        retry_after=wait,
    )
    headers = {} if wait is None else {"Retry-After": str(wait)}
    return Reply(msgspec.json.encode(response), 200 if wait is None else 503, headers)


def _wait(*, ready: bool) -> int | None:
    """Return the seconds until calls are answered again, as refused calls say; None for now."""
    wait = 0 if ready else limits.RETRY_AFTER_SECONDS
    if _fence.refused_until:
        wait = max(wait, int(_fence.refused_until.timestamp()) + 1 - int(time.time()))
    return wait if wait > 0 else None
