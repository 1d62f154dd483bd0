"""What engines and analysts found. Reports bring findings; analysts decide where they stand."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.views.main import ORDER_VAR, ChangeList
from django.db.models import QuerySet
from django.forms.models import BaseInlineFormSet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from dashboard_api.admin.operations import SHOWN, Confirmation, OperatorAdmin, RecordInline, user_name
from dashboard_api.models import (
    Account,
    Finding,
    FindingEvent,
    Occurrence,
    Severity,
)
from dashboard_api.triage import decide, rate, reconsider

PLACES_SHOWN = 100


class FirstPlaces(BaseInlineFormSet):
    """A finding can have thousands of places: a page shows the first."""

    def get_queryset(self) -> QuerySet[Occurrence]:
        """Sliced once, because every row asks."""
        if not hasattr(self, "_first"):
            self._first = super().get_queryset()[:PLACES_SHOWN]
        return self._first


class OccurrenceInline(RecordInline):
    """Where the finding was seen."""

    model = Occurrence
    formset = FirstPlaces
    fields = ("location", "first_seen", "last_seen", "gone_at")
    verbose_name_plural = f"places (the first {PLACES_SHOWN})"


QUEUE = "queue"
EVERYTHING = "all"


class NotLookedAt(admin.SimpleListFilter):
    """A filter by the analysts' queue, its default: open findings that no analyst has looked at."""

    title = QUEUE
    parameter_name = QUEUE

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The queue, or everything."""
        return [("new", "To look at"), (EVERYTHING, "Everything")]

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """The two choices without Django's "All", which would be the default."""
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
        """As an index holds it."""
        if self.value() == EVERYTHING:
            return queryset
        return queryset.filter(status=Finding.Status.OPEN, looked_at__isnull=True)


class FindingList(ChangeList):
    """The list of findings: the queue worst first, everything newest first; no page sorts all findings."""

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Finding]) -> list[Any]:
        """Order by the chosen columns; else in the list's own order."""
        if ORDER_VAR in self.params:
            return super().get_ordering(request, queryset)
        return self._get_default_ordering()

    def _get_default_ordering(self) -> list[Any]:
        """The list's own order, which Django marks in the table's head."""
        is_everything = self.params.get(QUEUE) == EVERYTHING
        return ["-id"] if is_everything else ["-severity", "-id"]


class EventInline(RecordInline):
    """What happened to the finding since it was first seen."""

    model = FindingEvent
    fields = ("at", "event", "by", "reason")
    verbose_name_plural = "timeline"


class Reason(Confirmation):
    """A decision has a reason."""

    reason = forms.CharField(
        max_length=450,
        help_text="Customers read it in the finding's timeline.",
        widget=forms.TextInput(attrs={"size": 80}),
    )


class Decision(Reason):
    """It may be for a time only."""

    until = forms.DateField(
        required=False,
        help_text="Its last day; empty: until it is taken back.",
        widget=forms.DateInput(attrs={"type": "date"}),
    )


class Rating(Reason):
    """A severity of ours, or the engine's again."""

    severity = forms.TypedChoiceField(
        choices=[("", "as the engine rates it"), *Severity.choices],
        coerce=int,
        empty_value=None,
        required=False,
    )


@admin.register(Finding)
class FindingAdmin(OperatorAdmin):
    """What a report said is read; where the finding stands is decided, by actions and with a reason."""

    list_display = ("severity", "title", "website", "source", "kind", "status", "first_seen", "last_seen")
    list_display_links = ("title",)
    list_filter = (NotLookedAt, "status", "severity", "kind", "source")
    list_select_related = ("website", "source")
    ordering = ("-id",)
    everything = f"?{QUEUE}={EVERYTHING}"
    search_fields = ("title", "rule", "website__host")
    show_full_result_count = False
    fields = (
        "status",
        "decided_until",
        "looked_at",
        "fixed_at",
        "title",
        "website",
        "source",
        "severity",
        "engine_severity",
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
    actions = ("looked_at", "false_positive", "accept_risk", "fixed", "reopen", "rate")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Reports bring findings: manage.py import_report."""
        return False

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """The list with its own order."""
        return FindingList

    def line(self, obj: Finding) -> str:
        """The finding with its website and place, because titles repeat."""
        return " · ".join(filter(None, (str(obj), obj.website.host, obj.location)))

    def warning(self, queryset: QuerySet[Finding]) -> str:
        """Warn about several accounts: a decision counts for every account that links the website."""
        accounts = Account.objects.filter(
            links__revoked_at=None, links__website__in=queryset.values("website")
        )
        refs = list(accounts.distinct().order_by("ref").values_list("ref", flat=True)[: SHOWN + 1])
        if len(refs) < 2:
            return ""
        names = ", ".join(refs[:SHOWN]) + (" and more" if len(refs) > SHOWN else "")
        return f"This is about more than one account: {names}."

    def actions_for(self, obj: Finding) -> tuple[str, ...]:
        """Those that change something."""
        if obj.status == Finding.Status.OPEN:
            return ("false_positive", "accept_risk", "fixed", "rate")
        return ("reopen", "rate")

    @admin.action(description="Looked at", permissions=["operate"])
    def looked_at(self, request: HttpRequest, queryset: QuerySet[Finding]) -> None:
        """Nothing to decide: out of the queue."""
        count = queryset.filter(looked_at__isnull=True).update(looked_at=timezone.now())
        self.message_user(request, f"Looked at: {count}.", messages.SUCCESS)

    @admin.action(description="False positive", permissions=["operate"])
    def false_positive(self, request: HttpRequest, queryset: QuerySet[Finding]) -> HttpResponse | None:
        """No problem after all."""
        return self._decide(request, queryset, Finding.Status.FALSE_POSITIVE, done="Called a false positive")

    @admin.action(description="Accept the risk", permissions=["operate"])
    def accept_risk(self, request: HttpRequest, queryset: QuerySet[Finding]) -> HttpResponse | None:
        """A problem that is left as it is."""
        return self._decide(request, queryset, Finding.Status.ACCEPTED_RISK, done="Accepted")

    @admin.action(description="Fixed", permissions=["operate"])
    def fixed(self, request: HttpRequest, queryset: QuerySet[Finding]) -> HttpResponse | None:
        """What no engine can tell: somebody looked, and it is gone."""
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
            lambda finding, said: decide(
                finding,
                status,
                by=user_name(request),
                reason=said["reason"],
                until=said.get("until"),
                now=timezone.now(),
            ),
            title=f"Decide: {Finding.Status(status).label.lower()}",
            consequence="They leave the list of what is open.",
            done=done,
            form_class=form_class,
        )

    @admin.action(description="Open again", permissions=["operate"])
    def reopen(self, request: HttpRequest, queryset: QuerySet[Finding]) -> HttpResponse | None:
        """Open again."""
        return self.confirm(
            request,
            queryset,
            lambda finding, said: reconsider(
                finding, by=user_name(request), reason=said["reason"], now=timezone.now()
            ),
            title="Open findings again",
            consequence="What was decided about them no longer holds.",
            done="Open again",
            form_class=Reason,
        )

    @admin.action(description="Rate otherwise", permissions=["operate"])
    def rate(self, request: HttpRequest, queryset: QuerySet[Finding]) -> HttpResponse | None:
        """A severity of ours; the engine's is kept."""
        return self.confirm(
            request,
            queryset,
            lambda finding, said: rate(
                finding,
                said["severity"],
                by=user_name(request),
                reason=said["reason"],
                now=timezone.now(),
            ),
            title="Rate findings otherwise",
            consequence="Later reports do not change it; what the engine says is kept beside it.",
            done="Rated",
            form_class=Rating,
        )
