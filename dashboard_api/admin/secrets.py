"""Secrets without a secret: they are issued on the account's page, and end here."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.formats import date_format

from dashboard_api.admin.operations import RecordAdmin
from dashboard_api.models import Secret

SHOWN_FIELDS = ("hint", "state", "created_at", "created_by", "retires_at", "revoked_at", "last_used")


class ShowsLastUse:
    """A column for what no field holds."""

    def last_used(self, secret: Secret) -> str:
        """To the minute."""
        used_at = secret.last_used_at
        return date_format(timezone.localtime(used_at), "DATETIME_FORMAT") if used_at else "never"


@admin.register(Secret)
class SecretAdmin(ShowsLastUse, RecordAdmin):
    """What can still be seen of secrets, and their end."""

    list_display = (
        "id",
        "hint",
        "account",
        "state",
        "works",
        "created_at",
        "created_by",
        "retires_at",
        "last_used",
    )
    list_filter = ("state",)
    list_per_page = 50
    list_select_related = ("account",)
    search_fields = ("account__ref", "account__name", "hint", "created_by")
    date_hierarchy = "created_at"
    fields = readonly_fields = ("account", *SHOWN_FIELDS)
    actions = ("retire", "revoke")

    @admin.display(boolean=True)
    def works(self, secret: Secret) -> bool:
        """Whether calls signed with it are accepted."""
        return secret.is_usable(timezone.now())

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Secrets are issued on the account's page."""
        return False

    def actions_for(self, obj: Secret) -> tuple[str, ...]:
        """What can still happen to it."""
        steps = {Secret.State.ACTIVE: ("retire", "revoke"), Secret.State.RETIRING: ("revoke",)}
        return steps.get(Secret.State(obj.state), ())

    @admin.action(description="Retire", permissions=["operate"])
    def retire(self, request: HttpRequest, queryset: QuerySet[Secret]) -> HttpResponse | None:
        """Let them end by themselves."""
        return self.confirm(
            request,
            queryset,
            lambda secret, _: secret.retire(now=timezone.now()),
            title="Retire secrets",
            consequence="They work for one more day, then no more. Issue their successors first.",
            done="Retired",
        )

    @admin.action(description="Revoke", permissions=["operate"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[Secret]) -> HttpResponse | None:
        """Refuse them at once."""
        return self.confirm(
            request,
            queryset,
            lambda secret, _: secret.revoke(now=timezone.now()),
            title="Revoke secrets",
            consequence="Calls signed with them are refused at once. This cannot be undone.",
            done="Revoked",
        )
