"""What engines and analysts found. Reports bring findings; analysts decide where they stand."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.forms.models import BaseInlineFormSet
from django.http import HttpRequest
from django.template.defaultfilters import truncatewords

from dashboard_api.admin.operations import RecordInline, user_name
from dashboard_api.models import AnalystNote, Coverage, Finding, Occurrence, Source

PLACES_SHOWN = 100


@admin.register(Source)
class SourceAdmin(admin.ModelAdmin):
    """Detection engines."""

    list_display = ("name", "slug", "enabled")
    list_filter = ("enabled",)
    search_fields = ("name", "slug")
    fields = ("name", "slug", "enabled")

    def get_readonly_fields(self, request: HttpRequest, obj: Source | None = None) -> Any:
        """Customers filter by the slug, so it cannot change later."""
        return ("slug",) if obj else ()


class FirstPlaces(BaseInlineFormSet):
    """A finding can have thousands of places: a page shows the first."""

    def get_queryset(self) -> QuerySet[Occurrence]:
        """Sliced once, because every row asks."""
        if not hasattr(self, "_first"):
            self._first = super().get_queryset()[:PLACES_SHOWN]
        return self._first


class OccurrenceInline(RecordInline):
    """Where the finding was seen."""

    model = Occurrence
    formset = FirstPlaces
    fields = ("location", "first_seen", "last_seen")
    verbose_name_plural = f"places (the first {PLACES_SHOWN})"


@admin.register(Finding)
class FindingAdmin(admin.ModelAdmin):
    """What a report said is read; where the finding stands is decided."""

    list_display = ("severity", "title", "website", "source", "kind", "status", "last_seen")
    list_display_links = ("title",)
    list_filter = ("status", "severity", "kind", "source")
    list_select_related = ("website", "source")
    search_fields = ("title", "rule", "website__host")
    date_hierarchy = "last_seen"
    show_full_result_count = False
    fields = (
        "status",
        "fixed_at",
        "title",
        "website",
        "source",
        "severity",
        "severity_raw",
        "kind",
        "rule",
        "location",
        "locations_count",
        "first_seen",
        "last_seen",
        "description",
        "remediation",
        "evidence",
        "references",
        "cwe",
        "cve",
        "fingerprint",
    )
    readonly_fields = fields[1:]
    inlines = (OccurrenceInline,)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Reports bring findings: manage.py import_report."""
        return False


@admin.register(Coverage)
class CoverageAdmin(admin.ModelAdmin):
    """What engines checked, when they last tried."""

    list_display = (
        "website",
        "source",
        "state",
        "last_run_at",
        "completed_at",
        "urls_checked",
        "version",
    )
    list_filter = ("state", "source")
    list_select_related = ("website", "source")
    search_fields = ("website__host", "detail")
    date_hierarchy = "last_run_at"
    autocomplete_fields = ("website", "source")
    fields = (*list_display, "detail")


@admin.register(AnalystNote)
class AnalystNoteAdmin(admin.ModelAdmin):
    """Notes, and whether they may leave the service."""

    list_display = ("beginning", "website", "finding", "visible_to", "author", "created_at")
    list_filter = ("is_internal",)
    list_select_related = ("website", "finding", "account")
    search_fields = ("body", "author", "website__host")
    date_hierarchy = "created_at"
    autocomplete_fields = ("website", "finding", "account")
    fields = ("website", "finding", "is_internal", "account", "author", "body", "created_at", "updated_at")
    readonly_fields = ("created_at", "updated_at")

    @admin.display(description="note")
    def beginning(self, note: AnalystNote) -> str:
        """Enough to tell notes apart."""
        return truncatewords(note.body, 12)

    @admin.display(ordering="is_internal")
    def visible_to(self, note: AnalystNote) -> str:
        """Who reads it."""
        if note.is_internal:
            return "us only (internal)"
        return f"customer {note.account}" if note.account else "every customer with this website"

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """The author is whoever is signed in, until they write somebody else."""
        return {"author": user_name(request)} | super().get_changeform_initial_data(request)
