"""The operators' pages: which accounts the portal speaks for, their websites, and who may see them."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables

from foundation.hosts import InvalidHost, normalise_host
from foundation.sealing import CannotUnseal
from portal.models import Account, Website
from portal.models.accounts import validate_secret
from portal.models.members import Membership, MembershipChange
from portal.team.actions import What, record


class AccountForm(forms.ModelForm):
    """An account; its secret is written here and never read back."""

    secret = forms.CharField(
        required=False,
        strip=False,
        validators=[validate_secret],
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password", "class": "vTextField"}),
        help_text="The site API secret that the service gave. Never shown; empty leaves it as it is.",
    )

    class Meta:
        model = Account
        fields = ("ref", "name")

    @sensitive_variables()
    def clean(self) -> None:
        """A new account needs a secret, unless the environment has it."""
        super().clean()
        ref = str(self.cleaned_data.get("ref", ""))
        can_sign = self.instance.sealed_secret or Account(ref=ref).is_of_the_environment
        if not can_sign and not self.cleaned_data.get("secret") and "secret" not in self.errors:
            self.add_error("secret", "Enter the secret that the service gave for this account.")


class WebsiteForm(forms.ModelForm):
    """A website, its host written as the service writes it."""

    class Meta:
        model = Website
        fields = ("account", "host", "link_id")

    def clean_host(self) -> str:
        """Normalised here, so that two ways to write a host are found to be one."""
        try:
            return normalise_host(self.cleaned_data["host"])
        except InvalidHost as error:
            raise forms.ValidationError(f"The host {error}.") from error


class WebsiteInline(admin.TabularInline):
    """The account's websites."""

    model = Website
    form = WebsiteForm
    extra = 0


class MembershipInline(admin.TabularInline):
    """The account's people; a role is changed on the membership's own page."""

    model = Membership
    fields = ("user", "role")
    autocomplete_fields = ("user",)
    extra = 0

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Rows are added and removed here."""
        return False


class MembershipChangeInline(admin.TabularInline):
    """What was done about the account's people; to be read only."""

    model = MembershipChange
    fields = readonly_fields = ("at", "by", "what", "person", "role")
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
        """With the counts of the list."""
        accounts: QuerySet[Account] = super().get_queryset(request)
        return accounts.annotate(
            counted_websites=Count("websites", distinct=True),
            counted_members=Count("memberships", distinct=True),
        )

    @admin.display(boolean=True, description="can sign")
    def can_sign(self, account: Account) -> bool:
        """Whether there is a secret, and a master key that opens it."""
        try:
            return bool(account.reveal_secret())
        except CannotUnseal:
            return False

    @admin.display(ordering="counted_websites", description="websites")
    def website_count(self, account: Any) -> int:
        """How many it has."""
        return int(account.counted_websites)

    @admin.display(ordering="counted_members", description="members")
    def member_count(self, account: Any) -> int:
        """How many people see them."""
        return int(account.counted_members)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        """Members who came and went are recorded."""
        super().save_formset(request, form, formset, change)
        if formset.model is Membership:
            for membership in formset.new_objects:
                _record(What.JOINED, membership)
            for membership in formset.deleted_objects:
                _record(What.REMOVED, membership)

    @method_decorator(sensitive_post_parameters("secret"))
    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """No report of an error may hold what was typed."""
        return super().changeform_view(request, *args, **kwargs)

    @method_decorator(sensitive_variables("secret"))
    def save_model(self, request: HttpRequest, obj: Account, form: AccountForm, change: bool) -> None:
        """Seal the secret that was typed, if one was."""
        if secret := form.cleaned_data["secret"]:
            obj.set_secret(secret)
        super().save_model(request, obj, form, change)


@admin.register(Website)
class WebsiteAdmin(admin.ModelAdmin):
    """Websites, with the link ids that the service returned."""

    form = WebsiteForm
    list_display = ("host", "account", "link_id")
    list_filter = (("account", admin.RelatedOnlyFieldListFilter),)
    search_fields = ("host", "link_id", "account__ref", "account__name")
    autocomplete_fields = ("account",)


@admin.register(Membership)
class MembershipAdmin(admin.ModelAdmin):
    """Who may see the websites of which account."""

    list_display = ("user", "account", "role")
    list_filter = ("role", ("account", admin.RelatedOnlyFieldListFilter))
    search_fields = ("user__username", "user__email", "account__ref", "account__name")
    autocomplete_fields = ("user", "account")
    fields = ("user", "account", "role")

    def get_readonly_fields(self, request: HttpRequest, obj: Membership | None = None) -> tuple[str, ...]:
        """A membership stays the same person's in the same account."""
        return ("user", "account") if obj else ()

    def save_model(self, request: HttpRequest, obj: Membership, form: Any, change: bool) -> None:
        """Recorded for the account's owners, too."""
        super().save_model(request, obj, form, change)
        if not change or form.changed_data:
            _record(What.ROLE if change else What.JOINED, obj)

    def delete_model(self, request: HttpRequest, obj: Membership) -> None:
        """Recorded."""
        _record(What.REMOVED, obj)
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Membership]) -> None:
        """Each of them recorded."""
        for membership in queryset:
            _record(What.REMOVED, membership)
        super().delete_queryset(request, queryset)


def _record(what: str, membership: Membership) -> None:
    role = "" if what == What.REMOVED else membership.role
    record(membership.account, what, membership.user.get_username(), by=None, role=role)
