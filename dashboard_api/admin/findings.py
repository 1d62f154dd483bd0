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

from dashboard_api.admin.operations import SHOWN, Confirmation, OperatorAdmin, RecordInline, never, user_name
from dashboard_api.models import (
    Account,
    Finding,
    FindingEvent,
    Occurrence,
    Severity,
)
from dashboard_api.triage import decide, override_severity, reopen

OCCURRENCES_SHOWN = 100


class FirstOccurrences(BaseInlineFormSet):
    """The first occurrences of a finding, which can have thousands."""

    def get_queryset(self) -> QuerySet[Occurrence]:
        """Return the slice, the same one for every row."""
        if not hasattr(self, "_first"):
            self._first = super().get_queryset()[:OCCURRENCES_SHOWN]
        return self._first


class OccurrenceInline(RecordInline):
    """The locations where the finding was seen."""

    model = Occurrence
    formset = FirstOccurrences
    fields = ("location", "first_seen", "last_seen", "gone_at")
    verbose_name_plural = f"locations (the first {OCCURRENCES_SHOWN})"


QUEUE = "queue"
EVERYTHING = "all"


class ReviewQueue(admin.SimpleListFilter):
    """A filter by the analysts' queue, its default: open findings that no analyst has reviewed."""

    title = QUEUE
    parameter_name = QUEUE

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
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


class FindingList(ChangeList):
    """The list of findings: the queue with the worst first, everything with the newest first.

    Indexes have both orders, so that no page sorts all findings.
    """

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Finding]) -> list[Any]:
        """Return the order of the chosen columns, or else the list's own."""
        if ORDER_VAR in self.params:
            return super().get_ordering(request, queryset)
        return self._get_default_ordering()

    def _get_default_ordering(self) -> list[Any]:
        """Return the list's own order, which Django marks in the table's head."""
        is_everything = self.params.get(QUEUE) == EVERYTHING
        return ["-id"] if is_everything else ["-severity", "-id"]


class EventInline(RecordInline):
    """The timeline of the finding."""

    model = FindingEvent
    fields = ("at", "event", "by", "reason")
    verbose_name_plural = "timeline"


class Reason(Confirmation):
    """A form for the reason of a decision."""

    reason = forms.CharField(
        max_length=450,
        help_text="Customers read it in the finding's timeline.",
        widget=forms.TextInput(attrs={"size": 80}),
    )


class Decision(Reason):
    """A form for a decision, which can have a last day."""

    until = forms.DateField(
        required=False,
        help_text="The last day of the decision; empty: no end.",
        widget=forms.DateInput(attrs={"type": "date"}),
    )


class SeverityOverride(Reason):
    """A form for a severity of our own, or the scanner's again."""

    severity = forms.TypedChoiceField(
        choices=[("", "as the scanner rates it"), *Severity.choices],
        coerce=int,
        empty_value=None,
        required=False,
    )


@admin.register(Finding)
class FindingAdmin(OperatorAdmin):
    """The page of a finding: fields of reports are read-only, and actions with a reason change its status."""

    list_display = ("severity", "title", "website", "source", "kind", "status", "first_seen", "last_seen")
    list_display_links = ("title",)
    list_filter = (ReviewQueue, "status", "severity", "kind", "source")
    list_select_related = ("website", "source")
    ordering = ("-id",)
    everything = f"?{QUEUE}={EVERYTHING}"
    search_fields = ("title", "rule", "website__host")
    show_full_result_count = False
    fields = (
        "status",
        "triage_until",
        "reviewed_at",
        "fixed_at",
        "title",
        "website",
        "source",
        "severity",
        "source_severity",
        "severity_raw",
        "kind",
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
    actions = ("mark_reviewed", "false_positive", "accept_risk", "fixed", "reopen", "override_severity")
    has_add_permission = never  # imports create findings (manage.py import_report)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return FindingList

    def line(self, obj: Finding) -> str:
        """Return the finding with its website and location, because titles repeat."""
        return " · ".join(filter(None, (str(obj), obj.website.host, obj.location)))

    def warning(self, queryset: QuerySet[Finding]) -> str:
        """Return a warning about several accounts: a decision counts for every account with the website."""
        accounts = Account.objects.filter(
            links__revoked_at=None, links__website__in=queryset.values("website")
        )
        refs = list(accounts.distinct().order_by("ref").values_list("ref", flat=True)[: SHOWN + 1])
        if len(refs) < 2:
            return ""
        names = ", ".join(refs[:SHOWN]) + (" and more" if len(refs) > SHOWN else "")
        return f"This is about more than one account: {names}."

    def actions_for(self, obj: Finding) -> tuple[str, ...]:
        if obj.status == Finding.Status.OPEN:
            return ("false_positive", "accept_risk", "fixed", "override_severity")
        return ("reopen", "override_severity")

    @admin.action(description="Mark as reviewed", permissions=["operate"])
    def mark_reviewed(self, request: HttpRequest, queryset: QuerySet[Finding]) -> None:
        """Take findings out of the queue without a decision."""
        count = queryset.filter(reviewed_at__isnull=True).update(reviewed_at=timezone.now())
        self.message_user(request, f"Marked as reviewed: {count}.", messages.SUCCESS)

    @admin.action(description="False positive", permissions=["operate"])
    def false_positive(self, request: HttpRequest, queryset: QuerySet[Finding]) -> HttpResponse | None:
        return self._decide(
            request, queryset, Finding.Status.FALSE_POSITIVE, done="Marked as a false positive"
        )

    @admin.action(description="Accept the risk", permissions=["operate"])
    def accept_risk(self, request: HttpRequest, queryset: QuerySet[Finding]) -> HttpResponse | None:
        return self._decide(request, queryset, Finding.Status.ACCEPTED_RISK, done="Accepted")

    @admin.action(description="Fixed", permissions=["operate"])
    def fixed(self, request: HttpRequest, queryset: QuerySet[Finding]) -> HttpResponse | None:
        """Make findings fixed, which an analyst has checked where no scanner can."""
        return self._decide(request, queryset, Finding.Status.FIXED, done="Fixed", form_class=Reason)

    def _decide(
        self,
        request: HttpRequest,
        queryset: QuerySet[Finding],
        status: str,
        *,
        done: str,
        form_class: type[Reason] = Decision,
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
            title=f"Triage: {Finding.Status(status).label.lower()}",
            consequence="They leave the list of open findings.",
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

    @admin.action(description="Override the severity", permissions=["operate"])
    def override_severity(self, request: HttpRequest, queryset: QuerySet[Finding]) -> HttpResponse | None:
        """Override the scanner's severity of findings, which is stored as well."""
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
            consequence="Later reports do not change it; the scanner's own severity is shown as well.",
            done="Severity overridden",
            form_class=SeverityOverride,
        )
