"""The pages of entitlements."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from dashboard_api import limits
from dashboard_api.admin.operations import OperatorAdmin
from dashboard_api.models import Entitlement
from dashboard_api.models.entitlements import has_status

ENTITLEMENT_FIELDS = (
    "plan",
    "status",
    "starts_on",
    "ends_on",
    "renews",
    "past_due_since",
    "sites_limit",
    "features",
)


class EntitlementForm(forms.ModelForm):
    """A form for an entitlement; a new one starts today and lasts a year unless edited.

    For a new account it is saved even without edits, because calls of an account without an entitlement are
    refused.
    """

    class Meta:
        model = Entitlement
        fields = ENTITLEMENT_FIELDS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk is None:
            today = timezone.now().date()
            self.initial.setdefault("starts_on", today)
            self.initial.setdefault("ends_on", today + limits.ENTITLEMENT_PERIOD)

    def has_changed(self) -> bool:
        """Return whether to save the entitlement: always for a new account."""
        return self.instance.account_id is None or super().has_changed()


class EffectiveStatus(admin.SimpleListFilter):
    """A filter by the status of today, which the customer sees."""

    title = "status"
    parameter_name = "status"
    prefix = ""

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(status.value, status.label) for status in Entitlement.Status]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the objects of the status, by the stored status and the dates."""
        status = self.value()
        if status not in Entitlement.Status:
            return queryset
        return queryset.filter(has_status(str(status), timezone.now().date(), prefix=self.prefix))


class EffectiveStatusOfAccount(EffectiveStatus):
    """The same filter in the list of accounts."""

    prefix = "entitlement__"


def effective_status(entitlement: Entitlement) -> str:
    """Return the label of the status of today."""
    return Entitlement.Status(entitlement.status_on(timezone.now().date())).label


@admin.register(Entitlement)
class EntitlementAdmin(OperatorAdmin):
    """The page of an entitlement, with actions that extend and suspend it."""

    form = EntitlementForm
    list_display = (
        "account",
        "plan",
        "status_today",
        "is_usable_today",
        "starts_on",
        "ends_on",
        "sites_limit",
    )
    list_filter = (EffectiveStatus, "plan")
    list_select_related = ("account",)
    search_fields = ("account__ref", "account__name", "plan")
    date_hierarchy = "ends_on"
    autocomplete_fields = ("account",)
    fields = ("account", *ENTITLEMENT_FIELDS)
    actions = ("extend_by_30_days", "extend_by_365_days", "suspend")

    @admin.display(description="status", ordering="status")
    def status_today(self, entitlement: Entitlement) -> str:
        """Return the status of today, which can differ from the stored one."""
        return effective_status(entitlement)

    @admin.display(boolean=True, description="calls answered today")
    def is_usable_today(self, entitlement: Entitlement) -> bool:
        return entitlement.is_usable_on(timezone.now().date())

    def get_readonly_fields(self, request: HttpRequest, obj: Entitlement | None = None) -> Any:
        """Return the read-only fields: an entitlement stays with its account."""
        return ("account",) if obj else ()

    def actions_for(self, obj: Entitlement) -> tuple[str, ...]:
        """Return the actions; a suspended entitlement cannot be suspended."""
        return self.actions[:-1] if obj.status == Entitlement.Status.SUSPENDED else self.actions

    @admin.action(description="Extend by 30 days", permissions=["operate"])
    def extend_by_30_days(self, request: HttpRequest, queryset: QuerySet[Entitlement]) -> None:
        self._extend(request, queryset, days=30)

    @admin.action(description="Extend by 365 days", permissions=["operate"])
    def extend_by_365_days(self, request: HttpRequest, queryset: QuerySet[Entitlement]) -> None:
        self._extend(request, queryset, days=365)

    @transaction.atomic
    def _extend(self, request: HttpRequest, queryset: QuerySet[Entitlement], *, days: int) -> None:
        """Extend with the rows locked, so that two extensions at the same time add up."""
        self.perform(
            request,
            queryset.select_for_update(of=("self",)),
            lambda entitlement: entitlement.extend(days=days, today=timezone.now().date()),
            done=f"Extended by {days} days",
        )

    @admin.action(description="Suspend", permissions=["operate"])
    def suspend(self, request: HttpRequest, queryset: QuerySet[Entitlement]) -> HttpResponse | None:
        """Refuse the calls of their accounts."""
        return self.confirm(
            request,
            queryset,
            lambda entitlement, _: entitlement.suspend(),
            title="Suspend entitlements",
            consequence="Calls of their accounts are refused until the status is set to active again.",
            done="Suspended",
        )
