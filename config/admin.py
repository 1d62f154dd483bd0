"""Admin pages for people and their sessions, groups, second factors and runs of commands."""

from collections.abc import Iterable, Sequence
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.apps import apps
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin import options
from django.contrib.admin.utils import unquote
from django.contrib.admin.widgets import AutocompleteSelect
from django.contrib.auth.admin import GroupAdmin as DjangosGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangosUserAdmin
from django.contrib.auth.forms import AdminPasswordChangeForm, AdminUserCreationForm
from django.contrib.auth.models import Group, User
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from audit.recording import record
from config.identity.account_emails import send_changed
from config.models import Run, Session
from portal.pages.forms import PasswordErrors
from portal.pages.urls import portal_origin

admin.site.unregister([Authenticator, EmailAddress, Group, User])  # EmailAddress is not used
for _label in ("auth", "mfa"):
    apps.get_app_config(_label).verbose_name = "People"  # as the navigation says


MAX_DIGITS = 18  # of an id


class SearchField(AutocompleteSelect):
    """Django's autocomplete field, which ignores values that are not ids instead of failing."""

    def optgroups(self, name: str, value: Sequence[str], attr: Any = None) -> Any:
        """Return the chosen row, or no row if the value is not an id."""
        ids = [each for each in value if each.isascii() and each.isdigit() and len(each) <= MAX_DIGITS]
        return super().optgroups(name, ids, attr)


options.AutocompleteSelect = SearchField  # type: ignore[attr-defined]  # the stubs lack it

_GIVE_ACCESS = ("is_staff", "is_superuser", "groups", "user_permissions")


def may_give_access(request: HttpRequest, person: User | None = None) -> bool:
    """Return whether the user of ``request`` may change permissions, or the password of ``person``.

    Only superusers change staff and groups: anyone else could give themselves every permission, or set a
    superuser's password.
    """
    user: Any = request.user
    return bool(user.is_superuser or (person is not None and not (person.is_staff or person.is_superuser)))


def _withdraw_invitations(people: Iterable[User]) -> None:
    """Withdraw the open invitations from and to these people."""
    if not settings.ENABLE_PORTAL:
        return
    from portal.models import Membership
    from portal.team.actions import withdraw_invitations_of

    for membership in Membership.objects.filter(user__in=people).select_related("account", "user"):
        withdraw_invitations_of(membership, by=None)


class _AddForm(PasswordErrors, AdminUserCreationForm):
    pass


class _PasswordForm(PasswordErrors, AdminPasswordChangeForm):
    pass


@admin.register(User)
class UserAdmin(DjangosUserAdmin):
    """People, with their number of open sessions and an action to end them."""

    add_form = _AddForm
    change_password_form = _PasswordForm
    actions = ("end_sessions",)
    readonly_fields = ("last_login", "open_sessions")
    fieldsets = (*DjangosUserAdmin.fieldsets, ("Sessions", {"fields": ("open_sessions",)}))  # type: ignore[misc]

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> tuple[str, ...]:
        """Return the read-only fields; fields that give access are read-only unless a superuser asks."""
        return self.readonly_fields if may_give_access(request) else (*self.readonly_fields, *_GIVE_ACCESS)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Return whether the user may open the list, or change this person."""
        return super().has_change_permission(request, obj) and (obj is None or may_give_access(request, obj))

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Return whether the user may delete people, or this person."""
        return super().has_delete_permission(request, obj) and (obj is None or may_give_access(request, obj))

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Store the person; withdraw the open invitations if the person may no longer sign in."""
        if change and not obj.is_active:
            _withdraw_invitations([obj])  # before the form changes the e-mail address
        super().save_model(request, obj, form, change)

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        """Delete the person, and withdraw their open invitations."""
        _withdraw_invitations([obj])
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """Delete these people, and withdraw their open invitations."""
        _withdraw_invitations(queryset)
        super().delete_queryset(request, queryset)

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:  # noqa: A002
        """Set a person's password; the person gets an e-mail."""
        before = self.get_object(request, unquote(id))
        response: HttpResponse = super().user_change_password(request, id, form_url)
        person = self.get_object(request, unquote(id))
        if before and person and before.password != person.password:
            send_changed(person, "account/email/password_set", origin=portal_origin(request))
        return response

    @admin.display(description="open sessions")
    def open_sessions(self, user: User) -> int:
        """Return how many browsers the person is signed in with."""
        return Session.objects.filter(user_id=user.pk, expire_date__gt=timezone.now()).count()

    @admin.action(permissions=["change"], description="Sign the selected people out everywhere")
    def end_sessions(self, request: HttpRequest, people: QuerySet[User]) -> None:
        """End every session of the selected people."""
        ids = list(people.values_list("pk", flat=True))
        ended, _each = Session.objects.filter(user_id__in=ids).delete()
        for person in people:
            record("sessions.ended", person, may_wait=True)
        text = "1 session was ended." if ended == 1 else f"{ended} sessions were ended."
        self.message_user(request, text, messages.SUCCESS)


@admin.register(Group)
class GroupAdmin(DjangosGroupAdmin):
    """Groups of staff, with the number of people in each."""

    list_display = ("name", "people")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return whether this person may create groups, and so choose their permissions."""
        return super().has_add_permission(request) and may_give_access(request)

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        """Return whether this person may change the permissions of groups."""
        return super().has_change_permission(request, obj) and may_give_access(request)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Group]:
        """Return groups, each with its number of people."""
        groups: QuerySet[Group] = super().get_queryset(request)
        return groups.annotate(number_of_people=Count("user"))

    @admin.display(ordering="number_of_people", description="people")
    def people(self, group: Any) -> int:
        """Return the number of people in the group."""
        return int(group.number_of_people)


@admin.register(Authenticator)
class AuthenticatorAdmin(admin.ModelAdmin):
    """Second factors without their secrets, which allauth's own page would show."""

    list_display = ("user", "type", "created_at", "last_used_at")
    list_filter = ("type",)
    search_fields = ("user__username", "user__email")
    fields = readonly_fields = list_display

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: people set up their own second factors."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Authenticator | None = None) -> bool:
        """Return False: staff can only remove a factor."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Authenticator | None = None) -> bool:
        """Return whether the user may remove factors, or this one; only superusers remove one of staff."""
        return super().has_delete_permission(request, obj) and (
            obj is None or may_give_access(request, obj.user)
        )


@admin.register(Run)
class RunAdmin(admin.ModelAdmin):
    """Runs of scheduled commands, read-only."""

    list_display = ("command", "began", "ended", "ok", "found", "summary")
    list_filter = ("command", "ok")

    def has_add_permission(self, _request: HttpRequest) -> bool:
        """Return False: the commands record their runs themselves."""
        return False

    def has_change_permission(self, _request: HttpRequest, _run: Run | None = None) -> bool:
        """Return False: a recorded run never changes."""
        return False

    def has_delete_permission(self, _request: HttpRequest, _run: Run | None = None) -> bool:
        """Return False: a newer run deletes the old ones."""
        return False
