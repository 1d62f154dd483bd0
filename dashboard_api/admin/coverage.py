"""The pages of scanners, of their coverage, and of imports."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone
from django.utils.formats import date_format

from dashboard_api.admin.operations import RecordAdmin, never
from dashboard_api.models import Coverage, CoverageScope, ImportRun, Source
from dashboard_api.models.scopes import summarise


@admin.register(Source)
class SourceAdmin(admin.ModelAdmin):
    """The page of a scanner."""

    list_display = ("name", "slug", "enabled", "interval_days")
    list_filter = ("enabled",)
    search_fields = ("name", "slug")
    fields = ("name", "slug", "enabled", "interval_days")

    def get_readonly_fields(self, request: HttpRequest, obj: Source | None = None) -> Any:
        """Return the read-only fields: the slug never changes, because customers filter by it."""
        return ("slug",) if obj else ()


class ScopeInline(admin.TabularInline):
    """The last run of each scope; operators can delete a scope that is no longer scanned."""

    model = CoverageScope
    fields = ("category", "target", "state", "last_run_at", "completed_at", "urls_checked", "detail")
    readonly_fields = fields
    extra = 0
    verbose_name_plural = "scopes (delete a scope that is no longer scanned: it would stay overdue)"
    has_add_permission = never  # imports create scopes


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
    list_filter = ("state", "source")
    list_select_related = ("website", "source")
    search_fields = ("website__host", "detail")
    date_hierarchy = "last_run_at"
    autocomplete_fields = ("website", "source")
    fields = (*list_display, "detail")
    readonly_fields = ("next_due",)
    inlines = (ScopeInline,)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Summarise the remaining scopes after one was deleted."""
        super().save_related(request, form, formsets, change)
        scopes = list(form.instance.scopes.all())
        if scopes and any(formset.deleted_objects for formset in formsets):
            summarise(form.instance, scopes)

    @admin.display(description="next due", ordering="last_run_at")
    def next_due(self, coverage: Coverage) -> str:
        """Return the day of the next check, and whether it has passed."""
        if coverage.pk is None:
            return "-"
        due = coverage.next_due_on
        return f"{date_format(due)}{', overdue' if due < timezone.now().date() else ''}"


@admin.register(ImportRun)
class ImportRunAdmin(RecordAdmin):
    """The page of an import, with its accounting."""

    list_display = (
        "imported_at",
        "website",
        "source",
        "state",
        "rows",
        "findings",
        "occurrences",
        "coverage",
        "rejected",
        "new",
        "reopened",
        "fixed",
        "by",
    )
    list_filter = ("state", "source")
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
        "detail",
        ("rows", "findings", "occurrences", "coverage", "rejected"),
        ("new", "updated", "reopened", "fixed"),
        "scope",
        "left_out",
    )
    readonly_fields = ("left_out",)
    has_add_permission = never  # only imports create these records

    @admin.display(description="rejected rows")
    def left_out(self, run: ImportRun) -> str:
        lines = [f"Row {reject['row']} {reject['reason']}." for reject in run.rejects]
        if run.rejected > len(lines):
            lines.append(f"And {run.rejected - len(lines)} more.")
        return "\n".join(lines) or "None."
