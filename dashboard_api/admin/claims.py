"""The pages of claims: contested ones wait for a decision."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.translation import gettext_lazy as _

from dashboard_api.admin.operations import ReasonForm, RecordAdmin, never, user_name
from dashboard_api.models import OwnershipClaim
from dashboard_api.ownership import claims


class DecisionReason(ReasonForm):
    """A form for the reason of a decision about a claim."""

    readers = _("Recorded with the claim.")


@admin.register(OwnershipClaim)
class OwnershipClaimAdmin(RecordAdmin):
    """Claims of accounts to websites; staff decide contested ones, and end others."""

    list_display = (
        "host",
        "account",
        "state",
        "method",
        "strength",
        "contested_at",
        "objected_at",
        "next_check_at",
    )
    list_filter = ("state", "method")
    list_select_related = ("account",)
    list_per_page = 50
    show_full_result_count = False
    search_fields = ("host", "account__ref")
    fields = readonly_fields = (
        *("host", "account", "state", "method", "strength", "token", "link_problem", "reason", "by"),
        *("created_at", "verified_at", "contested_at", "objected_at", "misses", "missed_at", "unasked_at"),
        *("lapsed_at", "ended_at", "checked_at", "next_check_at", "last_checks"),
    )
    actions = ("accept_claim", "refuse_claim", "withdraw_claim")
    has_add_permission = never

    def actions_for(self, obj: OwnershipClaim) -> tuple[str, ...]:
        if obj.state == OwnershipClaim.State.CONTESTED:
            return ("accept_claim", "refuse_claim")
        return () if obj.ended_at else ("withdraw_claim",)

    @admin.display(description=_("last checks"))
    def last_checks(self, obj: OwnershipClaim) -> str:
        rows = ((each["method"], each["outcome"], each["at"]) for each in obj.checks)
        return format_html_join("", "<div>{}: {} ({})</div>", rows)

    @admin.action(description=_("Accept"), permissions=["operate"])
    def accept_claim(self, request: HttpRequest, queryset: QuerySet[OwnershipClaim]) -> HttpResponse | None:
        """Accept contested claims, after a confirmation."""
        return self._decide(
            request,
            queryset,
            accept=True,
            title=_("Accept claims"),
            consequence=_(
                "Each account is linked next to those that have the website, and reads the same findings. "
                "Check first who owns the domain."
            ),
            done=_("Accepted"),
        )

    @admin.action(description=_("Refuse"), permissions=["operate"])
    def refuse_claim(self, request: HttpRequest, queryset: QuerySet[OwnershipClaim]) -> HttpResponse | None:
        """Refuse contested claims, after a confirmation."""
        return self._decide(
            request,
            queryset,
            accept=False,
            title=_("Refuse claims"),
            consequence=_("The claims end. Their accounts can claim the website again, with a new token."),
            done=_("Refused"),
        )

    @admin.action(description=_("Withdraw"), permissions=["operate"])
    def withdraw_claim(self, request: HttpRequest, queryset: QuerySet[OwnershipClaim]) -> HttpResponse | None:
        """End claims and their links, after a confirmation."""
        return self.confirm(
            request,
            queryset.select_related("account"),
            lambda claim, options: claims.withdraw(
                claim, by=user_name(request), reason=options["reason"], now=timezone.now()
            ),
            title=_("Withdraw claims"),
            consequence=_("The claims end, and the links of their accounts to these websites with them."),
            done=_("Withdrawn"),
            form_class=DecisionReason,
        )

    def _decide(
        self, request: HttpRequest, queryset: QuerySet[OwnershipClaim], *, accept: bool, **words: Any
    ) -> HttpResponse | None:
        return self.confirm(
            request,
            queryset.select_related("account"),
            lambda claim, options: claims.decide(
                claim, accept=accept, by=user_name(request), reason=options["reason"], now=timezone.now()
            ),
            form_class=DecisionReason,
            **words,
        )
