"""The pages of entitlements."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.options import BaseModelAdmin
from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.formats import number_format

from dashboard_api import limits
from dashboard_api.admin.labels import FEATURE_LABELS, feature_choices
from dashboard_api.admin.operations import OperatorAdmin, ReasonForm, Words, user_name
from dashboard_api.billing import entitlements
from dashboard_api.models import Entitlement, Limits
from dashboard_api.models.entitlements import has_status
from dashboard_api.models.plans import LARGEST, LIMIT_NAMES

ENTITLEMENT_FIELDS = (
    "plan",
    "status",
    "starts_on",
    "ends_on",
    "renews",
    "cancels",
    "past_due_since",
    "sites_limit",
    "features",
)
OF_PLAN = ("sites_limit", "features")  # set by the plan, unless overridden


class EntitlementForm(forms.ModelForm):
    """A form for an entitlement; a new one starts today and lasts a year unless edited.

    It is saved for a new account even without edits: calls of accounts without an entitlement are refused.
    """

    features = forms.MultipleChoiceField(
        label="Features", required=False, widget=forms.CheckboxSelectMultiple
    )

    reason = forms.CharField(
        label="Reason", required=False, max_length=200, help_text="Recorded with the change."
    )

    class Meta:
        model = Entitlement
        fields = ENTITLEMENT_FIELDS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        features: Any = self.fields.get("features")  # missing for users with read access only
        if features is not None:
            features.choices = feature_choices(self.instance.features)
        # Not a field of the form, but part of the check for edit conflicts: saving may end the suspension.
        self.initial["by_staff"] = self.instance.suspended_by_staff
        if self.instance.pk is None:
            today = timezone.now().date()
            self.initial.setdefault("starts_on", today)
            self.initial.setdefault("ends_on", today + limits.ENTITLEMENT_PERIOD)
            self.initial["sites_limit"] = None
            if "sites_limit" in self.fields:
                self.fields["sites_limit"].required = False
                self.fields["sites_limit"].help_text = "Empty: as many as the plan includes."

    def has_changed(self) -> bool:
        """Return whether to save the entitlement: always for a new account."""
        return self.instance.account_id is None or super().has_changed()

    def clean_past_due_since(self) -> date | None:
        """Return the first day of a late payment; raises ValidationError if it is in the future."""
        since: date | None = self.cleaned_data["past_due_since"]
        if since and since > timezone.now().date() and "past_due_since" in self.changed_data:
            raise ValidationError("This day is in the future.")
        return since

    def changes(self) -> dict[str, Any]:
        """Return the changed values; for a new entitlement also the defaults, except limits and features."""
        changed = set(self.changed_data)
        if self.instance.pk is None:
            changed |= {name for name in ENTITLEMENT_FIELDS if name not in OF_PLAN}
        return {
            name: self.cleaned_data[name]
            for name in ENTITLEMENT_FIELDS
            if name in self.cleaned_data and name in changed
        }


def save_entitlement(request: HttpRequest, form: EntitlementForm) -> Entitlement:
    """Save what a form changes, through the one writer of entitlements."""
    data = form.cleaned_data
    changed = entitlements.change(
        form.instance.account, form.changes(), by=user_name(request), reason=data.get("reason", "")
    )
    _mention_paid_plan(request, changed)
    return changed


def _mention_paid_plan(request: HttpRequest, entitlement: Entitlement) -> None:
    """Show a message if the paid plan applies instead of the plan that staff set."""
    agreed = entitlement.agreed_terms
    if agreed and not entitlement.is_as_agreed:
        text = "%(account)s: the paid plan applies. After it, the plan set by staff: %(plan)s until %(day)s."
        values = {"account": entitlement.account, "plan": agreed.plan, "day": agreed.ends_on}
        messages.info(request, text % values)


class OverrideForm(ReasonForm):
    """A form for an override of a limit, with its last day and reason."""

    reason_help = "The customer can read it."
    limit = forms.ChoiceField(label="Limit", choices=LIMIT_NAMES.items())
    value = forms.IntegerField(
        label="Value", required=False, min_value=0, max_value=LARGEST, help_text="Empty: no limit."
    )
    until = forms.DateField(
        label="Last day",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="Empty: no end.",
    )


class EndOverrideForm(ReasonForm):
    """A form that ends an override of a limit."""

    reason_help = "Recorded with the change."
    limit = forms.ChoiceField(label="Limit", choices=LIMIT_NAMES.items())


class EffectiveStatus(admin.SimpleListFilter):
    """A filter by the status of today, which the customer sees."""

    title = "status"
    parameter_name = "status"
    prefix = ""  # of the fields of the entitlement

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
SOON = "soon"  # a value of the filter ``Ending``


def is_ending(today: date) -> Q:
    """Return the condition for plans that end within 30 days: not suspended, without renewal."""
    period = (today, today + timedelta(days=ENDING_DAYS))
    not_running = (Entitlement.Status.SUSPENDED, Entitlement.Status.EXPIRED)
    return Q(ends_on__range=period, renews=False) & ~Q(status__in=not_running)


class Ending(admin.SimpleListFilter):
    """A filter by the last day."""

    title = "last day"
    parameter_name = "ends"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(SOON, f"In the next {ENDING_DAYS} days")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Entitlement]) -> QuerySet[Entitlement]:
        """Return the rows of the choice."""
        return queryset.filter(is_ending(timezone.now().date())) if self.value() == SOON else queryset


def effective_status(entitlement: Entitlement) -> Words:
    """Return the label of the status of today."""
    return Entitlement.Status(entitlement.status_on(timezone.now().date())).label


class ReadableFeatures(BaseModelAdmin):
    """A mixin that shows features as text to users with read access only."""

    @admin.display(description="features")
    def feature_names(self, entitlement: Entitlement) -> str:
        return ", ".join(str(FEATURE_LABELS.get(name, name)) for name in entitlement.features) or "–"

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = super().get_fields(request, obj)
        if self.has_change_permission(request, obj):
            return fields
        stored = [name for name in fields if name != "reason"]
        return ["feature_names" if name == "features" else name for name in stored]

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
    fields = (
        *("account", *ENTITLEMENT_FIELDS),
        *("suspended_by_staff", "set_by_staff", "limits_today", "overrides_today", "reason"),
    )
    readonly_fields = ("suspended_by_staff", "set_by_staff", "limits_today", "overrides_today")
    actions = ("extend_by_30_days", "extend_by_365_days", "override_limit", "end_override", "suspend")

    @admin.display(description="status", ordering="status")
    def status_today(self, entitlement: Entitlement) -> Words:
        """Return the status of today, which can differ from the stored one."""
        return effective_status(entitlement)

    @admin.display(boolean=True, description="calls answered today")
    def is_usable_today(self, entitlement: Entitlement) -> bool:
        return entitlement.is_usable_on(timezone.now().date())

    @admin.display(description="plan set by staff")
    def set_by_staff(self, entitlement: Entitlement) -> str:
        """Return the plan that staff set; it applies again after a better, paid plan ends."""
        agreed = entitlement.agreed_terms
        return f"{agreed.plan} until {agreed.ends_on}" if agreed else "–"

    @admin.display(description="current limits")
    def limits_today(self, entitlement: Entitlement) -> str:
        return limits_in_words(entitlement.limits)

    @admin.display(description="overrides")
    def overrides_today(self, entitlement: Entitlement) -> str:
        """Return the overrides, each with its reason and its last day."""
        lines = []
        for each in entitlement.own_overrides:
            end = f"until {each.until}" if each.until else "no end"
            lines.append(f"{LIMIT_NAMES[each.limit]}: {_value(each.value)}, {end} ({each.reason})")
        return "; ".join(lines) or "–"

    def save_model(self, request: HttpRequest, obj: Entitlement, form: Any, change: bool) -> None:
        """Save the entitlement through its one writer."""
        obj.pk = save_entitlement(request, form).pk
        obj.refresh_from_db()

    def get_readonly_fields(self, request: HttpRequest, obj: Entitlement | None = None) -> Any:
        """Return the read-only fields; an entitlement never moves to another account."""
        return (*super().get_readonly_fields(request, obj), *(("account",) if obj else ()))

    def actions_for(self, obj: Entitlement) -> tuple[str, ...]:
        """Return the actions, without Suspend if staff have suspended the entitlement."""
        return self.actions[:-1] if obj.suspended_by_staff else self.actions

    @admin.action(description="Extend by 30 days", permissions=["operate"])
    def extend_by_30_days(self, request: HttpRequest, queryset: QuerySet[Entitlement]) -> None:
        self._extend(request, queryset, days=30)

    @admin.action(description="Extend by 365 days", permissions=["operate"])
    def extend_by_365_days(self, request: HttpRequest, queryset: QuerySet[Entitlement]) -> None:
        self._extend(request, queryset, days=365)

    def _extend(self, request: HttpRequest, queryset: QuerySet[Entitlement], *, days: int) -> None:
        def extend(entitlement: Entitlement) -> None:
            _mention_paid_plan(
                request, entitlements.extend(entitlement.account, days=days, by=user_name(request))
            )

        self.perform(
            request,
            queryset,
            extend,
            done=f"Extended by {days} days",
        )

    @admin.action(description="Override a limit", permissions=["operate"])
    def override_limit(self, request: HttpRequest, queryset: QuerySet[Entitlement]) -> HttpResponse | None:
        """Override a limit, with a reason and a last day."""
        return self.confirm(
            request,
            queryset,
            lambda entitlement, data: entitlements.override(
                entitlement.account,
                data["limit"],
                data["value"],
                until=data["until"],
                by=user_name(request),
                reason=data["reason"],
            ),
            title="Override a limit",
            consequence="The value replaces the plan's limit for each of these accounts.",
            done="Overridden",
            form_class=OverrideForm,
        )

    @admin.action(description="End an override", permissions=["operate"])
    def end_override(self, request: HttpRequest, queryset: QuerySet[Entitlement]) -> HttpResponse | None:
        """Return a limit to the plan's value."""
        return self.confirm(
            request,
            queryset,
            lambda entitlement, data: _end_override(entitlement, data, by=user_name(request)),
            title="End an override",
            consequence="The plan's limit applies again to each of these accounts.",
            done="Ended",
            form_class=EndOverrideForm,
        )

    @admin.action(description="Suspend", permissions=["operate"])
    def suspend(self, request: HttpRequest, queryset: QuerySet[Entitlement]) -> HttpResponse | None:
        """Suspend entitlements, so that the calls of their accounts are refused."""
        return self.confirm(
            request,
            queryset,
            lambda entitlement, _: entitlements.change(
                entitlement.account, {"status": Entitlement.Status.SUSPENDED}, by=user_name(request)
            ),
            title="Suspend entitlements",
            consequence=(
                "Calls of their accounts are refused until staff set the status to active again; payments do "
                "not lift the suspension."
            ),
            done="Suspended",
        )


def _end_override(entitlement: Entitlement, data: Mapping[str, Any], *, by: str) -> None:
    if data["limit"] not in [each.limit for each in entitlement.own_overrides]:
        raise ValidationError("Nothing to do: this limit has no override.")
    entitlements.end_override(entitlement.account, data["limit"], by=by, reason=data["reason"])


def _value(value: int | None) -> str:
    return "unlimited" if value is None else number_format(value)


def limits_in_words(values: Limits) -> str:
    """Return the limits as text."""
    return ", ".join(f"{label}: {_value(getattr(values, name))}" for name, label in LIMIT_NAMES.items())
