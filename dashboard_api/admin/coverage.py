"""The pages of scanners, of their coverage, and of imports."""

import json
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db import connections
from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.expressions import RawSQL
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.html import format_html

from dashboard_api.admin.operations import (
    SHOWN,
    PresenceFilter,
    ReasonForm,
    RecordAdmin,
    never,
    user_name,
)
from dashboard_api.backends import backend_of
from dashboard_api.crawler import installed
from dashboard_api.importing.undo import newer_imports, preview, undo
from dashboard_api.models import Coverage, CoverageScope, EngineRun, ImportRun, ScanSchedule, SiteLink, Source
from dashboard_api.models.scopes import summarise
from dashboard_api.reading.next_checks import (
    SCAN_TOLERANCE,
    SHORTEST_PERIOD,
    NextCheck,
    next_check,
    next_report,
)


class UndoReason(ReasonForm):
    """A form for the reason to take imports back."""

    reason_help = "Recorded with the import."


@admin.register(Source)
class SourceAdmin(admin.ModelAdmin):
    """The page of a scanner."""

    list_display = ("name", "slug", "enabled", "interval_days")
    list_filter = ("enabled",)
    search_fields = ("name", "slug")
    fieldsets = (
        (
            None,
            {
                "fields": ("name", "slug", "enabled", "interval_days"),
                "description": (
                    "The interval does not apply to our own scans: they follow the schedules of the websites."
                ),
            },
        ),
    )

    def get_readonly_fields(self, request: HttpRequest, obj: Source | None = None) -> Any:
        """Return the read-only fields: the slug never changes, because customers filter by it."""
        return ("slug",) if obj else ()


class ScopeInline(admin.TabularInline):
    """The last run of each scope; operators can delete a scope that is no longer scanned."""

    model = CoverageScope
    fields = ("category", "target", "state", "last_run_at", "completed_at", "urls_checked", "details")
    readonly_fields = fields
    extra = 0
    verbose_name_plural = "scopes (delete a scope that is no longer scanned, or it remains overdue)"
    has_add_permission = never  # imports create scopes

    @admin.display(description="detail")
    def details(self, scope: CoverageScope) -> str:
        return scope.detail


OVERDUE = "overdue"  # a value of the filter ``Due``


def with_next_checks(rows: QuerySet[Coverage]) -> QuerySet[Coverage]:
    """Add ``ours_at``, the time of the last run if it was our own scan, and the links with a next scan."""
    # Twice, because this subquery is part of another one.
    imports = ImportRun.objects.not_undone().filter(
        website=OuterRef(OuterRef("website")), source=OuterRef(OuterRef("source"))
    )
    newest = Subquery(imports.order_by("-imported_at", "-pk").values("pk")[:1])
    links = SiteLink.objects.filter(revoked_at=None, paused_at=None, scan_schedule__next_at__isnull=False)
    scanned_links = Prefetch("website__links", links.select_related("scan_schedule"), to_attr="scanned_links")
    ours = EngineRun.objects.filter(import_run=newest).values("import_run__scanned_at")[:1]
    return rows.annotate(ours_at=Subquery(ours)).prefetch_related(scanned_links)


def overdue(today: date) -> QuerySet[Coverage]:
    """Return the coverage with a missed check: by schedule, or one interval after the last report."""
    is_late_report = Q(pk__in=())  # no rows, until a condition is added
    for days in Source.objects.order_by("interval_days").values_list("interval_days", flat=True).distinct():
        since = _midnight(today - timedelta(days=days))
        is_late_report |= Q(source__interval_days=days, last_run_at__lt=since)
    rows = with_next_checks(Coverage.objects.filter(website__archived_at=None))
    missed_scans = ScanSchedule.objects.filter(
        link__website=OuterRef("website"), next_at__lt=_midnight(today - SCAN_TOLERANCE)
    )
    has_old_run = Q(ours_at__lt=_midnight(today - SCAN_TOLERANCE - SHORTEST_PERIOD))
    # The database narrows our own scans down; the rest of the rule is in Python.
    candidates = rows.filter(has_old_run | Exists(missed_scans), Q(ours_at__isnull=False))
    own_scans = candidates.select_related("website", "source")
    late = [row.pk for row in own_scans if _next_check(row, today).is_overdue]
    numbers = RawSQL(backend_of(connections[rows.db]).NUMBERS, [json.dumps(late)])  # noqa: S611 - one parameter
    return rows.filter(Q(is_late_report, ours_at=None) | Q(pk__in=numbers))


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC)


def _next_check(coverage: Any, today: date) -> NextCheck:
    """Return the next check of a row of ``with_next_checks``: by schedule, or one interval after its run."""
    source = coverage.source
    if coverage.ours_at is None:
        return next_report(coverage.last_run_at, source.interval_days, today=today)
    schedules = [link.scan_schedule for link in coverage.website.scanned_links]
    of_source = installed.by_source(schedules).get(source.slug, ())
    return next_check(of_source, last_run_at=coverage.ours_at, today=today)


class Due(admin.SimpleListFilter):
    """A filter by whether the next run is overdue."""

    title = "next check"
    parameter_name = "due"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(OVERDUE, "Overdue")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Coverage]) -> QuerySet[Coverage]:
        """Return the rows of the choice."""
        if self.value() != OVERDUE:
            return queryset
        return queryset.filter(pk__in=overdue(timezone.now().date()).values("pk"))


@admin.register(Coverage)
class CoverageAdmin(admin.ModelAdmin):
    """The page of a website's coverage by a scanner."""

    list_display = (
        "website",
        "source",
        "state",
        "last_run_at",
        "completed_at",
        "urls_checked",
        "version",
        "next_due",
    )
    list_filter = (Due, "state", "source")
    list_select_related = ("website", "source")
    search_fields = ("website__host", "detail")
    date_hierarchy = "last_run_at"
    autocomplete_fields = ("website", "source")
    fields = (*list_display, "detail")
    readonly_fields = ("next_due",)
    inlines = (ScopeInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Coverage]:
        """Return the rows with the data that ``_next_check`` needs."""
        return with_next_checks(super().get_queryset(request))

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Summarise the remaining scopes after one was deleted."""
        super().save_related(request, form, formsets, change)
        scopes = list(form.instance.scopes.all())
        if scopes and any(formset.deleted_objects for formset in formsets):
            summarise(form.instance, scopes)

    @admin.display(description="next due", ordering="last_run_at")
    def next_due(self, coverage: Any) -> str:
        """Return the day of the next check, and whether it has passed."""
        if coverage.pk is None:
            return "-"
        due = _next_check(coverage, timezone.now().date())
        if due.on is None:
            return "Not scheduled"
        is_overdue = due.is_overdue and coverage.website.archived_at is None
        return f"{date_format(due.on)}, overdue" if is_overdue else date_format(due.on)


def _preview(run: ImportRun, chosen: QuerySet[ImportRun]) -> str:
    newer = newer_imports(run)
    if newer and not newer.exclude(pk__in=chosen.order_by().values("pk")):
        return "no preview, because the newer imports are taken back first."
    try:
        return preview(run, now=timezone.now()).in_words()
    except ValidationError as error:
        return " ".join(error.messages)


class TakenBack(PresenceFilter):
    """A filter by whether the import was taken back."""

    heading, present, absent = "taken back", "Yes", "No"


@admin.register(ImportRun)
class ImportRunAdmin(RecordAdmin):
    """The page of an import, with its accounting."""

    list_display = (
        "imported_at",
        "website",
        "source",
        "state",
        "rejected",
        "new",
        "reopened",
        "fixed",
        "by",
        "undone_at",
    )
    list_filter = ("state", ("undone_at", TakenBack), "source")
    list_select_related = ("website", "source")
    search_fields = ("website__host", "file_name")
    date_hierarchy = "imported_at"
    fields = (
        "website",
        "source",
        "imported_at",
        "scanned_at",
        "by",
        "file_name",
        "state",
        "details",
        ("rows", "findings", "occurrences", "coverage", "rejected"),
        ("new", "updated", "reopened", "fixed"),
        "where_fixed",
        "left_out",
        "first",
        ("undone_at", "undone_by", "undone_reason"),
    )
    readonly_fields = (
        "details",
        "where_fixed",
        "left_out",
        "first",
        "undone_at",
        "undone_by",
        "undone_reason",
    )
    has_add_permission = never  # only imports create these records
    actions = ("take_back",)

    def actions_for(self, obj: ImportRun) -> tuple[str, ...]:
        """Return the action that takes the import back, as long as this is possible."""
        return self.actions if obj.changes.exists() and not newer_imports(obj).exists() else ()

    def warning(self, queryset: QuerySet[ImportRun]) -> str:
        """Return a preview of taking back each of the first imports."""
        return " ".join(f"{run}: {_preview(run, queryset)}" for run in queryset[:SHOWN])

    @admin.action(description="Take back", permissions=["operate"])
    def take_back(self, request: HttpRequest, queryset: QuerySet[ImportRun]) -> HttpResponse | None:
        """Undo imports, after a preview of the changes to findings."""
        return self.confirm(
            request,
            queryset.select_related("website", "source").order_by("-pk"),
            lambda run, answers: undo(
                run, by=user_name(request), reason=answers["reason"], now=timezone.now()
            ),
            title="Take back imports",
            consequence=(
                "Findings that only these imports reported are deleted, and findings that they closed "
                "are open again. Decisions by analysts are kept. You cannot undo this, but you can import "
                "the same report again."
            ),
            done="Took back",
            form_class=UndoReason,
        )

    @admin.display(description="to take back first")
    def first(self, run: ImportRun) -> str:
        """Return a link to the newest import, which must be taken back before this one."""
        newer = newer_imports(run).select_related("website", "source")
        if not newer or not run.changes.exists():
            return "-"
        return format_html(
            '<a href="{}">{}</a> (import {}, the newest of {} newer ones)',
            reverse("admin:dashboard_api_importrun_change", args=[newer[0].pk]),
            newer[0],
            newer[0].pk,
            number_format(len(newer)),
        )

    @admin.display(description="detail")
    def details(self, run: ImportRun) -> str:
        return run.detail

    @admin.display(description="scope")
    def where_fixed(self, run: ImportRun) -> str:
        """Return the scope in which missing findings counted as fixed."""
        return run.scope

    @admin.display(description="rejected rows")
    def left_out(self, run: ImportRun) -> str:
        lines = [f"Row {reject['row']} {reject['reason']}." for reject in run.rejects]
        if run.rejected > len(lines):
            lines.append(f"And {number_format(run.rejected - len(lines))} more.")
        return "\n".join(lines) or "None."
