"""``/metrics`` in the Prometheus format: counters of all processes, and gauges read at the scrape."""

import time
import tomllib
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cache
from threading import Lock

from cachetools import TTLCache, cached
from django.conf import settings
from django.db import connections
from django.db.models import Count, Min, Model
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from config.operations import health
from config.operations.heartbeats import last_runs
from foundation.operations import metrics

_REMEMBERED_SECONDS = 15  # the age of kept gauges, so that frequent scrapes cause no load
Family = GaugeMetricFamily  # a metric with its values, one for each set of labels


def respond(request: HttpRequest) -> HttpResponse:
    """Return the metrics if the request has METRICS_TOKEN, else 401; 404 if the setting is missing."""
    if not settings.METRICS_TOKEN:
        return health.plain("not found", status=404)
    if not health.has_metrics_token(request):
        response = health.plain("send Authorization: Bearer with METRICS_TOKEN", status=401)
        response["WWW-Authenticate"] = "Bearer"
        return response
    response = health.plain("")
    response.content = generate_latest(metrics.registry(ScrapedGauges()))
    response["Content-Type"] = CONTENT_TYPE_LATEST
    return response


class ScrapedGauges(Collector):
    """Gauges read at a scrape; gauges of the database only while the process is ready."""

    def collect(self) -> Iterator[Family]:
        """Yield the version, the readiness checks and, if all pass, the gauges of the database."""
        build = _family("build_info", "1, with the version.", ["version"])
        build.add_metric([_version()], 1)
        yield build
        failed = health.READINESS.failed()
        ready = _family("ready", "Checks of /readyz: 1 for passed.", ["check"])
        for name, _reason, _ms in health.READINESS.report():
            ready.add_metric([name], float(name not in failed))
        yield ready
        if not failed:
            yield from _database_gauges()


@cache
def _version() -> str:
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["project"]
    return str(project["version"])


@cached(TTLCache(maxsize=1, ttl=_REMEMBERED_SECONDS), lock=Lock())
def _database_gauges() -> list[Family]:
    now = timezone.now()
    families = [*_commands(now), _database_seconds()]
    if settings.ENABLE_API:
        families += _of_the_service(now)
    if settings.ENABLE_PORTAL:
        families += _of_the_portal(now)
    return families


def _commands(now: datetime) -> Iterator[Family]:
    succeeded = _family("command_success_timestamp_seconds", "Last success of each command.", ["command"])
    late = _family("command_late", "1 if a command has not succeeded for twice its interval.", ["command"])
    found = _family("command_problems", "Problems of the last run that need a person.", ["command"])
    for run in last_runs(now):
        if run.found is not None:
            found.add_metric([run.command], run.found)
        succeeded.add_metric([run.command], run.succeeded.timestamp() if run.succeeded else 0)
        late.add_metric([run.command], float(run.is_late))
    yield succeeded
    yield late
    yield found


def _database_seconds() -> Family:
    family = _family("database_seconds", "Seconds that a statement without work takes.", ["database"])
    for alias in connections:
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT 1")  # connects
            began = time.perf_counter()
            cursor.execute("SELECT 1")
        family.add_metric([alias], time.perf_counter() - began)
    return family


def _of_the_service(now: datetime) -> Iterator[Family]:
    from dashboard_api.billing.callbacks.applying import undelivered
    from dashboard_api.models import Case, Coverage, ImportRun, Nonce, ReportJob

    nonces = _family("nonces", "Spent nonces that are stored.")
    nonces.add_metric([], Nonce.objects.count())
    yield nonces
    imports = _family("imports_last_day", "Imports of the last 24 hours by state.", ["state"])
    last_day = ImportRun.objects.filter(imported_at__gt=now - timedelta(days=1)).order_by()
    counts = dict(last_day.values_list("state").annotate(number=Count("pk")))
    for state in Coverage.State.values:
        imports.add_metric([state], counts.get(state, 0))
    yield imports
    callbacks = _family("callbacks_undelivered", "Payment callbacks that need a person.", ["state"])
    for state, number in undelivered(now).items():
        callbacks.add_metric([state], number)
    yield callbacks
    yield _oldest("oldest_report_seconds", ReportJob, now, finished_at=None)
    waiting = Case.objects.for_analysts()
    cases = _family("cases", "Questions and disputes that wait for an analyst.", ["state"])
    cases.add_metric(["waiting"], waiting.count())
    cases.add_metric(["overdue"], waiting.overdue(timezone.localdate(now)).count())
    yield cases


def _of_the_portal(now: datetime) -> Iterator[Family]:
    from portal.models import PendingNotification

    waiting = _family("notifications", "Notifications that wait to be sent.")
    waiting.add_metric([], PendingNotification.objects.count())
    yield waiting
    yield _oldest("oldest_notification_seconds", PendingNotification, now)


def _oldest(name: str, model: type[Model], now: datetime, **filters: object) -> Family:
    """Return the age of the oldest waiting row, in seconds; 0 if no row waits."""
    rows = model._default_manager.filter(**filters)  # noqa: SLF001 - the documented API of models
    oldest_at = rows.aggregate(at=Min("created_at"))["at"]
    family = _family(name, f"Age of the oldest that waits: {model._meta.verbose_name_raw}.")  # noqa: SLF001
    family.add_metric([], (now - oldest_at).total_seconds() if oldest_at else 0)
    return family


def _family(name: str, description: str, labels: list[str] | None = None) -> Family:
    return Family(f"{metrics.PREFIX}_{name}", description, labels=labels or [])
