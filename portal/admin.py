"""The operators' pages: accounts, their websites, and their members."""

from http import HTTPStatus
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.options import BaseModelAdmin
from django.contrib.admin.utils import unquote
from django.db import transaction
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables

from audit.recording import record as audit
from foundation.addresses.hosts import InvalidHost, typed_host
from foundation.sealing import CannotUnseal
from portal.models import Account, Badge, Membership, MembershipChange, ShareLink, Website
from portal.models.accounts import validate_secret
from portal.sharing import actions as sharing
from portal.team import seats
from portal.team.actions import Action, record_change, withdraw_invitations_of

_NO_PERSON = "No person has this user name. Invite the person instead."


class AccountForm(forms.ModelForm):
    """An account; its secret can be set here, but is never shown."""

    secret = forms.CharField(
        label="Secret",
        required=False,
        strip=False,
        validators=[validate_secret],
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password", "class": "vTextField"}),
        help_text="The site API secret from the service. Never shown; leave empty to keep it.",
    )

    class Meta:
        model = Account
        fields = ("ref", "name")

    @sensitive_variables()
    def clean(self) -> None:
        """Require a secret for a new account, unless the environment has it."""
        super().clean()
        ref = str(self.cleaned_data.get("ref", ""))
        can_sign = self.instance.sealed_secret or Account(ref=ref).is_from_environment
        if not can_sign and not self.cleaned_data.get("secret") and "secret" not in self.errors:
            self.add_error("secret", "Enter this account's secret from the service.")


class WebsiteForm(forms.ModelForm):
    """A website, with its host in the service's form."""

    class Meta:
        model = Website
        fields = ("account", "host", "link_id")

    def clean_host(self) -> str:
        """Return the normal form, so that duplicates are recognised."""
        try:
            return typed_host(self.cleaned_data["host"])
        except InvalidHost as error:
            raise forms.ValidationError(f"The host {error}.") from error


class WebsiteInline(admin.TabularInline):
    """The account's websites."""

    model = Website
    form = WebsiteForm
    extra = 0


class NamesPerson(BaseModelAdmin):
    """A page that names a person: by a search, or by the user name for staff who may not read the list."""

    def get_autocomplete_fields(self, request: HttpRequest) -> list[str]:
        """Return the fields with a search."""
        fields = super().get_autocomplete_fields(request)
        return [name for name in fields if name != "user" or request.user.has_perm("auth.view_user")]

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Return the field; a person without a search is text."""
        if db_field.name == "user" and "user" not in self.get_autocomplete_fields(request):
            kwargs |= {"to_field_name": "username", "widget": forms.TextInput(attrs={"class": "vTextField"})}
            kwargs |= {"help_text": "The user name.", "error_messages": {"invalid_choice": _NO_PERSON}}
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


class MembershipInline(NamesPerson, admin.TabularInline):
    """The account's members; a role is changed on the membership's own page."""

    model = Membership
    fields = ("user", "role")
    autocomplete_fields = ("user",)
    extra = 0

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: rows are only added and removed here."""
        return False


class MembershipChangeInline(admin.TabularInline):
    """The record of changes to the account's members; read-only."""

    model = MembershipChange
    fields = readonly_fields = ("at", "by", "action", "person", "role")
    verbose_name_plural = "changes of members"
    can_delete = False
    extra = max_num = 0


@admin.register(Account)
class AccountAdmin(admin.ModelAdmin):
    """Accounts of the service that this portal signs for."""

    form = AccountForm
    fields = ("ref", "name", "secret")
    list_display = ("ref", "name", "can_sign", "website_count", "member_count")
    list_filter = (("websites", admin.EmptyFieldListFilter), ("memberships", admin.EmptyFieldListFilter))
    search_fields = ("ref", "name", "websites__host", "memberships__user__username")
    inlines = (WebsiteInline, MembershipInline, MembershipChangeInline)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Account]:
        """Return accounts with the counts of the list."""
        accounts: QuerySet[Account] = super().get_queryset(request)
        return accounts.annotate(
            number_of_websites=Count("websites", distinct=True),
            number_of_members=Count("memberships", distinct=True),
        )

    @admin.display(boolean=True, description="can sign")
    def can_sign(self, account: Account) -> bool:
        """Return whether there is a secret, and a master key that opens it."""
        try:
            return bool(account.reveal_secret())
        except CannotUnseal:
            return False

    @admin.display(ordering="number_of_websites", description="websites")
    def website_count(self, account: Any) -> int:
        """Return the number of websites."""
        return int(account.number_of_websites)

    @admin.display(ordering="number_of_members", description="members")
    def member_count(self, account: Any) -> int:
        """Return the number of members."""
        return int(account.number_of_members)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        """Save, and record new and removed members, and what happened to websites."""
        if formset.model is Website:
            _record_websites(formset)
        super().save_formset(request, form, formset, change)
        if formset.model is Website:
            for website in formset.new_objects:
                audit("admin.added", website)
        if formset.model is Membership:
            for membership in formset.new_objects:
                _record(Action.JOINED, membership)
            for membership in formset.deleted_objects:
                _record(Action.REMOVED, membership)

    @method_decorator(sensitive_post_parameters("secret"))
    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Show the form; error reports never contain the secret."""
        response: HttpResponse = super().changeform_view(request, object_id, *args, **kwargs)
        _warn_about_seats(request, response, unquote(object_id or ""))
        return response

    @method_decorator(sensitive_variables("secret"))
    def save_model(self, request: HttpRequest, obj: Account, form: AccountForm, change: bool) -> None:
        """Save, with the secret sealed if one was entered."""
        if secret := form.cleaned_data["secret"]:
            obj.set_secret(secret)
        super().save_model(request, obj, form, change)


@admin.register(Website)
class WebsiteAdmin(admin.ModelAdmin):
    """Websites, with their link ids from the service."""

    form = WebsiteForm
    list_display = ("host", "account", "link_id")
    list_filter = (("account", admin.RelatedOnlyFieldListFilter),)
    search_fields = ("host", "link_id", "account__ref", "account__name")
    autocomplete_fields = ("account",)


@admin.register(Membership)
class MembershipAdmin(NamesPerson, admin.ModelAdmin):
    """Members of accounts, with their roles."""

    list_display = ("user", "account", "role")
    list_filter = ("role", ("account", admin.RelatedOnlyFieldListFilter))
    search_fields = ("user__username", "user__email", "account__ref", "account__name")
    autocomplete_fields = ("user", "account")
    fields = ("user", "account", "role")

    def get_readonly_fields(self, request: HttpRequest, obj: Membership | None = None) -> tuple[str, ...]:
        """Return the fields that never change: the person and the account."""
        return ("user", "account") if obj else ()

    def save_model(self, request: HttpRequest, obj: Membership, form: Any, change: bool) -> None:
        """Save, and record the change for the account's owners."""
        if change and form.initial["role"] == Membership.Role.OWNER != obj.role:
            withdraw_invitations_of(obj, by=None)
        super().save_model(request, obj, form, change)
        if not change or form.changed_data:
            _record(Action.ROLE if change else Action.JOINED, obj)

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Show the form; after a new member, warn if the plan includes fewer."""
        response: HttpResponse = super().changeform_view(request, object_id, *args, **kwargs)
        if object_id is None:
            _warn_about_seats(request, response, request.POST.get("account", ""))
        return response

    def delete_model(self, request: HttpRequest, obj: Membership) -> None:
        """Delete, and record the removal."""
        _record(Action.REMOVED, obj)
        super().delete_model(request, obj)

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Membership]) -> None:
        """Delete, and record each removal."""
        for membership in queryset:
            _record(Action.REMOVED, membership)
        super().delete_queryset(request, queryset)


@admin.register(ShareLink)
class ShareLinkAdmin(admin.ModelAdmin):
    """Share links of all accounts: read-only, and revoked by an action."""

    list_display = ("title", "website", "account", "created_by", "created_at", "expires_at", "revoked_at")
    list_filter = (("website__account", admin.RelatedOnlyFieldListFilter), "includes_evidence")
    list_select_related = ("website__account",)
    search_fields = ("title", "website__host", "website__account__ref", "created_by")
    actions = ("revoke",)

    @admin.display(ordering="website__account", description="account")
    def account(self, share_link: ShareLink) -> str:
        """Return the account that shares."""
        return str(share_link.website.account)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: members share."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: a link is revoked, never changed."""
        return False

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        """Return whether the operator may change share links."""
        return request.user.has_perm("portal.change_sharelink")

    @admin.action(permissions=["revoke"], description="Revoke selected share links")
    def revoke(self, request: HttpRequest, queryset: QuerySet[ShareLink]) -> None:
        """End the selected links now, each with a line in the admin's log."""
        revoked = [share_link for share_link in queryset if sharing.revoke(share_link)]
        for share_link in revoked:
            self.log_change(request, share_link, "Revoked.")
        self.message_user(request, f"Share links revoked: {len(revoked)}.", messages.SUCCESS)


@admin.register(Badge)
class BadgeAdmin(admin.ModelAdmin):
    """Badges of all websites: read-only; deleting one ends it."""

    list_display = ("website", "created_by", "created_at")
    list_select_related = ("website__account",)
    search_fields = ("website__host", "website__account__ref", "created_by")
    fields = ("website", "language", "created_by", "created_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: members switch badges on."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: a badge is renewed or ended by members, never changed."""
        return False


def _warn_about_seats(request: HttpRequest, response: HttpResponse, pk: str) -> None:
    """Warn after a change if the account has more members than its plan includes."""
    if request.method != "POST" or response.status_code != HTTPStatus.FOUND or not pk.isdecimal():
        return
    for account in Account.objects.filter(pk=pk):
        if warning := seats.warning(account):
            messages.warning(request, warning)


def _record_websites(formset: Any) -> None:
    """Record the websites that ``formset`` is about to change or delete."""
    for row in formset.initial_forms:
        website = row.instance
        if row in formset.deleted_forms:
            audit("admin.deleted", website)
        elif row.has_changed():
            before = {name: row.initial[name] for name in row.changed_data}
            audit(
                "admin.changed",
                website,
                before=before,
                after={name: row.cleaned_data[name] for name in before},
            )


def _record(action: str, membership: Membership) -> None:
    """Record a change; the open invitations of a person who is removed are withdrawn."""
    if action == Action.REMOVED:
        withdraw_invitations_of(membership, by=None)
    role = "" if action == Action.REMOVED else membership.role
    record_change(membership.account, action, membership.user.get_username(), by=None, role=role)
