"""Numbers on the admin's home page: what needs attention, each with a link to the rows counted."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.functional import Promise

from dashboard_api.admin.case_panel import said_to_be_fixed
from dashboard_api.admin.case_queue import OVERDUE as OVERDUE_CASES
from dashboard_api.admin.case_queue import CaseFilters
from dashboard_api.admin.coverage import OVERDUE, overdue
from dashboard_api.admin.entitlements import ENDING_DAYS, SOON, is_ending
from dashboard_api.admin.labels import SEVERITY_LABELS
from dashboard_api.admin.queue import QueueFilters
from dashboard_api.billing.callbacks.applying import LONG_WAIT
from dashboard_api.models import (
    CallbackEvent,
    Coverage,
    CrawlerStop,
    Entitlement,
    ImportRun,
    OwnershipClaim,
    ScanJob,
    Severity,
    Subscription,
)
from foundation.pages.panels import Figure, Panel

LATE = timedelta(minutes=15)  # a scan that is due should have begun by then
MAX_COUNTED = 1_000  # counting more would read whole tables


def panels(request: HttpRequest) -> tuple[Panel, ...]:
    """Return the panels that the user may see."""
    sources = (
        ("view_finding", "To review", _queue),
        ("view_case", "Questions and disputes", _cases),
        ("view_importrun", "Imports today", _imports),
        ("view_coverage", "Coverage", _coverage),
        ("view_entitlement", "Plans", _entitlements),
        ("view_ownershipclaim", "Ownership", _claims),
        ("view_scanjob", "Scans", _scans),
        ("view_callbackevent", "Payments", _callbacks),
    )
    return tuple(
        Panel(title=title, figures=tuple(figures()))
        for permission, title, figures in sources
        if request.user.has_perm(f"dashboard_api.{permission}")
    )


def _queue() -> Iterator[Figure]:
    for severity in sorted(Severity, reverse=True):
        filters = QueueFilters(severity=str(severity.value))
        yield _figure(
            SEVERITY_LABELS[severity],
            filters.findings(),
            filters.url(),
            tone=severity.label.lower(),
        )


def _cases() -> Iterator[Figure]:
    for label, filters, tone in (
        ("To answer", CaseFilters(), ""),
        ("Overdue", CaseFilters(show=OVERDUE_CASES), "high"),
    ):
        yield _figure(label, filters.cases(), filters.url(), tone=tone)
    yield _figure("Said to be fixed", said_to_be_fixed(), reverse("admin:dashboard_api_case_said_fixed"))


def _imports() -> Iterator[Figure]:
    today = timezone.localdate()
    runs = ImportRun.objects.filter(imported_at__gte=timezone.localtime().replace(hour=0, minute=0, second=0))
    day = {"imported_at__year": today.year, "imported_at__month": today.month, "imported_at__day": today.day}
    url = reverse("admin:dashboard_api_importrun_changelist")
    State = Coverage.State  # noqa: N806 - a class
    yield _figure("Imports", runs, url, day)
    for label, state in (("Failed", State.FAILED), ("Partial", State.PARTIAL)):
        yield _figure(label, runs.filter(state=state), url, day | {"state__exact": state.value}, tone="high")
    rejected = runs.filter(rejected__gt=0)
    yield _figure("With rejected rows", rejected, url, day | {"rejected__gt": 0}, tone="medium")


def _coverage() -> Iterator[Figure]:
    rows = overdue(timezone.now().date())
    url = reverse("admin:dashboard_api_coverage_changelist")
    yield _figure("Overdue", rows, url, {"due": OVERDUE}, tone="high")


def _entitlements() -> Iterator[Figure]:
    rows = Entitlement.objects.filter(is_ending(timezone.now().date()))
    url = reverse("admin:dashboard_api_entitlement_changelist")
    label = f"Ending in the next {ENDING_DAYS} days"
    yield _figure(label, rows, url, {"ends": SOON}, tone="medium")


def _claims() -> Iterator[Figure]:
    url = reverse("admin:dashboard_api_ownershipclaim_changelist")
    for label, state, tone in (
        ("Contested", OwnershipClaim.State.CONTESTED, "high"),
        ("Proof missing", OwnershipClaim.State.FAILING, "medium"),
    ):
        rows = OwnershipClaim.objects.filter(state=state)
        yield _figure(label, rows, url, {"state__exact": state.value}, tone=tone)


def _scans() -> Iterator[Figure]:
    stops = CrawlerStop.objects.filter(resumed_at=None)
    if stops.exists():
        url = reverse("admin:dashboard_api_crawlerstop_changelist")
        yield _figure("All scans are stopped", stops, url, {"resumed_at__isempty": 1}, tone="high")
    url = reverse("admin:dashboard_api_scanjob_changelist")
    now = timezone.now().replace(microsecond=0)
    State = ScanJob.State  # noqa: N806 - a class
    running = ScanJob.objects.filter(state=State.RUNNING)
    yield _figure("Running", running, url, {"state__exact": State.RUNNING.value})
    waiting = ScanJob.objects.filter(state=State.QUEUED)
    yield _figure("Waiting", waiting, url, {"state__exact": State.QUEUED.value})
    for label, rows, state, late in (
        ("Worker not responding", running, State.RUNNING, {"lease_until__lt": now}),
        ("Not started after 15 minutes", waiting, State.QUEUED, {"due_at__lt": now - LATE}),
    ):
        late_rows = rows.filter(**late)
        if late_rows.exists():
            query = {"state__exact": state.value} | late
            yield _figure(label, late_rows, url, query, tone="high")


def _callbacks() -> Iterator[Figure]:
    url = reverse("admin:dashboard_api_callbackevent_changelist")
    State = CallbackEvent.State  # noqa: N806 - a class
    for label, state, tone in (
        ("Given up", State.DEAD, "high"),
        ("Failed, will be retried", State.FAILED, "medium"),
    ):
        rows = CallbackEvent.objects.filter(state=state)
        yield _figure(label, rows, url, {"state__exact": state.value}, tone=tone)
    yield from _waiting_callbacks(url)
    url = reverse("admin:dashboard_api_subscription_changelist")
    unclear = Subscription.objects.exclude(unclear_until=None)
    label = "Subscriptions with contradictory events"
    yield from _unless_zero(_figure(label, unclear, url, {"unclear_until__isempty": 0}, tone="high"))


def _waiting_callbacks(url: str) -> Iterator[Figure]:
    state = CallbackEvent.State.WAITING
    rows = CallbackEvent.objects.filter(state=state)
    query = {"state__exact": state.value}
    waiting = _figure("Without an account", rows, url, query, tone="medium")
    yield waiting
    if waiting.tone:  # its number is not zero
        since = {"received_at__lt": timezone.now().replace(microsecond=0) - LONG_WAIT}
        label = "Without an account for an hour"
        yield from _unless_zero(_figure(label, rows.filter(**since), url, {**query, **since}, tone="high"))


def _unless_zero(figure: Figure) -> Iterator[Figure]:
    """Yield the figure unless its number is zero, which ``_figure`` shows without a tone."""
    if figure.tone:
        yield figure


def _figure(
    label: str | Promise,
    rows: QuerySet,
    url: str,
    query: Mapping[str, object] | None = None,
    *,
    tone: str = "",
) -> Figure:
    """Return the number of rows, with a link to them: the list at ``url``, filtered by ``query``."""
    count = rows.order_by()[: MAX_COUNTED + 1].count()
    number = f"{number_format(MAX_COUNTED)}+" if count > MAX_COUNTED else number_format(count)
    return Figure(
        label=label,
        number=number,
        url=f"{url}?{urlencode(query)}" if query else url,
        tone=tone if count else "",
    )
