"""Admin pages for operators: accounts, websites, members, share links and badges."""

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
    """Form for an account; it sets the secret and never shows it."""

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
        """Require a secret, unless the account or the environment has one."""
        super().clean()
        ref = str(self.cleaned_data.get("ref", ""))
        can_sign = self.instance.sealed_secret or Account(ref=ref).is_from_environment
        if not can_sign and not self.cleaned_data.get("secret") and "secret" not in self.errors:
            self.add_error("secret", "Enter this account's secret from the service.")


class WebsiteForm(forms.ModelForm):
    """Form for a website; it normalises the host as the service does."""

    class Meta:
        model = Website
        fields = ("account", "host", "link_id")

    def clean_host(self) -> str:
        """Return the normalised host, so that the unique constraint finds duplicates."""
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
    """Mixin for pages with a user field: a search box, or a user name for staff who may not list users."""

    def get_autocomplete_fields(self, request: HttpRequest) -> list[str]:
        """Return the fields with a search box; ``user`` only for staff who may list users."""
        fields = super().get_autocomplete_fields(request)
        return [name for name in fields if name != "user" or request.user.has_perm("auth.view_user")]

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Return the field; without the search box, ``user`` is a text field for the user name."""
        if db_field.name == "user" and "user" not in self.get_autocomplete_fields(request):
            kwargs |= {"to_field_name": "username", "widget": forms.TextInput(attrs={"class": "vTextField"})}
            kwargs |= {"help_text": "The user name.", "error_messages": {"invalid_choice": _NO_PERSON}}
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


class MembershipInline(NamesPerson, admin.TabularInline):
    """The account's members; roles are changed on the membership's own page."""

    model = Membership
    fields = ("user", "role")
    autocomplete_fields = ("user",)
    extra = 0

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: this form only adds and removes rows."""
        return False


class MembershipChangeInline(admin.TabularInline):
    """Read-only history of the account's members."""

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
        """Return accounts with the numbers of their websites and members."""
        accounts: QuerySet[Account] = super().get_queryset(request)
        return accounts.annotate(
            number_of_websites=Count("websites", distinct=True),
            number_of_members=Count("memberships", distinct=True),
        )

    @admin.display(boolean=True, description="can sign")
    def can_sign(self, account: Account) -> bool:
        """Return whether the account has a secret that a master key opens."""
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
        """Save, and record added and removed members and every change to websites."""
        if formset.model is Website:
            _record_website_changes(formset)
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
        """Show the form, and warn about seats; error reports never contain the secret."""
        response: HttpResponse = super().changeform_view(request, object_id, *args, **kwargs)
        _warn_about_seats(request, response, unquote(object_id or ""))
        return response

    @method_decorator(sensitive_variables("secret"))
    def save_model(self, request: HttpRequest, obj: Account, form: AccountForm, change: bool) -> None:
        """Save, and seal the secret if one was entered."""
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
        """Return the fields that cannot change once the membership exists: person and account."""
        return ("user", "account") if obj else ()

    def save_model(self, request: HttpRequest, obj: Membership, form: Any, change: bool) -> None:
        """Save and record the change; withdraw the open invitations of an owner who loses the role."""
        was_owner = change and form.initial["role"] == Membership.Role.OWNER
        if was_owner and obj.role != Membership.Role.OWNER:
            withdraw_invitations_of(obj, by=None)
        super().save_model(request, obj, form, change)
        if not change or form.changed_data:
            _record(Action.ROLE if change else Action.JOINED, obj)

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Show the form; after adding a member, warn if the plan has too few seats."""
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
    """Read-only list of all share links, with an action to revoke them."""

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
        """Return False: only members create share links."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: links can be revoked, not edited."""
        return False

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        """Return whether the operator may change share links."""
        return request.user.has_perm("portal.change_sharelink")

    @admin.action(permissions=["revoke"], description="Revoke selected share links")
    def revoke(self, request: HttpRequest, queryset: QuerySet[ShareLink]) -> None:
        """Revoke the selected links, and log each in the admin's history."""
        revoked = [share_link for share_link in queryset if sharing.revoke(share_link)]
        for share_link in revoked:
            self.log_change(request, share_link, "Revoked.")
        self.message_user(request, f"Share links revoked: {len(revoked)}.", messages.SUCCESS)


@admin.register(Badge)
class BadgeAdmin(admin.ModelAdmin):
    """Read-only list of all badges; deleting a badge ends it."""

    list_display = ("website", "created_by", "created_at")
    list_select_related = ("website__account",)
    search_fields = ("website__host", "website__account__ref", "created_by")
    fields = ("website", "language", "created_by", "created_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: only members create badges."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: members renew or end a badge, and operators only delete it."""
        return False


def _warn_about_seats(request: HttpRequest, response: HttpResponse, account_id: str) -> None:
    """After a saved form, warn if the account has more members than its plan includes."""
    is_saved = request.method == "POST" and response.status_code == HTTPStatus.FOUND
    if not is_saved or not account_id.isdecimal():
        return
    for account in Account.objects.filter(pk=account_id):
        if warning := seats.warning(account):
            messages.warning(request, warning)


def _record_website_changes(formset: Any) -> None:
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
    """Record a change, and withdraw the open invitations of a removed member."""
    if action == Action.REMOVED:
        withdraw_invitations_of(membership, by=None)
    role = "" if action == Action.REMOVED else membership.role
    record_change(membership.account, action, membership.user.get_username(), by=None, role=role)
