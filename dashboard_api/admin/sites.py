"""The pages of websites and of their links to accounts."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from dashboard_api.admin.archive import Archive, ArchiveFilter
from dashboard_api.admin.operations import (
    SHOWN,
    Confirmation,
    PresenceFilter,
    ReasonForm,
    RecordAdmin,
    RecordInline,
    never,
    user_name,
)
from dashboard_api.admin.uploads import Uploads
from dashboard_api.models import Coverage, LinkEvent, SiteLink, Website

NEW_OWNER = "new"  # a choice of ``past``


class LinkReason(ReasonForm):
    """A form for the reason to revoke or restore a link."""

    reason_help = "Recorded with the link."


class Proof(Confirmation):
    """A form for the method that proved a website's ownership."""

    method = forms.ChoiceField(label="Ownership", choices=Website.Method.choices)


class Verified(PresenceFilter):
    """A filter by whether the ownership of the website was verified."""

    heading, present, absent = "verified", "Yes", "No"


class Revoked(PresenceFilter):
    """A filter by whether the link was revoked."""

    heading, present, absent = "revoked", "Yes", "No"


class WebsiteLinkInline(RecordInline):
    """The accounts that link the website."""

    model = SiteLink
    fields = ("account", "link_id", "created_at", "revoked_at")
    show_change_link = True


class CoverageInline(RecordInline):
    """The coverage of the website by scanner."""

    model = Coverage
    fields = ("source", "state", "last_run_at", "completed_at", "urls_checked", "version")
    show_change_link = True


@admin.register(Website)
class WebsiteAdmin(Uploads, Archive):
    """The page of a website, with actions that verify, archive and delete it."""

    list_display = ("host", "verified_at", "verified_by", "verification_method", "created_at", "archived_at")
    list_filter = (ArchiveFilter, ("verified_at", Verified), "verification_method")
    search_fields = ("host",)
    fields = (
        "host",
        "verified_at",
        "verified_by",
        "verification_method",
        "created_at",
        "archived_at",
        "archived_by",
        "archive_reason",
    )
    inlines = (WebsiteLinkInline, CoverageInline)
    actions = ("verify", "unverify", "archive", "restore", "delete_unused")
    has_delete_permission = never  # only websites without findings are deleted, by an action

    def get_readonly_fields(self, request: HttpRequest, obj: Website | None = None) -> Any:
        """Return the read-only fields: the host never changes, and only the action verifies."""
        return self.fields if obj else self.fields[1:]

    def actions_for(self, obj: Website) -> tuple[str, ...]:
        """Return the actions that suit the website."""
        verification: tuple[str, ...] = ()
        if obj.verified_at:
            verification = ("unverify",)
        elif not obj.archived_at:
            verification = ("verify",)
        return (*verification, *self.archive_actions_for(obj))

    @admin.action(description="Verify", permissions=["operate"])
    def verify(self, request: HttpRequest, queryset: QuerySet[Website]) -> HttpResponse | None:
        """Record how the ownership was proven, and by whom; verified websites are skipped."""
        return self.confirm(
            request,
            queryset.filter(verified_at__isnull=True),
            lambda website, proof: website.verify(
                method=proof["method"], by=user_name(request), at=timezone.now()
            ),
            title="Verify websites",
            consequence="You confirm that their owners proved the ownership. Accounts can then link them.",
            done="Verified",
            form_class=Proof,
        )

    @admin.action(description="Withdraw the verification", permissions=["operate"])
    def unverify(self, request: HttpRequest, queryset: QuerySet[Website]) -> HttpResponse | None:
        return self.confirm(
            request,
            queryset.filter(verified_at__isnull=False),
            lambda website, answers: website.unverify(
                by=user_name(request), reason=answers["reason"], now=timezone.now()
            ),
            title="Withdraw the verification of websites",
            consequence=(
                "All their links are revoked: customers no longer see them, and no scan starts. Their "
                "findings are kept. After you verify them again, restore each link."
            ),
            done="Verification withdrawn",
            form_class=LinkReason,
        )


class SiteLinkForm(forms.ModelForm):
    """A form for a new link."""

    past = forms.ChoiceField(
        label="Earlier findings",
        required=False,
        choices=[
            ("", "No other account had the website"),
            (NEW_OWNER, "New owner: start without them"),
            ("keep", "Same owner: the account sees all of them"),
        ],
    )

    shared = forms.BooleanField(
        label="Shared website",
        required=False,
        help_text="Other accounts have the website as well, and all of them see the same findings.",
    )

    class Meta:
        model = SiteLink
        fields = ("account", "website")

    def clean(self) -> dict[str, Any] | None:
        """Show the model's refusal next to the website; require ``past`` and ``shared`` where they matter."""
        cleaned = super().clean()
        if self.errors:
            return cleaned
        account, website = self.cleaned_data["account"], self.cleaned_data["website"]
        try:
            SiteLink.objects.check_linkable(account, website)
        except ValidationError as refusal:
            self.add_error("website", refusal)
            return cleaned
        former = website.former_holders(account)
        if former and not self.cleaned_data["past"]:
            text = "%(former)s had this website before: say whether it has a new owner."
            self.add_error("past", text % {"former": ", ".join(former)})
        if not self.cleaned_data["shared"]:
            try:
                website.check_not_of_others(account)
            except ValidationError as refusal:
                self.add_error("shared", refusal)
        return cleaned


class LinkEventInline(RecordInline):
    """The history of the link."""

    model = LinkEvent
    fields = ("at", "action", "by", "reason")


@admin.register(SiteLink)
class SiteLinkAdmin(RecordAdmin):
    """The page of a link, with actions that revoke and restore it."""

    form = SiteLinkForm
    list_display = ("website", "account", "link_id", "created_at", "revoked_at")
    list_filter = (("revoked_at", Revoked),)
    list_select_related = ("website", "account")
    search_fields = ("website__host", "account__ref", "account__name", "link_id")
    date_hierarchy = "created_at"
    autocomplete_fields = ("account", "website")
    inlines = (LinkEventInline,)
    actions = ("revoke", "restore")

    def get_fields(self, request: HttpRequest, obj: SiteLink | None = None) -> Any:
        """Return the fields; a new link has no id yet."""
        return (
            ("account", "website", "link_id", "created_at", "revoked_at")
            if obj
            else ("account", "website", "past", "shared")
        )

    def get_readonly_fields(self, request: HttpRequest, obj: SiteLink | None = None) -> Any:
        """Return the read-only fields: every field of a stored link."""
        return self.get_fields(request, obj) if obj else ()

    def save_model(self, request: HttpRequest, obj: SiteLink, form: Any, change: bool) -> None:
        """Create the link; the form has checked the rules in the same transaction."""
        if form.cleaned_data["past"] == NEW_OWNER and obj.website.former_holders(obj.account):
            obj.website = obj.website.begin_again(by=user_name(request), now=timezone.now())
        obj.pk = SiteLink.objects.link(obj.account, obj.website, by=user_name(request)).pk
        obj.refresh_from_db()

    def warning(self, queryset: QuerySet[SiteLink]) -> str:
        """Return a warning about revoked links to websites that others have, or had in the meantime."""
        had = "%(former)s had %(website)s in the meantime: their findings are shown as well."
        have = "%(website)s is also linked to %(accounts)s: all of them would see the same findings."
        texts = []
        for link in queryset.filter(revoked_at__isnull=False).select_related("website", "account")[:SHOWN]:
            website, account = link.website, link.account
            if others := website.other_holders(account):
                texts.append(have % {"website": website, "accounts": others})
            elif former := website.former_holders(account):
                texts.append(had % {"website": website, "former": ", ".join(former)})
        return " ".join(texts)

    def actions_for(self, obj: SiteLink) -> tuple[str, ...]:
        return ("restore",) if obj.revoked_at else ("revoke",)

    @admin.action(description="Revoke", permissions=["operate"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[SiteLink]) -> HttpResponse | None:
        return self.confirm(
            request,
            queryset,
            lambda link, answers: link.revoke(
                by=user_name(request), reason=answers["reason"], now=timezone.now()
            ),
            title="Revoke links",
            consequence=(
                "Calls for these websites by these accounts are refused from now on. A customer who proves a "
                "website again gets its link back: to refuse those calls as well, suspend the entitlement."
            ),
            done="Revoked",
            form_class=LinkReason,
            warns=False,
        )

    @admin.action(description="Restore", permissions=["operate"])
    def restore(self, request: HttpRequest, queryset: QuerySet[SiteLink]) -> HttpResponse | None:
        return self.confirm(
            request,
            queryset,
            lambda link, answers: link.restore(
                by=user_name(request), reason=answers["reason"], now=timezone.now()
            ),
            title="Restore links",
            consequence="Calls for these websites by these accounts are answered again.",
            done="Restored",
            form_class=LinkReason,
        )
