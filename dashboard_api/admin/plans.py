"""The pages of plans: an edit of a used revision is saved as the next revision."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse

from dashboard_api.admin.entitlements import limits_in_words
from dashboard_api.admin.labels import feature_choices
from dashboard_api.admin.operations import OperatorAdmin, ReasonForm, never, user_name
from dashboard_api.billing import plans
from dashboard_api.models import Plan
from dashboard_api.models.plans import LARGEST, LIMIT_NAMES

LANGUAGES = (("en", "English"), ("de", "German"))
SHOWN = 10  # accounts listed of a revision
MODEL_FIELDS = ("slug", "rank", "trial_days", "is_offered")
TEXT_FIELDS = tuple(f"{field}_{code}" for field in ("name", "price") for code, _label in LANGUAGES)


class MoveForm(ReasonForm):
    """A form for the reason to move accounts."""

    reason_help = "Recorded with the change."


def _limit_field(name: str, *, least: int) -> forms.IntegerField:
    return forms.IntegerField(
        label=LIMIT_NAMES[name],
        required=name == "websites",
        min_value=least,
        max_value=LARGEST,
        help_text="" if name == "websites" else "Empty: no limit.",
    )


class PlanForm(forms.ModelForm):
    """A form for a revision, with a field for each limit and each language."""

    name_en = forms.CharField(label="Name, English", max_length=50)
    name_de = forms.CharField(label="Name, German", max_length=50, required=False)
    price_en = forms.CharField(label="Price, English", max_length=100, required=False)
    price_de = forms.CharField(label="Price, German", max_length=100, required=False)
    websites = _limit_field("websites", least=0)
    calls_per_day = _limit_field("calls_per_day", least=1)
    scans_per_month = _limit_field("scans_per_month", least=0)
    seats = _limit_field("seats", least=1)
    features = forms.MultipleChoiceField(
        label="Features",
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )

    class Meta:
        model = Plan
        fields = MODEL_FIELDS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        plan = self.instance
        features: Any = self.fields["features"]
        features.choices = feature_choices(plan.features)
        for code, _label in LANGUAGES:
            self.initial[f"name_{code}"] = (plan.name or {}).get(code, "")
            self.initial[f"price_{code}"] = plan.price_text.get(code, "")
        self.initial.update(plan.limits, features=plan.features)
        self.initial["newest"] = Plan.objects.newest(plan.slug)  # for clean(), and to find edit conflicts
        if plan.pk and "slug" in self.fields:
            self.fields["slug"].disabled = True

    def clean(self) -> dict[str, Any]:
        """Combine the fields into the model's values, so that the model can check them."""
        data: dict[str, Any] = super().clean() or {}
        newest = self.initial["newest"]
        if self.instance.pk and self.instance != newest:
            text = "This revision cannot be changed: edit the newer revision %(revision)s instead."
            raise ValidationError(text % {"revision": newest.revision})
        self.instance.name = _by_language(data, "name")
        self.instance.price_text = _by_language(data, "price")
        self.instance.features = data.get("features", [])
        self.instance.limits = {name: data[name] for name in LIMIT_NAMES if data.get(name) is not None}
        return data

    def clean_slug(self) -> str:
        """Return the slug; raises ValidationError if another plan has it."""
        slug: str = self.cleaned_data["slug"]
        if self.instance.pk is None and Plan.objects.newest(slug):
            raise ValidationError("There is a plan with this name: edit it instead.")
        return slug

    def _post_clean(self) -> None:
        """Let the model check the values only if all fields are valid: it combines several of them."""
        if not self.errors:
            super()._post_clean()  # type: ignore[misc]


def _by_language(data: dict[str, Any], field: str) -> dict[str, str]:
    return {code: data[f"{field}_{code}"] for code, _label in LANGUAGES if data.get(f"{field}_{code}")}


@admin.register(Plan)
class PlanAdmin(OperatorAdmin):
    """The page of a revision of a plan, with an action that moves accounts to it."""

    form = PlanForm
    list_display = ("slug", "revision", "title", "limits_shown", "accounts", "is_offered", "used_at")
    list_filter = ("is_offered", "slug")
    search_fields = ("slug",)
    fields = ("slug", *TEXT_FIELDS, *MODEL_FIELDS[1:], *LIMIT_NAMES, "features", "affected")
    readonly_fields = ("affected",)
    actions = ("move_accounts",)
    has_delete_permission = never

    def get_queryset(self, request: HttpRequest) -> QuerySet[Plan]:
        plans_with_accounts: QuerySet[Plan] = super().get_queryset(request)
        return plans_with_accounts.annotate(accounts=Count("entitlements"))

    @admin.display(description="accounts", ordering="accounts")
    def accounts(self, plan: Any) -> int:
        return int(plan.accounts)

    @admin.display(description="limits")
    def limits_shown(self, plan: Plan) -> str:
        return limits_in_words(plan.terms)

    @admin.display(description="who is affected")
    def affected(self, plan: Plan) -> str:
        """Return who has the plan, and what saving does to them."""
        if plan.pk is None:
            return "No account, until one is moved to the plan."
        refs = list(plan.entitlements.order_by("account__ref").values_list("account__ref", flat=True)[:SHOWN])
        if not plan.used_at:
            return "No account has this revision yet: it can be changed."
        newest = Plan.objects.newest(plan.slug)
        if newest == plan:
            text = (
                "Accounts that have this revision keep it: %(count)s (%(names)s). An edit is saved as the "
                "next revision, which new customers get; the action there moves accounts to it."
            )
        else:
            text = (
                "Accounts that have this revision keep it: %(count)s (%(names)s). It cannot be changed: "
                "revision %(newest)s is newer."
            )
        more = ["…"] if plan.entitlements.count() > SHOWN else []
        values = {"count": plan.entitlements.count(), "names": ", ".join(refs + more) or "–"}
        return str(text % (values | {"newest": newest.revision if newest else ""}))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return the form's fields, or the model's for users with read access only."""
        if self.has_change_permission(request, obj):
            return self.fields
        return ("slug", "revision", "title", "limits_shown", "trial_days", "is_offered", "affected")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if self.has_change_permission(request, obj):
            return self.readonly_fields
        return self.get_fields(request, obj)

    def actions_for(self, obj: Plan) -> tuple[str, ...]:
        return self.actions

    def save_model(self, request: HttpRequest, obj: Plan, form: Any, change: bool) -> None:
        """Save a revision, or the next one if it is used."""
        saved = plans.save(obj, by=user_name(request))
        obj.pk, obj.revision, obj.used_at = saved.pk, saved.revision, saved.used_at

    @admin.action(description="Move accounts to this revision", permissions=["operate"])
    def move_accounts(self, request: HttpRequest, queryset: QuerySet[Plan]) -> HttpResponse | None:
        """Move the accounts of other revisions of the plan, after showing who is affected."""
        return self.confirm(
            request,
            queryset,
            lambda plan, data: plans.move_accounts(plan, by=user_name(request), reason=data["reason"]),
            title="Move accounts to this revision",
            consequence=(
                "The limits of this revision apply to them at once, and after their next payments; "
                "overrides are kept."
            ),
            done="Moved",
            form_class=MoveForm,
        )

    def note(self, queryset: QuerySet[Plan]) -> str:
        """Return who would be moved, and who uses more websites than the revision allows."""
        lines = []
        for plan in queryset:
            rows = plans.entitlements_to_move(plan)
            refs = ", ".join(row.account.ref for row in rows[:SHOWN]) or "–"
            over = [row.account.ref for row in rows if plans.websites_over(row.account, plan)]
            text = "%(plan)s: %(count)s accounts are affected (%(refs)s)."
            lines.append(text % {"plan": plan, "count": len(rows), "refs": refs})
            if over:
                text = "They use more websites than it allows: %(refs)s."
                lines.append(text % {"refs": ", ".join(over[:SHOWN])})
        return " ".join(map(str, lines))
