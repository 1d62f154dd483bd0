"""The pages of findings: imports create findings, and analysts triage them."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.views.main import ORDER_VAR, ChangeList
from django.db.models import QuerySet
from django.forms.models import BaseInlineFormSet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.formats import number_format

from dashboard_api.admin.labels import EVENT_LABELS, KIND_LABELS, SEVERITY_LABELS, STATUS_LABELS
from dashboard_api.admin.operations import (
    SHOWN,
    Confirmation,
    ReasonForm,
    RecordInline,
    Words,
    never,
    user_name,
)
from dashboard_api.admin.workbench import Workbench
from dashboard_api.decisions.triage import can_confirm, confirm, decide, override_severity, reopen, unconfirm
from dashboard_api.models import (
    Account,
    Finding,
    FindingEvent,
    Occurrence,
)

OCCURRENCES_SHOWN = 100


class FirstOccurrences(BaseInlineFormSet):
    """The first occurrences of a finding, which can have thousands."""

    def get_queryset(self) -> QuerySet[Occurrence]:
        """Return the first occurrences, kept because the formset asks for them with every row."""
        if not hasattr(self, "_first"):
            self._first = super().get_queryset()[:OCCURRENCES_SHOWN]
        return self._first


class OccurrenceInline(RecordInline):
    """The locations where the finding was seen."""

    model = Occurrence
    formset = FirstOccurrences
    fields = ("location", "first_seen", "last_seen", "gone_at")
    verbose_name_plural = "locations (the first 100)"


QUEUE = "queue"  # the parameter of the filter in URLs
EVERYTHING = "all"  # its value without the filter


class ReviewQueue(admin.SimpleListFilter):
    """A filter by the review queue; by default open findings that no analyst has reviewed."""

    title = "queue"
    parameter_name = QUEUE

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("new", "To review"), (EVERYTHING, "Everything")]

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """Return the two choices without Django's "All", which would be the default."""
        is_everything = self.value() == EVERYTHING
        for value, label in self.lookup_choices:
            query = {self.parameter_name: value}
            selected = is_everything == (value == EVERYTHING)
            yield {
                "selected": selected,
                "query_string": changelist.get_query_string(query),
                "display": label,
            }

    def queryset(self, request: HttpRequest, queryset: QuerySet[Finding]) -> QuerySet[Finding]:
        """Return the findings of the choice; an index holds the queue."""
        if self.value() == EVERYTHING:
            return queryset
        return queryset.filter(status=Finding.Status.OPEN, reviewed_at__isnull=True)


class AdminLabels(admin.ChoicesFieldListFilter):
    """A filter by a field's choices, with the admin's labels instead of the API's."""

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """Return the choices with the admin's labels."""
        labels: dict[Any, Words] = {**SEVERITY_LABELS, **STATUS_LABELS, **KIND_LABELS}
        admin_labels = {str(label): labels[value] for value, label in self.field.flatchoices}
        for choice in super().choices(changelist):
            yield choice | {"display": admin_labels.get(str(choice["display"]), choice["display"])}


class FindingList(ChangeList):
    """The list of findings: the queue with the worst first, everything with the newest first.

    Both orders have an index, so that no page sorts all findings.
    """

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Finding]) -> list[Any]:
        """Return the order of the chosen columns, or else the list's own."""
        if ORDER_VAR in self.params:
            return super().get_ordering(request, queryset)
        return self._get_default_ordering()

    def _get_default_ordering(self) -> list[Any]:
        """Return the list's own order; Django marks its columns in the table's header."""
        is_everything = self.params.get(QUEUE) == EVERYTHING
        return ["-id"] if is_everything else ["-severity", "-id"]


class EventInline(RecordInline):
    """The timeline of the finding."""

    model = FindingEvent
    fields = ("at", "what", "by", "why")
    verbose_name_plural = "timeline"

    @admin.display(description="event")
    def what(self, event: FindingEvent) -> Words:
        return EVENT_LABELS.get(event.event, "")  # empty: the form counted more rows than there are

    @admin.display(description="reason")
    def why(self, event: FindingEvent) -> str:
        return event.reason


class Reason(ReasonForm):
    """A form for the reason of a decision."""

    reason_help = "Customers read it in the finding's timeline."


class Decision(Reason):
    """A form for a decision, which can have a last day."""

    until = forms.DateField(
        label="Until",
        required=False,
        help_text="The last day of the decision. Empty: no end.",
        widget=forms.DateInput(attrs={"type": "date"}),
    )


class SeverityOverride(Reason):
    """A form for an analyst's severity, or to return to the scanner's."""

    severity = forms.TypedChoiceField(
        label="Severity",
        choices=[("", "as the scanner rates it"), *SEVERITY_LABELS.items()],
        coerce=int,
        empty_value=None,
        required=False,
    )


def _customer_refs(findings: QuerySet[Finding]) -> list[str]:
    """Return the references of the accounts that see these findings, at most one more than shown."""
    accounts = Account.objects.filter(links__revoked_at=None, links__website__in=findings.values("website"))
    return list(accounts.distinct().order_by("ref").values_list("ref", flat=True)[: SHOWN + 1])


@admin.register(Finding)
class FindingAdmin(Workbench):
    """The page of a finding: its fields are read-only, and actions with a reason change its status."""

    list_display = (
        "severity_name",
        "title",
        "website",
        "source",
        "kind_name",
        "status_name",
        "first_seen",
        "last_seen",
    )
    list_display_links = ("title",)
    list_filter = (
        ReviewQueue,
        ("status", AdminLabels),
        ("severity", AdminLabels),
        ("kind", AdminLabels),
        "source",
    )
    list_select_related = ("website", "source")
    ordering = ("-id",)
    everything = f"?{QUEUE}={EVERYTHING}"
    search_fields = ("title", "rule", "website__host")
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER  # they would count every finding
    fields = (
        "status_name",
        "triage_until",
        "reviewed_at",
        "fixed_at",
        "title",
        "website",
        "source",
        "severity_name",
        "source_severity_name",
        "severity_raw",
        "kind_name",
        "source_kind_name",
        "rule",
        "location",
        "locations_count",
        "first_seen",
        "last_seen",
        "description",
        "remediation",
        "evidence",
        "references",
        "cwe",
        "cve",
        "fingerprint",
    )
    readonly_fields = fields
    inlines = (EventInline, OccurrenceInline)
    actions = (
        *("mark_reviewed", "false_positive", "accept_risk", "fixed", "reopen"),
        *("confirm_finding", "unconfirm_finding", "override_severity"),
    )
    has_add_permission = never  # imports create findings (manage.py import_report)

    @admin.display(description="severity", ordering="severity")
    def severity_name(self, finding: Finding) -> Words:
        return SEVERITY_LABELS[finding.severity]

    @admin.display(description="severity by the scanner")
    def source_severity_name(self, finding: Finding) -> Words:
        """Return the scanner's severity, where an analyst has overridden it."""
        if finding.source_severity is None:
            return str(self.get_empty_value_display())
        return SEVERITY_LABELS[finding.source_severity]

    @admin.display(description="kind", ordering="kind")
    def kind_name(self, finding: Finding) -> Words:
        return KIND_LABELS[finding.kind]

    @admin.display(description="kind by the scanner")
    def source_kind_name(self, finding: Finding) -> Words:
        """Return the scanner's kind, where an analyst has confirmed the finding."""
        if finding.source_kind is None:
            return str(self.get_empty_value_display())
        return KIND_LABELS[finding.source_kind]

    @admin.display(description="status", ordering="status")
    def status_name(self, finding: Finding) -> Words:
        return STATUS_LABELS[finding.status]

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return FindingList

    def line(self, obj: Finding) -> str:
        """Return the finding with its website and location, because titles repeat."""
        return " · ".join(filter(None, (str(obj), obj.website.host, obj.location)))

    def warning(self, queryset: QuerySet[Finding]) -> str:
        """Return a warning about several accounts: a decision counts for every account with the website."""
        refs = _customer_refs(queryset)
        if len(refs) < 2:
            return ""
        names = ", ".join(refs[:SHOWN]) + (" and more" if len(refs) > SHOWN else "")
        return f"This affects more than one customer: {names}."

    def note(self, queryset: QuerySet[Finding]) -> str:
        """Return a line about the only customer of these findings, or their absence; empty for several."""
        refs = _customer_refs(queryset)
        if len(refs) > 1:
            return ""
        if not refs:
            return "No customer has these websites now."
        return f"Customer: {refs[0]}."

    def actions_for(self, obj: Finding) -> tuple[str, ...]:
        is_open = obj.status == Finding.Status.OPEN
        about_status = ("false_positive", "accept_risk", "fixed") if is_open else ("reopen",)
        about_kind: tuple[str, ...] = ()
        if obj.source_kind:  # an analyst has confirmed it
            about_kind = ("unconfirm_finding",)
        elif can_confirm(obj):
            about_kind = ("confirm_finding",)
        return (*about_status, *about_kind, "override_severity")

    @admin.action(description="Mark as reviewed", permissions=["operate"])
    def mark_reviewed(self, request: HttpRequest, queryset: QuerySet[Finding]) -> None:
        """Take findings out of the queue without a decision."""
        waiting = list(queryset.filter(reviewed_at__isnull=True).values_list("pk", flat=True))
        count = 0
        for start in range(0, len(waiting), 500):
            batch = Finding.objects.filter(pk__in=waiting[start : start + 500]).select_related("website")
            count += sum(self.mark_one_reviewed(request, finding) for finding in batch)
        self.message_user(request, f"Marked as reviewed: {number_format(count)}.", messages.SUCCESS)

    @admin.action(description="False positive", permissions=["operate"])
    def false_positive(self, request: HttpRequest, queryset: QuerySet[Finding]) -> HttpResponse | None:
        return self._decide(
            request,
            queryset,
            Finding.Status.FALSE_POSITIVE,
            done="Marked as a false positive",
            consequence=(
                "They leave the list of open findings. If a later report finds one at another location, it "
                "is open again."
            ),
        )

    @admin.action(description="Accept the risk", permissions=["operate"])
    def accept_risk(self, request: HttpRequest, queryset: QuerySet[Finding]) -> HttpResponse | None:
        return self._decide(
            request,
            queryset,
            Finding.Status.ACCEPTED_RISK,
            done="Accepted",
            consequence=(
                "They leave the list of open findings, and remain accepted at locations that later reports "
                "add."
            ),
        )

    @admin.action(description="Fixed", permissions=["operate"])
    def fixed(self, request: HttpRequest, queryset: QuerySet[Finding]) -> HttpResponse | None:
        """Mark findings as fixed that an analyst has checked because no scanner can."""
        return self._decide(
            request,
            queryset,
            Finding.Status.FIXED,
            done="Fixed",
            consequence="They leave the list of open findings.",
            form_class=Reason,
        )

    def _decide(
        self,
        request: HttpRequest,
        queryset: QuerySet[Finding],
        status: str,
        *,
        done: Words,
        consequence: Words,
        form_class: type[Confirmation] = Decision,
    ) -> HttpResponse | None:
        return self.confirm(
            request,
            queryset,
            lambda finding, form: decide(
                finding,
                status,
                by=user_name(request),
                reason=form["reason"],
                until=form.get("until"),
                now=timezone.now(),
            ),
            title=STATUS_LABELS[status],
            consequence=consequence,
            done=done,
            form_class=form_class,
        )

    @admin.action(description="Reopen", permissions=["operate"])
    def reopen(self, request: HttpRequest, queryset: QuerySet[Finding]) -> HttpResponse | None:
        return self.confirm(
            request,
            queryset,
            lambda finding, form: reopen(
                finding, by=user_name(request), reason=form["reason"], now=timezone.now()
            ),
            title="Reopen findings",
            consequence="Earlier decisions about them end.",
            done="Reopened",
            form_class=Reason,
        )

    @admin.action(description="Confirm", permissions=["operate"])
    def confirm_finding(self, request: HttpRequest, queryset: QuerySet[Finding]) -> HttpResponse | None:
        """Confirm findings that an analyst has verified."""
        return self.confirm(
            request,
            queryset,
            lambda finding, form: confirm(
                finding, by=user_name(request), reason=form["reason"], now=timezone.now()
            ),
            title="Confirm findings",
            consequence=(
                "Customers see that an analyst verified them. They count as confirmed whatever later reports "
                "say; this can lower the grade."
            ),
            done="Confirmed",
            form_class=Reason,
        )

    @admin.action(description="Take back the confirmation", permissions=["operate"])
    def unconfirm_finding(self, request: HttpRequest, queryset: QuerySet[Finding]) -> HttpResponse | None:
        return self.confirm(
            request,
            queryset,
            lambda finding, form: unconfirm(
                finding, by=user_name(request), reason=form["reason"], now=timezone.now()
            ),
            title="Take back confirmations",
            consequence="The scanner's own kind counts again.",
            done="Confirmation taken back",
            form_class=Reason,
        )

    @admin.action(description="Override the severity", permissions=["operate"])
    def override_severity(self, request: HttpRequest, queryset: QuerySet[Finding]) -> HttpResponse | None:
        """Override the severity of findings; the scanner's severity is kept."""
        return self.confirm(
            request,
            queryset,
            lambda finding, form: override_severity(
                finding,
                form["severity"],
                by=user_name(request),
                reason=form["reason"],
                now=timezone.now(),
            ),
            title="Override the severity of findings",
            consequence="Later reports do not change it; the scanner's severity is shown as well.",
            done="Severity overridden",
            form_class=SeverityOverride,
        )
