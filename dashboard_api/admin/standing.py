"""The pages of suppression rules: a form, a preview of its changes, and the end of a rule."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils import timezone

from dashboard_api.admin.labels import SEVERITY_LABELS
from dashboard_api.admin.operations import PresenceFilter, ReasonForm, RecordAdmin, Words, user_name
from dashboard_api.decisions import standing
from dashboard_api.importing import ended_decisions
from dashboard_api.models import FindingEvent, StandingDecision, Website


class EndReason(ReasonForm):
    """A form for the reason to end a suppression rule."""

    reason_help = "Customers read it in the timeline of each finding that changes."


class StandingDecisionForm(forms.ModelForm):
    """A form for a new suppression rule; ``can_begin`` adds the user's name."""

    rule = forms.CharField(
        label="Scanner's rule",
        max_length=300,
        required=False,
        help_text="As on the page of a finding. Empty: a minimum severity for the scanner.",
        widget=forms.TextInput(attrs={"size": 60}),
    )
    website = forms.ModelChoiceField(Website.objects.all(), required=False, empty_label="all websites")
    reason = forms.CharField(
        label="Reason",
        max_length=450,
        help_text="Customers read it in the timeline of each finding.",
        widget=forms.TextInput(attrs={"size": 80}),
    )

    severity = forms.TypedChoiceField(
        label="Severity", choices=[("", "---------"), *SEVERITY_LABELS.items()], coerce=int
    )

    class Meta:
        model = StandingDecision
        fields = ("source", "rule", "website", "severity", "reason")

    def can_begin(self, *, by: str) -> bool:
        """Return whether the rule can begin; if not, the form has the errors."""
        if self.is_valid():
            self.instance.by = by
            try:
                self.instance.full_clean()
            except ValidationError as error:
                self.add_error(None, error.messages)
        return self.is_valid()


class Ended(PresenceFilter):
    """A filter by whether the suppression rule has ended."""

    heading, present, absent = "state", "Ended", "Active"


@admin.register(StandingDecision)
class StandingDecisionAdmin(RecordAdmin):
    """The page of a suppression rule, with an action that ends it."""

    list_display = (
        "source",
        "rule_or_floor",
        "scope",
        "severity_name",
        "reason",
        "by",
        "created_at",
        "ended_at",
    )
    list_display_links = ("source", "rule_or_floor")
    list_filter = (("ended_at", Ended), "source")
    list_select_related = ("source", "website")
    search_fields = ("rule", "website__host", "source__name", "reason")
    fields = readonly_fields = (
        *("source", "rule_or_floor", "scope", "severity_name", "reason", "by", "created_at"),
        *("findings_changed", "ended_at", "ended_by", "end_reason"),
    )
    actions = ("end",)

    @admin.display(description="scanner's rule", ordering="rule")
    def rule_or_floor(self, decision: StandingDecision) -> str:
        """Return the rule; without one, ``severity`` is a minimum for all rules of the scanner."""
        return decision.rule or "all rules: lower findings are accepted risks"

    @admin.display(description="website", ordering="website")
    def scope(self, decision: StandingDecision) -> str:
        return str(decision.website or "all websites")

    @admin.display(description="severity", ordering="severity")
    def severity_name(self, decision: StandingDecision) -> Words:
        return SEVERITY_LABELS[decision.severity]

    @admin.display(description="findings changed so far")
    def findings_changed(self, decision: StandingDecision) -> int:
        return FindingEvent.objects.filter(decision=decision).values("finding").distinct().count()

    def actions_for(self, obj: StandingDecision) -> tuple[str, ...]:
        return () if obj.ended_at else ("end",)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Ask for a suppression rule, preview its changes, and begin it after a confirmation."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = StandingDecisionForm(request.POST or None, initial=request.GET.dict())
        reach = None
        # The button "change" of the preview leads back to the form.
        if form.can_begin(by=user_name(request)) and "change" not in request.POST:
            if "confirmed" in request.POST:
                return self._begin(request, form.instance)
            reach = standing.reach(form.instance)
        context = self.admin_site.each_context(request) | {
            "title": "Add a suppression rule",
            "form": form,
            "reach": reach,
            "opts": self.opts,
        }
        return TemplateResponse(request, "admin/dashboard_api/standingdecision/decide.html", context)

    def _begin(self, request: HttpRequest, decision: StandingDecision) -> HttpResponse:
        try:
            changed = standing.begin(decision, timezone.now())
        except ValidationError as error:  # someone else added the same rule just now
            self.message_user(request, " ".join(error.messages), messages.ERROR)
        else:
            self.log_addition(request, decision, "Added.")
            text = f"{decision}. Changed findings: {changed}."
            self.message_user(request, text, messages.SUCCESS)
        return redirect("admin:dashboard_api_standingdecision_changelist")

    @admin.action(description="End", permissions=["operate"])
    def end(self, request: HttpRequest, queryset: QuerySet[StandingDecision]) -> HttpResponse | None:
        """End suppression rules, and undo their changes."""
        return self.confirm(
            request,
            queryset.filter(ended_at__isnull=True),
            lambda decision, answers: ended_decisions.end(
                decision, by=user_name(request), reason=answers["reason"], now=timezone.now()
            ),
            title="End suppression rules",
            consequence=(
                "Only their own changes are undone: findings have the scanner's severity again, and accepted "
                "risks are open again, or fixed if complete scans no longer found them. Decisions of "
                "analysts about single findings are kept."
            ),
            done="Ended",
            form_class=EndReason,
        )
