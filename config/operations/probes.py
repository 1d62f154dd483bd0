"""Middleware that answers the probes: ``/livez``, ``/readyz`` and ``/metrics``."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from config.operations import health, metrics


def probes(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Return middleware that answers the probes."""

    def respond(request: HttpRequest) -> HttpResponse:
        if request.path_info == "/livez":
            return health.plain("ok")
        if request.path_info == "/metrics":
            return metrics.respond(request)
        if request.path_info == "/readyz":
            return _readiness(
                verbose=request.META["QUERY_STRING"] == "verbose" and health.is_operator(request)
            )
        return get_response(request)

    return respond


def _readiness(*, verbose: bool) -> HttpResponse:
    """Return the names of failed checks; ``verbose`` adds a line for each check, with reason and duration."""
    failed = health.READINESS.failed()
    text = f"failed: {', '.join(failed)}" if failed else "ok"
    if verbose:
        lines = [f"{name}: {reason or 'ok'} ({ms:.0f} ms)" for name, reason, ms in health.READINESS.report()]
        text = "\n".join([text, *lines])
    return health.plain(text, status=503 if failed else 200)
