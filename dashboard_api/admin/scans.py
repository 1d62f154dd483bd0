"""The pages of scans."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from dashboard_api.admin.operations import RecordAdmin, RecordInline, never, user_name
from dashboard_api.models import EngineRun, ScanJob


class EngineRunInline(RecordInline):
    """The runs of a scan's engines."""

    model = EngineRun
    fields = (
        "engine",
        "address",
        "state",
        "reason",
        "exit_code",
        "started_at",
        "ended_at",
        "import_run",
        "log",
    )


@admin.register(ScanJob)
class ScanJobAdmin(RecordAdmin):
    """The queue and the history of scans, which can be cancelled."""

    list_display = (
        "id",
        "website",
        "state",
        "outcome",
        "reason",
        "by",
        "created_at",
        "started_at",
        "ended_at",
    )
    list_filter = ("state", "outcome")
    list_select_related = ("website",)
    list_per_page = 50
    show_full_result_count = False
    search_fields = ("website__host",)
    fields = readonly_fields = (
        *("website", "state", "outcome", "reason", "priority", "by", "created_at", "due_at", "started_at"),
        *("ended_at", "cancel_requested_at", "worker", "attempt", "lease_until"),
    )
    inlines = (EngineRunInline,)
    actions = ("cancel",)
    has_add_permission = never

    def actions_for(self, obj: ScanJob) -> tuple[str, ...]:
        return () if obj.ended_at else ("cancel",)

    @admin.action(description=_("Cancel"), permissions=["operate"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[ScanJob]) -> HttpResponse | None:
        """Cancel scans, after a confirmation."""
        return self.confirm(
            request,
            queryset.select_related("website"),
            lambda job, _options: _cancel(job, user_name(request)),
            title=_("Cancel scans"),
            consequence=_(
                "Scans that wait end at once, running ones within 10 seconds. Reports of engines that have "
                "ended are kept."
            ),
            done=_("Cancelled"),
        )


def _cancel(job: ScanJob, by: str) -> Any:
    if not job.cancel(by=by):
        raise ValidationError(_now("Nothing to do: the scan has ended, or is being cancelled."))
