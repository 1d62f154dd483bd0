"""View models of the team's pages."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from portal.models import Invitation, Membership, MembershipChange
from portal.team.actions import is_last_owner
from portal.team.forms import InvitationForm, RoleForm
from portal.texts import labels

SHOWN_CHANGES = 20
SENTENCES = {
    "invited": _("%(by)s invited %(person)s as %(role)s"),
    "withdrawn": _("%(by)s withdrew the invitation of %(person)s"),
    "joined": _("%(person)s joined as %(role)s"),
    "role": _("%(by)s made %(person)s %(role)s"),
    "removed": _("%(by)s removed %(person)s"),
    "left": _("%(person)s left"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipRow:
    """The person's own membership of an account."""

    pk: int
    account_pk: int
    account: str
    role: str
    meaning: str
    can_see_members: bool
    is_last_owner: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRow:
    """A member, as owners and managers see them."""

    pk: int
    name: str
    email: str
    role: str
    is_self: bool
    is_last_owner: bool
    form: RoleForm


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRow:
    """A change to the team as a sentence, and its time."""

    at: datetime
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountSection:
    """An account's team; only owners get a ``form``, and ``changes`` are newest first."""

    pk: int
    account: str
    members: tuple[MemberRow, ...]
    invitations: tuple[Invitation, ...]
    changes: tuple[ChangeRow, ...]
    form: InvitationForm | None


def membership_rows(user: AbstractBaseUser | AnonymousUser) -> tuple[MembershipRow, ...]:
    """Return the memberships of ``user``."""
    return tuple(
        MembershipRow(
            pk=membership.pk,
            account_pk=membership.account_id,
            account=str(membership.account),
            role=labels.label(labels.ROLES, membership.role),
            meaning=str(labels.ROLE_MEANINGS[membership.role]),
            can_see_members=membership.can_see_members,
            is_last_owner=is_last_owner(membership),
        )
        for membership in Membership.objects.of_user(user).select_related("account")
    )


def account_sections(
    user: AbstractBaseUser | AnonymousUser, invalid_form: InvitationForm | None = None
) -> tuple[AccountSection, ...]:
    """Return the teams that ``user`` may see; ``invalid_form`` is shown again in its account."""
    memberships = Membership.objects.of_user(user).select_related("account")
    return tuple(_section(own, invalid_form) for own in memberships if own.can_see_members)


def _section(own: Membership, invalid_form: InvitationForm | None) -> AccountSection:
    account = own.account
    is_same = invalid_form and invalid_form.account == account
    form = invalid_form if is_same else InvitationForm(account=account)
    open_invitations = account.invitations.open(at=timezone.now())
    members = list(account.memberships.select_related("user").order_by("user__username"))
    owners = {membership.pk for membership in members if membership.is_owner and membership.user.is_active}
    return AccountSection(
        pk=account.pk,
        account=str(account),
        members=tuple(
            MemberRow(
                pk=membership.pk,
                name=membership.user.get_username(),
                email=membership.user.email,
                role=labels.label(labels.ROLES, membership.role),
                is_self=membership == own,
                is_last_owner=membership.is_owner and not owners - {membership.pk},
                form=RoleForm({"role": membership.role}, auto_id=f"member-{membership.pk}-%s"),
            )
            for membership in members
        ),
        invitations=tuple(open_invitations),
        changes=tuple(_change_row(change) for change in account.membership_changes.all()[:SHOWN_CHANGES]),
        form=form if own.is_owner else None,
    )


def _change_row(change: MembershipChange) -> ChangeRow:
    names = {
        "by": change.by or _("Support"),
        "person": change.person,
        "role": labels.label(labels.ROLES, change.role) if change.role else "",
    }
    return ChangeRow(at=change.at, text=str(SENTENCES[change.action]) % names)
