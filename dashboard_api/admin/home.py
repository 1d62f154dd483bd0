"""The numbers of the operations home: what needs attention, each with a link to exactly these rows."""

from collections.abc import Iterator, Mapping
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from dashboard_api.admin.coverage import OVERDUE, overdue
from dashboard_api.admin.entitlements import ENDING_DAYS, SOON, ending
from dashboard_api.admin.labels import SEVERITY_LABELS
from dashboard_api.admin.queue import QueueFilters
from dashboard_api.models import Coverage, Entitlement, ImportRun, Severity
from foundation.panels import Figure, Panel

MAX_COUNTED = 1_000  # rows of one number: counting more would read whole tables


def panels(request: HttpRequest) -> tuple[Panel, ...]:
    """Return the panels about what the user may see."""
    sources = (
        ("view_finding", _("To review"), _queue),
        ("view_importrun", _("Imports today"), _imports),
        ("view_coverage", _("Coverage"), _coverage),
        ("view_entitlement", _("Plans"), _entitlements),
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


def _imports() -> Iterator[Figure]:
    today = timezone.localdate()
    runs = ImportRun.objects.filter(imported_at__gte=timezone.localtime().replace(hour=0, minute=0, second=0))
    day = {"imported_at__year": today.year, "imported_at__month": today.month, "imported_at__day": today.day}
    url = reverse("admin:dashboard_api_importrun_changelist")
    State = Coverage.State  # noqa: N806 - a class
    yield _figure(_("Imports"), runs, url, day)
    for label, state in ((_("Failed"), State.FAILED), (_("Partial"), State.PARTIAL)):
        yield _figure(label, runs.filter(state=state), url, day | {"state__exact": state.value}, tone="high")
    rejected = runs.filter(rejected__gt=0)
    yield _figure(_("With rejected rows"), rejected, url, day | {"rejected__gt": 0}, tone="medium")


def _coverage() -> Iterator[Figure]:
    rows = Coverage.objects.filter(overdue(timezone.now().date()))
    url = reverse("admin:dashboard_api_coverage_changelist")
    yield _figure(_("Overdue"), rows, url, {"due": OVERDUE}, tone="high")


def _entitlements() -> Iterator[Figure]:
    rows = Entitlement.objects.filter(ending(timezone.now().date()))
    url = reverse("admin:dashboard_api_entitlement_changelist")
    label = _("End in the next %(days)s days") % {"days": ENDING_DAYS}
    yield _figure(label, rows, url, {"ends": SOON}, tone="medium")


def _figure(
    label: str | Promise,
    rows: QuerySet,
    url: str,
    query: Mapping[str, object] | None = None,
    *,
    tone: str = "",
) -> Figure:
    count = rows.order_by()[: MAX_COUNTED + 1].count()
    number = f"{number_format(MAX_COUNTED)}+" if count > MAX_COUNTED else number_format(count)
    return Figure(
        label=label,
        number=number,
        url=f"{url}?{urlencode(query)}" if query else url,
        tone=tone if count else "",
    )
