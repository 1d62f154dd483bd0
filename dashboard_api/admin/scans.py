"""The pages of scans."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone

from dashboard_api.admin.operations import RecordAdmin, RecordInline, never, row_number, user_name
from dashboard_api.crawler import policy
from dashboard_api.crawler.engines import WrongEngines, read_engines
from dashboard_api.models import CrawlerStop, EngineRun, ScanJob

SHOWN = 100  # running scans listed


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

    change_list_template = "admin/dashboard_api/scanjob/change_list.html"
    list_display = (
        *(row_number, "website", "profile", "trigger", "state", "outcome", "reason", "by", "created_at"),
        *("started_at", "ended_at"),
    )
    list_filter = ("state", "outcome", "trigger")
    list_select_related = ("website",)
    list_per_page = 50
    show_full_result_count = False
    search_fields = ("website__host",)
    fields = readonly_fields = (
        *("website", "state", "outcome", "reason", "priority", "by", "created_at", "due_at", "started_at"),
        *("ended_at", "cancel_requested_at", "worker", "attempt", "lease_until", "page", "page_confirmed_at"),
    )
    inlines = (EngineRunInline,)
    actions = ("cancel",)
    has_add_permission = never

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.workers)
        return [path("workers/", view, name="dashboard_api_scanjob_workers"), *super().get_urls()]

    def workers(self, request: HttpRequest) -> HttpResponse:
        """Show the workers with their scans and when they were last seen, and the engines of this machine."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        running = ScanJob.objects.filter(state=ScanJob.State.RUNNING).select_related("website")
        context = self.admin_site.each_context(request) | {
            "title": "Workers and scanners",
            "opts": self.opts,
            "stop": CrawlerStop.objects.current(),
            "is_enabled": settings.CRAWLER_ENABLED,
            "running": [_Running.of(job) for job in running.order_by("worker", "pk")[:SHOWN]],
            "engines": list(_engines()),
        }
        return TemplateResponse(request, "admin/dashboard_api/scanjob/workers.html", context)

    def actions_for(self, obj: ScanJob) -> tuple[str, ...]:
        return () if obj.ended_at else ("cancel",)

    @admin.action(description="Cancel", permissions=["operate"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[ScanJob]) -> HttpResponse | None:
        """Cancel scans, after a confirmation."""
        return self.confirm(
            request,
            queryset.select_related("website"),
            lambda job, _options: _cancel(job, user_name(request)),
            title="Cancel scans",
            consequence=(
                "Waiting scans end at once, running ones within 10 seconds. Reports of scanners that have "
                "finished are kept."
            ),
            done="Cancelled",
        )


@dataclass(frozen=True, slots=True)
class _Running:
    """A running scan; its worker renews the lease, so the lease shows when the worker was last seen."""

    job: ScanJob
    seen_at: datetime
    is_lost: bool

    @classmethod
    def of(cls, job: ScanJob) -> "_Running":
        lease = job.lease_until or job.created_at
        return cls(job, lease - policy.LEASE, is_lost=lease < timezone.now())


@dataclass(frozen=True, slots=True)
class _Engine:
    """A configured engine: whether this machine has it, and its last run on any machine."""

    name: str
    profile: str
    is_installed: bool
    last: EngineRun | None


def _engines() -> Iterator[_Engine]:
    try:
        engines = read_engines(settings.CRAWLER_ENGINES)
    except WrongEngines:
        return
    for engine in engines:
        last = EngineRun.objects.filter(engine=engine.name).order_by("-pk").first()
        yield _Engine(engine.name, engine.profile, engine.program() is not None, last)


def _cancel(job: ScanJob, by: str) -> Any:
    if not job.cancel(by=by):
        raise ValidationError("Nothing to do: the scan has ended, or is being cancelled.")
