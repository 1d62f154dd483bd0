"""The pages of public telemetry: what is published, what would be next, and the entries of the live feed."""

import json
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone

from dashboard_api.admin.operations import PresenceFilter, ReasonForm, RecordAdmin, never, user_name
from dashboard_api.models import FeedEntry, Published
from dashboard_api.public import publishing
from dashboard_api.public.cells import MAX_SHARE_PERCENT, MIN_ACCOUNTS, MIN_WEBSITES, Reason

REASONS: dict[Reason, Any] = {
    "few_websites": "fewer than %(count)s websites",
    "few_accounts": "fewer than %(count)s accounts",
    "one_account": "one account has more than %(count)s percent",
    "too_few_others": "the other websites are too few",
}
_COUNTS = {"few_websites": MIN_WEBSITES, "few_accounts": MIN_ACCOUNTS, "one_account": MAX_SHARE_PERCENT}


class WithdrawReason(ReasonForm):
    """The reason for withdrawing entries of the feed."""

    readers = "For colleagues; nothing of it is published."


class Withdrawn(PresenceFilter):
    """A filter by whether an entry is withdrawn."""

    heading, present, absent = "state", "Withdrawn", "Shown or waiting"


@admin.register(FeedEntry)
class FeedEntryAdmin(RecordAdmin):
    """The entries of the live feed with their websites, also those that wait; one can be withdrawn."""

    list_display = ("domain", "region", "severity", "category", "appears_at", "withdrawn_at", "website")
    list_filter = (("withdrawn_at", Withdrawn), "severity")
    list_select_related = ("website",)
    search_fields = ("website__host",)
    fields = readonly_fields = (
        *("public_id", "website", "account", "finding_id", "severity", "category", "domain", "region"),
        *("created_at", "appears_at", "day", "withdrawn_at", "withdraw_reason"),
    )
    actions = ("withdraw",)
    has_add_permission = never

    def actions_for(self, obj: FeedEntry) -> tuple[str, ...]:
        return () if obj.withdrawn_at else ("withdraw",)

    @admin.action(description="Withdraw", permissions=["operate"])
    def withdraw(self, request: HttpRequest, queryset: QuerySet[FeedEntry]) -> HttpResponse | None:
        """Withdraw entries, after a confirmation."""
        return self.confirm(
            request,
            queryset.filter(withdrawn_at=None),
            lambda entry, answers: entry.withdraw(
                by=user_name(request), reason=answers["reason"], now=timezone.now()
            ),
            title="Withdraw entries of the live feed",
            consequence=(
                "They are gone with the next run of publish_telemetry, within an hour, and do not come back."
            ),
            done="Withdrawn",
            form_class=WithdrawReason,
        )


@admin.register(Published)
class PublishedAdmin(RecordAdmin):
    """The published documents, and a preview of the next statistics."""

    change_list_template = "admin/dashboard_api/published/change_list.html"
    list_display = ("__str__", "day", "made_at")
    list_filter = ("kind",)
    search_fields = ("kind",)
    fields = readonly_fields = ("kind", "day", "made_at", "document")
    has_add_permission = never

    @admin.display(description="document")
    def document(self, row: Published) -> str:
        return _indented(json.loads(bytes(row.body)))

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.preview)
        return [path("preview/", view, name="dashboard_api_published_preview"), *super().get_urls()]

    def preview(self, request: HttpRequest) -> HttpResponse:
        """Show what the next statistics would say, and what the floor leaves out and why."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        now = timezone.now()
        websites = publishing.population(publishing.last_day(now), now)
        document, table = publishing.build_statistics(websites, now)
        context = self.admin_site.each_context(request) | {
            "title": "Preview of the next statistics",
            "opts": self.opts,
            "document": _indented(document),
            "counted": len(websites),
            "left_out": [
                (each.cell, each.websites, REASONS[each.reason] % {"count": _COUNTS.get(each.reason)})
                for each in table.removed
            ],
        }
        return TemplateResponse(request, "admin/dashboard_api/published/preview.html", context)


def _indented(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=1)
