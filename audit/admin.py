"""Audit events for staff: read-only, and found by request id, account, website or action."""

from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.html import format_html

from audit.models import AuditActor, AuditEvent, AuditOrigin


@admin.register(AuditEvent)
class AuditEventAdmin(admin.ModelAdmin):
    """All events, the newest first; a search by request id finds all events of one request."""

    list_display = ("at", "who", "did", "what", "account", "host", "outcome", "request_id")
    list_filter = ("actor_kind", "outcome", "at")
    search_fields = ("=request_id", "=account", "=host", "action")
    fields = (
        "at", "who", "actor_kind", "address", "did", "what", "account", "host", "before", "after",
        "reason", "outcome", "request_id",
    )  # fmt: skip
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[AuditEvent]:
        """Return events with the names of their actors."""
        names = AuditActor.objects.filter(pk=OuterRef("actor")).values("name")
        events: QuerySet[AuditEvent] = super().get_queryset(request)
        return events.annotate(actor_name=Subquery(names[:1]))

    @admin.display(description="who")
    def who(self, event: Any) -> str:
        """Return the name of the actor."""
        if event.actor is None:
            return "-"
        return event.actor_name or str(AuditActor())

    @admin.display(ordering="action", description="action")
    def did(self, event: AuditEvent) -> str:
        """Return the name of the action."""
        return format_html("<code>{}</code>", event.action)

    @admin.display(description="what")
    def what(self, event: AuditEvent) -> str:
        """Return the object of the action."""
        if event.object_type == "person":
            return str(AuditActor.objects.filter(pk=event.object_id).first() or AuditActor())
        return event.label or f"{event.object_type} {event.object_id}".strip()

    @admin.display(description="from")
    def address(self, event: AuditEvent) -> str:
        """Return the address and the browser, which are kept for 90 days."""
        origin = AuditOrigin.objects.filter(event_id=event.pk).first()
        return f"{origin.address} {origin.browser}".strip() if origin else "-"

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: only the product writes events."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: AuditEvent | None = None) -> bool:
        """Return False: events are never changed."""
        return False

    has_delete_permission = has_change_permission
