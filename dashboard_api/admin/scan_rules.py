"""The pages of the rules about scans: opt-outs, stops, schedules and consents."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from dashboard_api.admin.operations import PresenceFilter, ReasonForm, RecordAdmin, never, user_name
from dashboard_api.crawler import stopping
from dashboard_api.models import CrawlerStop, ScanConsent, ScanOptOut, ScanSchedule


class EndReason(ReasonForm):
    """The reason for allowing scans again."""

    reason_help = "Recorded with the change."


class Resumed(PresenceFilter):
    """A filter by whether a stop has ended."""

    heading, present, absent = "state", "Ended", "In force"


class Paused(PresenceFilter):
    """A filter by whether a schedule paused itself."""

    heading, present, absent = "state", "Paused automatically", "Not paused"


def _report_cancelled(request: HttpRequest, model_admin: admin.ModelAdmin, count: int) -> None:
    text = "1 scan was cancelled." if count == 1 else f"{count} scans were cancelled."
    model_admin.message_user(request, text, messages.SUCCESS)


@admin.register(ScanOptOut)
class ScanOptOutAdmin(RecordAdmin):
    """Hosts, domains and prefixes that are never scanned; a new opt-out cancels the scans that it covers."""

    list_display = ("value", "kind", "reason", "by", "created_at")
    list_filter = ("kind",)
    search_fields = ("value", "reason")
    fields = ("kind", "value", "reason")
    actions = ("end_opt_out",)

    def get_readonly_fields(self, request: HttpRequest, obj: ScanOptOut | None = None) -> Any:
        return (*self.fields, "by", "created_at") if obj else ()

    def get_fields(self, request: HttpRequest, obj: ScanOptOut | None = None) -> Any:
        return self.get_readonly_fields(request, obj) or self.fields

    def actions_for(self, obj: ScanOptOut) -> tuple[str, ...]:
        return ("end_opt_out",)

    def save_model(self, request: HttpRequest, obj: ScanOptOut, form: Any, change: bool) -> None:
        """Store the opt-out, and cancel the scans that it covers."""
        obj.by = user_name(request)
        _report_cancelled(request, self, stopping.opt_out(obj) or 0)

    @admin.action(description="Allow scans again", permissions=["operate"])
    def end_opt_out(self, request: HttpRequest, queryset: QuerySet[ScanOptOut]) -> HttpResponse | None:
        """End opt-outs, after a confirmation."""
        return self.confirm(
            request,
            queryset,
            lambda opt_out, answers: stopping.end_opt_out(
                opt_out, by=user_name(request), reason=answers["reason"]
            ),
            title="Allow scans again",
            consequence="The websites can be scanned again, by hand and by schedule.",
            done="Allowed again",
            form_class=EndReason,
        )


@admin.register(CrawlerStop)
class CrawlerStopAdmin(RecordAdmin):
    """Stops of all scans: a new stop cancels every scan, and no scan begins until it ends."""

    list_display = ("stopped_at", "by", "reason", "resumed_at", "resumed_by")
    list_filter = (("resumed_at", Resumed),)
    search_fields = ("by", "reason")
    actions = ("resume",)

    def get_readonly_fields(self, request: HttpRequest, obj: CrawlerStop | None = None) -> Any:
        return self.list_display if obj else ()

    def get_fields(self, request: HttpRequest, obj: CrawlerStop | None = None) -> Any:
        return self.list_display if obj else ("reason",)

    def actions_for(self, obj: CrawlerStop) -> tuple[str, ...]:
        return () if obj.resumed_at else ("resume",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return whether the user may stop all scans; always False while they are stopped."""
        return super().has_add_permission(request) and CrawlerStop.objects.current() is None

    def save_model(self, request: HttpRequest, obj: CrawlerStop, form: Any, change: bool) -> None:
        """Stop all scans."""
        _report_cancelled(request, self, stopping.stop_all(by=user_name(request), reason=obj.reason))
        stop = CrawlerStop.objects.current()
        if stop is not None:
            obj.pk, obj.stopped_at = stop.pk, stop.stopped_at

    @admin.action(description="Resume scans", permissions=["operate"])
    def resume(self, request: HttpRequest, queryset: QuerySet[CrawlerStop]) -> HttpResponse | None:
        """End the stop, after a confirmation."""
        return self.confirm(
            request,
            queryset,
            lambda stop, _answers: _resume(stop, user_name(request)),
            title="Resume scans",
            consequence="Scans can start again. Cancelled scans are not repeated.",
            done="Resumed",
        )


def _resume(stop: CrawlerStop, by: str) -> None:
    if stop.resumed_at or not stopping.resume(by=by):
        raise ValidationError("Nothing to do: this stop has ended.")


@admin.register(ScanSchedule)
class ScanScheduleAdmin(RecordAdmin):
    """The schedules of websites, which their owners change in the portal or by the API."""

    list_display = ("website", "account", "frequency", "profile", "next_at", "paused_until", "pause_reason")
    list_filter = ("frequency", "profile", ("pause_reason", Paused))
    list_select_related = ("link__website", "link__account")
    search_fields = ("link__website__host", "link__account__ref")
    fields = readonly_fields = (
        *("website", "account", "frequency", "profile", "start_hour", "hours", "time_zone", "anchor"),
        *("next_at", "paused_until", "pause_reason", "blocked_runs", "changed_by", "changed_at"),
    )
    has_add_permission = never

    @admin.display(ordering="link__website__host", description="website")
    def website(self, obj: ScanSchedule) -> str:
        return obj.link.website.host

    @admin.display(ordering="link__account__ref", description="customer")
    def account(self, obj: ScanSchedule) -> str:
        return obj.link.account.ref


@admin.register(ScanConsent)
class ScanConsentAdmin(RecordAdmin):
    """The consents of accounts to deep scans, each for a year."""

    list_display = ("website", "by", "at")
    list_select_related = ("link__website", "link__account")
    search_fields = ("link__website__host", "by")
    fields = readonly_fields = list_display
    has_add_permission = never

    @admin.display(ordering="link__website__host", description="website")
    def website(self, obj: ScanConsent) -> str:
        return obj.link.website.host
