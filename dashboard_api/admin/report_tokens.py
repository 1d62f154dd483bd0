"""The pages of report tokens; staff issue a token from its account's page."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.text import format_lazy
from django.views.decorators.debug import sensitive_variables

from dashboard_api import limits
from dashboard_api.admin.credentials import CredentialAdmin, shown_once
from dashboard_api.admin.operations import row_number, user_name
from dashboard_api.models import Account, ReportToken, Website


class TokenForm(forms.Form):
    """A form for a new token: its purpose, websites, scanners and lifetime."""

    name = forms.CharField(
        label="Name", max_length=100, help_text="Where it is used, such as GitHub Actions of the shop."
    )
    websites = forms.ModelMultipleChoiceField(
        Website.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        help_text="The token can send reports about these websites only.",
    )
    sources = forms.CharField(
        label="Scanners",
        required=False,
        help_text="Their short names, such as zap, nuclei; empty: every scanner.",
    )
    days = forms.IntegerField(
        label="Days",
        min_value=1,
        max_value=limits.MAX_TOKEN_LIFETIME.days,
        initial=limits.TOKEN_LIFETIME.days,
        help_text="How many days the token works.",
    )

    def __init__(self, *args: Any, account: Account, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        linked = account.links.not_revoked().values("website")
        self.fields["websites"].queryset = Website.objects.filter(pk__in=linked)  # type: ignore[attr-defined]

    def clean_sources(self) -> list[str]:
        """Return the names as a list."""
        names: str = self.cleaned_data["sources"]
        return names.replace(",", " ").split()


@admin.register(ReportToken)
class ReportTokenAdmin(CredentialAdmin):
    """The pages of tokens, with the page that issues one and the action that revokes."""

    list_display = (
        row_number,
        "name",
        "account",
        "hint",
        "works",
        "expires_at",
        "last_used_at",
        "created_by",
    )
    list_select_related = ("account",)
    search_fields = ("account__ref", "account__name", "name", "hint")
    fields = readonly_fields = (
        "account",
        "name",
        "websites",
        "sources",
        "hint",
        "created_at",
        "created_by",
        "expires_at",
        "last_used_at",
        "revoked_at",
    )
    actions = ("revoke",)
    revoke_title = "Revoke tokens for reports"
    revoke_consequence = "Reports sent with them are refused at once. This cannot be undone."

    def actions_for(self, obj: ReportToken) -> tuple[str, ...]:
        return () if obj.revoked_at else ("revoke",)

    def get_urls(self) -> list[URLPattern]:
        """Return the URLs, with the page that issues a token."""
        view = self.admin_site.admin_view(self.issue)
        name = "dashboard_api_reporttoken_issue"
        return [path("issue/<int:account_id>/", view, name=name), *super().get_urls()]

    @method_decorator(sensitive_variables("clear"))
    def issue(self, request: HttpRequest, account_id: int) -> HttpResponse:
        """Ask what the token is for; after a POST, issue it and show it once."""
        if not request.user.has_perm("dashboard_api.add_reporttoken"):
            raise PermissionDenied
        account = get_object_or_404(Account, pk=account_id)
        form = TokenForm(request.POST or None, account=account)
        context = self.admin_site.each_context(request) | {"account": account, "opts": self.opts}
        if not form.fields["websites"].queryset.exists():  # type: ignore[attr-defined]
            self.message_user(request, "Link a website to the account first.", messages.ERROR)
            return redirect("admin:dashboard_api_account_change", account.pk)
        if form.is_valid() and (issued := self._issue(request, account, form)):
            token, clear = issued
            advice = (
                "Store it with the secrets of the CI system or the scanner. It works until "
                f"{token.expires_at:%Y-%m-%d}."
            )
            title = f"A new token for {account}"
            return shown_once(request, context, clear, title=title, advice=advice)
        context |= {
            "title": f"Issue a token for reports to {account}",
            "form": form,
        }
        return TemplateResponse(request, "admin/dashboard_api/reporttoken/issue.html", context)

    def _issue(
        self, request: HttpRequest, account: Account, form: TokenForm
    ) -> tuple[ReportToken, str] | None:
        """Issue a token, and return it with its value; if the model refuses, add its errors to the form."""
        data = form.cleaned_data
        try:
            token, clear = ReportToken.objects.issue(
                account,
                data["websites"],
                name=data["name"],
                sources=data["sources"],
                expires_at=timezone.now() + timedelta(days=data["days"]),
                by=user_name(request),
            )
        except ValidationError as error:
            form.add_error(None, " ".join(error.messages))
            return None
        self.log_addition(request, token, format_lazy("Issued {}.", token))
        return token, clear
