"""The pages of claims: contested ones wait for a decision."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html_join

from dashboard_api.admin.operations import ReasonForm, RecordAdmin, user_name
from dashboard_api.models import OwnershipClaim, Website
from dashboard_api.models.sites import check_has_one_owner
from dashboard_api.ownership import checks, claims
from foundation.addresses.hosts import InvalidHost, typed_host


class DecisionReason(ReasonForm):
    """A form for the reason of a decision about a claim."""

    reason_help = "Recorded with the claim."


class ClaimForm(forms.ModelForm):
    """A form for the claim of a customer to a website."""

    class Meta:
        model = OwnershipClaim
        fields = ("account", "host")

    def clean_host(self) -> str:
        """Return the host in its stored form; raise ValidationError."""
        try:
            return typed_host(self.cleaned_data["host"])
        except InvalidHost as error:
            raise forms.ValidationError(f"The host {error}.") from error

    def clean(self) -> None:
        """Raise ValidationError if the host has no single owner, or if too many claims wait for proof."""
        super().clean()
        account, host = self.cleaned_data.get("account"), self.cleaned_data.get("host")
        if account and host:
            check_has_one_owner(host)
            claims.check_room(account, host, now=timezone.now())


def _check_now(claim: OwnershipClaim) -> None:
    if claim.ended_at is not None:
        raise forms.ValidationError("It has ended.")
    try:
        checked = checks.check_by_hand(claim, method="", now=timezone.now())
    except checks.TooSoon as error:
        raise forms.ValidationError(f"It can be checked again in {error.seconds} seconds.") from error
    if checked.state not in OwnershipClaim.HOLDING:
        raise forms.ValidationError("The token was not found. The claim shows what was found instead.")


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
        "next_check_at",
        "ended_reason",
    )
    list_filter = ("state", "ended_reason", "method")
    list_select_related = ("account",)
    list_per_page = 50
    show_full_result_count = False
    search_fields = ("host", "account__ref")
    fields = readonly_fields = (
        *("host", "account", "state", "holders", "method", "strength", "token", "link_problem"),
        *("ended_reason", "reason", "by"),
        *("created_at", "verified_at", "contested_at", "ended_at"),
        *("misses", "missed_at", "unasked_at"),
        *("checked_at", "found_at", "next_check_at", "last_checks"),
    )
    form = ClaimForm
    autocomplete_fields = ("account",)
    actions = ("check_claim", "accept_claim", "refuse_claim", "withdraw_claim")

    def get_fields(self, request: HttpRequest, obj: OwnershipClaim | None = None) -> Any:
        return self.fields if obj else ("account", "host")

    def get_readonly_fields(self, request: HttpRequest, obj: OwnershipClaim | None = None) -> Any:
        return self.readonly_fields if obj else ()

    def save_model(self, request: HttpRequest, obj: OwnershipClaim, form: ClaimForm, change: bool) -> None:
        """Add the claim, or keep the one that the account already has for this host."""
        claim = claims.add(obj.account, obj.host, by=user_name(request), now=timezone.now())
        # Django logs and shows its own object.
        obj.pk, obj.token, obj.state = claim.pk, claim.token, claim.state

    def actions_for(self, obj: OwnershipClaim) -> tuple[str, ...]:
        if obj.state == OwnershipClaim.State.CONTESTED:
            return ("check_claim", "accept_claim", "refuse_claim")
        return () if obj.ended_at else ("check_claim", "withdraw_claim")

    @admin.display(description="other accounts that have the website")
    def holders(self, obj: OwnershipClaim) -> str:
        website = Website.objects.filter(host=obj.host).first()
        return website.other_holders(obj.account) if website else ""

    @admin.display(description="last checks")
    def last_checks(self, obj: OwnershipClaim) -> str:
        rows = ((each["method"], each["outcome"], each["at"]) for each in obj.checks)
        return format_html_join("", "<div>{}: {} ({})</div>", rows)

    @admin.action(description="Check now", permissions=["operate"])
    def check_claim(self, request: HttpRequest, queryset: QuerySet[OwnershipClaim]) -> None:
        """Look for the token of one claim now, which takes up to 12 seconds; have others checked soon."""
        claim = queryset.order_by("pk")[0]
        self.perform(
            request, queryset.select_related("account").filter(pk=claim.pk), _check_now, done="Checked"
        )
        others = queryset.exclude(pk=claim.pk).filter(ended_at=None)
        if others.update(next_check_at=timezone.now()):
            self.message_user(request, "The others will be checked within minutes.")

    @admin.action(description="Accept", permissions=["operate"])
    def accept_claim(self, request: HttpRequest, queryset: QuerySet[OwnershipClaim]) -> HttpResponse | None:
        """Accept contested claims, after a confirmation."""
        return self._decide(
            request,
            queryset,
            accept=True,
            title="Accept claims",
            consequence=(
                "Each account gets the website, without any findings. The claims and links of the accounts "
                "that have it today end, and their findings are archived. Check first who owns the domain. "
                "To let several accounts share a website, add a link instead."
            ),
            done="Accepted",
        )

    @admin.action(description="Refuse", permissions=["operate"])
    def refuse_claim(self, request: HttpRequest, queryset: QuerySet[OwnershipClaim]) -> HttpResponse | None:
        """Refuse contested claims, after a confirmation."""
        return self._decide(
            request,
            queryset,
            accept=False,
            title="Refuse claims",
            consequence=(
                "The claims end. Their accounts can claim the website again, with a new token. While "
                "today's accounts have the website, staff decide about later claims as well."
            ),
            done="Refused",
        )

    @admin.action(description="Withdraw", permissions=["operate"])
    def withdraw_claim(self, request: HttpRequest, queryset: QuerySet[OwnershipClaim]) -> HttpResponse | None:
        """End claims and their links, after a confirmation."""
        return self.confirm(
            request,
            queryset.select_related("account"),
            lambda claim, options: claims.withdraw(
                claim, by=user_name(request), reason=options["reason"], now=timezone.now()
            ),
            title="Withdraw claims",
            consequence="The claims end, and so do the links of their accounts to these websites.",
            done="Withdrawn",
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
