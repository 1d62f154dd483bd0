"""The pages of secrets, without their values; the account's page issues them."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.formats import date_format

from dashboard_api.admin.credentials import CredentialAdmin
from dashboard_api.admin.operations import row_number
from dashboard_api.models import Secret

SHOWN_FIELDS = (
    "hint",
    "is_test",
    "for_portal",
    "state",
    "created_at",
    "created_by",
    "retires_at",
    "revoked_at",
    "last_used",
)


class ShowsLastUse:
    """A mixin with the column ``last_used``."""

    @admin.display(description="last used")
    def last_used(self, secret: Secret) -> str:
        used_at = secret.last_used_at
        return date_format(timezone.localtime(used_at), "DATETIME_FORMAT") if used_at else "never"


@admin.register(Secret)
class SecretAdmin(ShowsLastUse, CredentialAdmin):
    """The page of a secret, with actions that retire and revoke it."""

    list_display = (
        row_number,
        "hint",
        "account",
        "is_test",
        "for_portal",
        "state",
        "works",
        "created_at",
        "created_by",
        "retires_at",
        "last_used",
    )
    list_filter = ("state", "is_test")
    list_per_page = 50
    list_select_related = ("account",)
    search_fields = ("account__ref", "account__name", "hint", "created_by")
    date_hierarchy = "created_at"
    fields = readonly_fields = ("account", *SHOWN_FIELDS)
    actions = ("retire", "revoke")
    revoke_title = "Revoke secrets"
    revoke_consequence = "Calls signed with them are refused at once. This cannot be undone."

    def actions_for(self, obj: Secret) -> tuple[str, ...]:
        steps = {Secret.State.ACTIVE: ("retire", "revoke"), Secret.State.RETIRING: ("revoke",)}
        return steps.get(Secret.State(obj.state), ())

    @admin.action(description="Retire", permissions=["operate"])
    def retire(self, request: HttpRequest, queryset: QuerySet[Secret]) -> HttpResponse | None:
        """Retire secrets, which then work for one more day."""
        return self.confirm(
            request,
            queryset,
            lambda secret, _: secret.retire(now=timezone.now()),
            title="Retire secrets",
            consequence="They work for one more day. Issue new secrets first.",
            done="Retired",
        )
