"""The pages of accounts, where secrets are issued."""

from datetime import date
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.text import format_lazy
from django.views.decorators.debug import sensitive_variables

from dashboard_api.admin.credentials import shown_once
from dashboard_api.admin.entitlements import (
    ENTITLEMENT_FIELDS,
    EffectiveStatusOfAccount,
    EntitlementForm,
    ReadableFeatures,
    effective_status,
    save_entitlement,
)
from dashboard_api.admin.operations import OperatorAdmin, RecordInline, Words, never, user_name
from dashboard_api.admin.secrets import SHOWN_FIELDS, ShowsLastUse
from dashboard_api.models import Account, Entitlement, Secret, SiteLink, Subscription
from dashboard_api.models.accounts import TooManySecrets
from dashboard_api.public.consent import stricter
from dashboard_api.queries.account_calls import latest_calls

LATEST_CALLS = 20  # on the page of an account


class AccountForm(forms.ModelForm):
    """The fields of an account."""

    def clean_publicity(self) -> str:
        """Return the publicity; raises ValidationError if it is less strict: only the owner may do that."""
        before, publicity = self.instance.publicity, str(self.cleaned_data["publicity"])
        if stricter(before, publicity) != publicity:
            raise ValidationError("Only an owner can make this less strict, in the portal.")
        return publicity


class EntitlementInline(ReadableFeatures, admin.StackedInline):
    """The entitlement of the account."""

    model = Entitlement
    form = EntitlementForm
    fields = (*ENTITLEMENT_FIELDS, "reason")
    can_delete = False


class SecretInline(ShowsLastUse, RecordInline):
    """The secrets of the account, without their values."""

    model = Secret
    fields = SHOWN_FIELDS
    show_change_link = True


class LinkInline(RecordInline):
    """The websites of the account."""

    model = SiteLink
    fields = ("website", "link_id", "created_at", "revoked_at")
    show_change_link = True


class SubscriptionInline(RecordInline):
    """The subscriptions that payment providers reported for the account."""

    model = Subscription
    fields = ("provider", "object_id")
    show_change_link = True


@admin.register(Account)
class AccountAdmin(OperatorAdmin):
    """The page of an account, with its entitlement, secrets and websites."""

    list_display = (
        "ref",
        "name",
        "plan",
        "status_today",
        "last_day",
        "is_answered",
    )
    list_filter = (EffectiveStatusOfAccount, "entitlement__plan")
    list_select_related = ("entitlement",)
    search_fields = ("ref", "name")
    form = AccountForm
    fields = ("ref", "name", "calls_per_second", "calls_burst", "publicity", "billing_ref", "created_at")
    inlines = (EntitlementInline, SubscriptionInline, SecretInline, LinkInline)
    has_delete_permission = never  # it would delete the secrets, the links and their history

    @admin.display(description="status", ordering="entitlement__status", empty_value="-")
    def status_today(self, account: Account) -> Words | None:
        """Return the status of today, which can differ from the stored one."""
        entitlement = getattr(account, "entitlement", None)
        return entitlement and effective_status(entitlement)

    @admin.display(description="plan", ordering="entitlement__plan", empty_value="-")
    def plan(self, account: Account) -> str | None:
        return account.entitlement.plan if hasattr(account, "entitlement") else None

    @admin.display(description="last day", ordering="entitlement__ends_on", empty_value="-")
    def last_day(self, account: Account) -> date | None:
        return account.entitlement.ends_on if hasattr(account, "entitlement") else None

    @admin.display(boolean=True, description="calls answered today")
    def is_answered(self, account: Account) -> bool:
        entitlement = getattr(account, "entitlement", None)
        return entitlement is not None and entitlement.is_usable_on(timezone.now().date())

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Render the page with the latest calls of the account."""
        if kwargs.get("obj") and request.user.has_perm("dashboard_api.view_callrecord"):
            context["latest_calls"] = latest_calls(kwargs["obj"].pk, count=LATEST_CALLS)
        return super().render_change_form(request, context, *args, **kwargs)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        """Save the entitlement through its one writer."""
        if formset.model is not Entitlement:
            super().save_formset(request, form, formset, change)
            return
        changed = [row for row in formset.forms if row.has_changed()]
        formset.save(commit=False)  # Django logs the changes that this finds
        for row in changed:
            row.instance.pk = save_entitlement(request, row).pk  # for Django's log

    def get_readonly_fields(self, request: HttpRequest, obj: Account | None = None) -> Any:
        """Return the read-only fields; the reference never changes, because signed calls contain it."""
        return ("ref", "billing_ref", "created_at") if obj else ("created_at",)

    def get_fields(self, request: HttpRequest, obj: Account | None = None) -> Any:
        """Return the fields: a new account has no reference for payments yet."""
        return self.fields if obj else tuple(name for name in self.fields if name != "billing_ref")

    def get_inlines(self, request: HttpRequest, obj: Account | None) -> Any:
        """Return the inlines; a new account has neither secrets nor links."""
        return self.inlines if obj else (EntitlementInline,)

    def get_urls(self) -> list[URLPattern]:
        """Return the URLs, with the page that issues secrets."""
        view = self.admin_site.admin_view(self.issue_secret)
        name = "dashboard_api_account_issue_secret"
        return [path("<path:object_id>/issue-secret/", view, name=name), *super().get_urls()]

    @method_decorator(sensitive_variables("clear"))
    def issue_secret(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask for confirmation; after a POST, issue a secret and show it once."""
        account = self.get_object(request, unquote(object_id))
        if account is None:
            raise Http404("There is no such account.")
        if not request.user.has_perm("dashboard_api.add_secret"):
            raise PermissionDenied
        context = self.admin_site.each_context(request) | {"account": account, "opts": self.opts}
        if request.method != "POST":
            context["title"] = f"Issue a secret for {account}"
            return TemplateResponse(request, "admin/dashboard_api/account/issue_secret.html", context)
        try:
            secret, clear = Secret.objects.issue(
                account, by=user_name(request), is_test="test" in request.POST
            )
        except TooManySecrets as refusal:
            self.message_user(request, " ".join(refusal.messages), messages.ERROR)
            return redirect("admin:dashboard_api_account_change", account.pk)
        self.log_change(request, account, format_lazy("Issued {}.", secret))
        return shown_once(
            request,
            context | {"secret": secret},
            clear,
            title=f"A new secret for {account}",
            advice="Store it in the environment of the customer's backend, never in a browser.",
        )
