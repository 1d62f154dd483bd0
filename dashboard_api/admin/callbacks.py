"""The pages of payment callbacks, subscriptions and prices."""

from datetime import date
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe

from dashboard_api.admin.operations import OperatorAdmin, PresenceFilter, RecordAdmin, never, row_number
from dashboard_api.billing.callbacks import applying, providers
from dashboard_api.billing.snapshots import CannotApply, Snapshot, latest
from dashboard_api.billing.wanted import snapshots_of
from dashboard_api.models import CallbackEvent, Entitlement, PlanPrice, Subscription

SHOWN = 10  # newest events on the page of a subscription


@admin.register(CallbackEvent)
class CallbackEventAdmin(RecordAdmin):
    """Events of payment providers and their outcomes; staff can apply them again."""

    list_display = (row_number, "provider", "type", "account", "state", "error", "received_at", "next_at")
    list_filter = ("state", "provider", "error")
    list_select_related = ("account",)
    list_per_page = 50
    show_full_result_count = False
    search_fields = ("event_id", "object_id", "customer", "account__ref")
    fields = readonly_fields = (
        *("provider", "event_id", "type", "object_id", "customer", "account", "state", "error"),
        *("occurred_at", "received_at", "attempts", "next_at", "before", "after"),
    )
    actions = ("replay", "let_customer_pay")
    has_add_permission = never

    def actions_for(self, obj: CallbackEvent) -> tuple[str, ...]:
        if not obj.sealed_body:
            return ()
        return self.actions if obj.error == "second_customer" else ("replay",)

    @admin.action(description="Apply again", permissions=["operate"])
    def replay(self, request: HttpRequest, queryset: QuerySet[CallbackEvent]) -> HttpResponse | None:
        """Apply events again, after a confirmation."""
        return self.confirm(
            request,
            queryset.order_by("id"),
            lambda event, _options: _replay(event),
            title="Apply payment callbacks again",
            consequence="Newer callbacks of the same subscription keep their effect.",
            done="Applied again",
        )

    @admin.action(description="Let this customer pay", permissions=["operate"])
    def let_customer_pay(
        self, request: HttpRequest, queryset: QuerySet[CallbackEvent]
    ) -> HttpResponse | None:
        """Make the customer of an event the account's payer, after a confirmation."""
        return self.confirm(
            request,
            queryset.order_by("id"),
            lambda event, _options: _let_customer_pay(event),
            title="Let this customer pay",
            consequence=(
                "Payments of the account's earlier customer no longer count. Payments of this customer for "
                "other accounts count here; those accounts keep their plan until its last day."
            ),
            done="Applied again",
        )


def _replay(event: CallbackEvent) -> Any:
    state = applying.replay(event.pk, timezone.now())
    if not state:
        raise ValidationError("Its body has been deleted, or it is being applied now.")
    event.refresh_from_db()
    if event.state in (CallbackEvent.State.FAILED, CallbackEvent.State.DEAD):
        raise ValidationError(f"It failed again: {event.error}.")


def _let_customer_pay(event: CallbackEvent) -> None:
    try:
        state = applying.replace_customer(event.pk, timezone.now())
    except CannotApply as error:
        raise ValidationError(f"It failed again: {error.code}. Nothing was changed.") from error
    if not state:
        raise ValidationError("It did not fail because of its customer.")


class Unclear(PresenceFilter):
    """A filter by whether events with the same timestamp contradict each other."""

    heading, present, absent = "contradictory events", "Yes", "No"


@admin.register(Subscription)
class SubscriptionAdmin(RecordAdmin):
    """The subscriptions as payment providers last reported them; read-only."""

    list_display = ("object_id", "provider", "account", "status", "bought", "last_day", "customer")
    list_filter = ("provider", ("unclear_until", Unclear))
    list_select_related = ("account",)
    search_fields = ("object_id", "account__ref", "account__billing_customers__customer")
    fields = readonly_fields = (
        *("provider", "object_id", "account", "customer", "status", "bought", "last_day", "renewal"),
        *("late_since", "newest_events"),
    )
    has_add_permission = never

    @admin.display(description="status")
    def status(self, row: Subscription) -> str:
        """Return the status of the current snapshot, or a dash if the subscription does not count."""
        status = _newest(row).status
        return str(dict(Entitlement.Status.choices).get(status, status)) or "–"

    @admin.display(description="plan or price")
    def bought(self, row: Subscription) -> str:
        newest = _newest(row)
        return ", ".join(filter(None, (newest.plan, newest.price, *newest.other_prices))) or "–"

    @admin.display(description="last day")
    def last_day(self, row: Subscription) -> date:
        return _newest(row).ends_on

    @admin.display(description="renewal")
    def renewal(self, row: Subscription) -> str:
        newest = _newest(row)
        if newest.cancels:
            return "ends after the current period"
        return "renews" if newest.renews else "–"

    @admin.display(description="late since")
    def late_since(self, row: Subscription) -> date | None:
        return _newest(row).past_due_since

    @admin.display(description="customer of the provider")
    def customer(self, row: Subscription) -> str:
        return _newest(row).customer or "–"

    @admin.display(description="newest events")
    def newest_events(self, row: Subscription) -> str:
        """Return links to the newest events of the subscription."""
        events = CallbackEvent.objects.filter(provider=row.provider, object_id=row.object_id)[:SHOWN]
        return format_html_join(
            mark_safe("<br>"),
            '<a href="{}">{} · {} · {}</a>',
            (
                (
                    reverse("admin:dashboard_api_callbackevent_change", args=[event.pk]),
                    date_format(timezone.localtime(event.received_at), "SHORT_DATETIME_FORMAT"),
                    event.type,
                    event.get_state_display(),
                )
                for event in events
            ),
        ) or SafeString("–")


def _newest(row: Subscription) -> Snapshot:
    """Return the subscription's current snapshot."""
    return latest(snapshots_of(row))


class PlanPriceForm(forms.ModelForm):
    """A form for a price; a help text says which accounts get the revision."""

    class Meta:
        model = PlanPrice
        fields = ("provider", "price", "plan")
        help_texts: ClassVar = {
            "plan": (
                "New customers get the newest revision of the plan. Accounts on an earlier revision than "
                "this one move to it with their next payment; accounts on a later one keep it."
            )
        }

    def clean_provider(self) -> str:
        """Return the provider's name in lower case; raises ValidationError if it is unknown."""
        provider: str = self.cleaned_data["provider"].lower()
        if provider not in providers.ADAPTERS:
            text = "Give one of these: %(names)s."
            raise ValidationError(text % {"names": ", ".join(providers.ADAPTERS)})
        return provider


@admin.register(PlanPrice)
class PlanPriceAdmin(OperatorAdmin):
    """The prices of payment providers, each with the revision of a plan that it buys."""

    form = PlanPriceForm
    list_display = ("price", "provider", "plan")
    list_filter = ("provider",)
    list_select_related = ("plan",)
    search_fields = ("price", "plan__slug")
    fields = ("provider", "price", "plan")
