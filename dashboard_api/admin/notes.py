"""The pages of analyst notes, for customers or internal."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.template.defaultfilters import truncatewords

from dashboard_api.admin.operations import Words, user_name
from dashboard_api.models import AnalystNote


@admin.register(AnalystNote)
class AnalystNoteAdmin(admin.ModelAdmin):
    """The page of a note."""

    list_display = ("beginning", "website", "finding", "visible_to", "is_pinned", "author", "created_at")
    list_filter = ("is_internal", "is_pinned")
    list_select_related = ("website", "finding", "account")
    search_fields = ("body", "author", "website__host")
    date_hierarchy = "created_at"
    autocomplete_fields = ("website", "finding", "account")
    fields = (
        "website",
        "finding",
        "is_internal",
        "is_pinned",
        "account",
        "author",
        "body",
        "created_at",
        "updated_at",
    )
    readonly_fields = ("author", "created_at", "updated_at")

    @admin.display(description="note")
    def beginning(self, note: AnalystNote) -> str:
        return truncatewords(note.body, 12)

    @admin.display(ordering="is_internal", description="visible to")
    def visible_to(self, note: AnalystNote) -> Words:
        if note.is_internal:
            return "us only (internal)"
        if note.account:
            return f"customer {note.account}"
        return "every customer with this website"

    def save_model(self, request: HttpRequest, obj: AnalystNote, form: Any, change: bool) -> None:
        """Save the note; its author is the signed-in user who wrote the text."""
        if "body" in form.changed_data:
            obj.author = user_name(request)
        super().save_model(request, obj, form, change)
