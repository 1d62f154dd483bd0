"""The pages of entitlements."""

from datetime import date, timedelta
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.options import BaseModelAdmin
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from dashboard_api import limits
from dashboard_api.admin.labels import FEATURE_LABELS
from dashboard_api.admin.operations import OperatorAdmin, Words
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

    features = forms.MultipleChoiceField(
        label=_("Features"), required=False, widget=forms.CheckboxSelectMultiple
    )

    class Meta:
        model = Entitlement
        fields = ENTITLEMENT_FIELDS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        others = [name for name in self.instance.features if name not in FEATURE_LABELS]
        features: Any = self.fields.get("features")  # no field where the user may only look
        if features is not None:
            features.choices = [*FEATURE_LABELS.items(), *zip(others, others, strict=True)]
        if self.instance.pk is None:
            today = timezone.now().date()
            self.initial.setdefault("starts_on", today)
            self.initial.setdefault("ends_on", today + limits.ENTITLEMENT_PERIOD)

    def has_changed(self) -> bool:
        """Return whether to save the entitlement: always for a new account."""
        return self.instance.account_id is None or super().has_changed()


class EffectiveStatus(admin.SimpleListFilter):
    """A filter by the status of today, which the customer sees."""

    title = _("status")
    parameter_name = "status"
    prefix = ""

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
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


ENDING_DAYS = 30
SOON = "soon"


def ending(today: date) -> Q:
    """Return the condition that a plan that is not suspended ends, without renewal, in the next 30 days."""
    period = (today, today + timedelta(days=ENDING_DAYS))
    ended = (Entitlement.Status.SUSPENDED, Entitlement.Status.EXPIRED)
    return Q(ends_on__range=period, renews=False) & ~Q(status__in=ended)


class Ending(admin.SimpleListFilter):
    """A filter by the last day."""

    title = _("last day")
    parameter_name = "ends"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(SOON, _("In the next %(days)s days") % {"days": ENDING_DAYS})]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Entitlement]) -> QuerySet[Entitlement]:
        """Return the rows of the choice."""
        return queryset.filter(ending(timezone.now().date())) if self.value() == SOON else queryset


def effective_status(entitlement: Entitlement) -> Words:
    """Return the label of the status of today."""
    return Entitlement.Status(entitlement.status_on(timezone.now().date())).label


class ReadableFeatures(BaseModelAdmin):
    """A mixin that names the features where the user may only look."""

    @admin.display(description=_("features"))
    def feature_names(self, entitlement: Entitlement) -> str:
        return ", ".join(str(FEATURE_LABELS.get(name, name)) for name in entitlement.features) or "–"

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = super().get_fields(request, obj)
        if self.has_change_permission(request, obj):
            return fields
        return ["feature_names" if name == "features" else name for name in fields]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return (*super().get_readonly_fields(request, obj), "feature_names")


@admin.register(Entitlement)
class EntitlementAdmin(ReadableFeatures, OperatorAdmin):
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
    list_filter = (EffectiveStatus, Ending, "plan")
    list_select_related = ("account",)
    search_fields = ("account__ref", "account__name", "plan")
    date_hierarchy = "ends_on"
    autocomplete_fields = ("account",)
    fields = ("account", *ENTITLEMENT_FIELDS)
    actions = ("extend_by_30_days", "extend_by_365_days", "suspend")

    @admin.display(description=_("status"), ordering="status")
    def status_today(self, entitlement: Entitlement) -> Words:
        """Return the status of today, which can differ from the stored one."""
        return effective_status(entitlement)

    @admin.display(boolean=True, description=_("calls answered today"))
    def is_usable_today(self, entitlement: Entitlement) -> bool:
        return entitlement.is_usable_on(timezone.now().date())

    def get_readonly_fields(self, request: HttpRequest, obj: Entitlement | None = None) -> Any:
        """Return the read-only fields: an entitlement stays with its account."""
        return (*super().get_readonly_fields(request, obj), *(("account",) if obj else ()))

    def actions_for(self, obj: Entitlement) -> tuple[str, ...]:
        """Return the actions; a suspended entitlement cannot be suspended."""
        return self.actions[:-1] if obj.status == Entitlement.Status.SUSPENDED else self.actions

    @admin.action(description=_("Extend by 30 days"), permissions=["operate"])
    def extend_by_30_days(self, request: HttpRequest, queryset: QuerySet[Entitlement]) -> None:
        self._extend(request, queryset, days=30)

    @admin.action(description=_("Extend by 365 days"), permissions=["operate"])
    def extend_by_365_days(self, request: HttpRequest, queryset: QuerySet[Entitlement]) -> None:
        self._extend(request, queryset, days=365)

    @transaction.atomic
    def _extend(self, request: HttpRequest, queryset: QuerySet[Entitlement], *, days: int) -> None:
        """Extend with the rows locked, so that two extensions at the same time add up."""
        self.perform(
            request,
            queryset.select_for_update(of=("self",)),
            lambda entitlement: entitlement.extend(days=days, today=timezone.now().date()),
            done=_("Extended by %(days)s days") % {"days": days},
        )

    @admin.action(description=_("Suspend"), permissions=["operate"])
    def suspend(self, request: HttpRequest, queryset: QuerySet[Entitlement]) -> HttpResponse | None:
        """Refuse the calls of their accounts."""
        return self.confirm(
            request,
            queryset,
            lambda entitlement, _: entitlement.suspend(),
            title=_("Suspend entitlements"),
            consequence=_("Calls of their accounts are refused until the status is set to active again."),
            done=_("Suspended"),
        )
