"""Counters and times that every process keeps; /metrics adds them up over all workers.

No label names an account, a host or an address. Labelled children are cached, which halves the cost.
"""

import os
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, multiprocess, values
from prometheus_client.registry import Collector

PREFIX = "threat_dashboard"

_worker_number = 0  # of this process; 0 outside of a web worker


def use_number(number: int) -> None:
    """Count in the files of the web worker with this number, continuing from their values."""
    global _worker_number
    _worker_number = number


if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
    # A new worker continues the files of an ended one. Files by process id would pile up with each restart.
    values.ValueClass = values.MultiProcessValue(lambda: _worker_number or os.getpid())  # type: ignore[no-untyped-call]

_own_registry = CollectorRegistry()
_requests = Counter(
    f"{PREFIX}_requests", "Requests by route and status.", ["route", "status"], registry=_own_registry
)
_seconds = Histogram(
    f"{PREFIX}_request_seconds",
    "Seconds until the response began, by route.",
    ["route"],
    registry=_own_registry,
    buckets=(0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15),
)
_refusals = Counter(
    f"{PREFIX}_refusals", "Refused calls by the code of the error.", ["code"], registry=_own_registry
)
_service_calls = Counter(
    f"{PREFIX}_upstream_calls",
    "Calls of the portal to the service by outcome.",
    ["outcome"],
    registry=_own_registry,
)
_last_answers = Counter(
    f"{PREFIX}_last_answers_shown",
    "Pages of the portal with a stored answer, because the service could not be reached.",
    registry=_own_registry,
)
_callbacks = Counter(
    f"{PREFIX}_callbacks",
    "Payment callbacks by provider and state; refused ones are not stored.",
    ["provider", "state"],
    registry=_own_registry,
)
_breakers = Gauge(
    f"{PREFIX}_breakers_open",
    "Processes whose circuit breaker stops calls of the portal to the service.",
    registry=_own_registry,
    multiprocess_mode="livesum",
)

_child_of_requests = cache(_requests.labels)
_child_of_seconds = cache(_seconds.labels)
_child_of_refusals = cache(_refusals.labels)
_child_of_service_calls = cache(_service_calls.labels)
_child_of_callbacks = cache(_callbacks.labels)


def count_request(route: str, status: int, seconds: float) -> None:
    """Count a response."""
    _child_of_requests(route, status).inc()
    _child_of_seconds(route).observe(seconds)


def count_refusal(code: str) -> None:
    """Count a refused call."""
    _child_of_refusals(code).inc()


def count_service_call(outcome: str) -> None:
    """Count a call to the service: ``ok``, or the name of the error."""
    _child_of_service_calls(outcome).inc()


def count_last_answer() -> None:
    """Count a page that shows the last good answer of the service."""
    _last_answers.inc()


def count_callback(provider: str, state: str) -> None:
    """Count a payment callback of a provider that is set up, by its state."""
    _child_of_callbacks(provider, state).inc()


def note_breaker(*, is_open: bool) -> None:
    """Note the state of this process's circuit breaker."""
    _breakers.set(int(is_open))


def registry(*others: Collector) -> CollectorRegistry:
    """Return a registry of the metrics of all workers, or of this process alone, and of ``others``."""
    collected = CollectorRegistry()
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        multiprocess.MultiProcessCollector(collected)  # type: ignore[no-untyped-call]
    else:
        collected.register(_own_registry)
    for each in others:
        collected.register(each)
    return collected
