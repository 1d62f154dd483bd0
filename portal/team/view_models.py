"""What the pages about members read."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from portal import labels
from portal.models.members import Invitation, Membership, MembershipChange
from portal.team.actions import is_last_owner
from portal.team.forms import InvitationForm, RoleForm

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
    """One's own place in an account."""

    pk: int
    account_pk: int
    account: str
    role: str
    meaning: str
    sees_members: bool
    is_last_owner: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRow:
    """A member, as an owner or a manager sees them."""

    pk: int
    name: str
    email: str
    role: str
    is_self: bool
    is_last_owner: bool
    form: RoleForm


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRow:
    """A sentence, and when it became true."""

    at: datetime
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountSection:
    """An account's members; ``form`` only for owners, ``changes`` newest first."""

    pk: int
    account: str
    members: tuple[MemberRow, ...]
    invitations: tuple[Invitation, ...]
    changes: tuple[ChangeRow, ...]
    form: InvitationForm | None


def membership_rows(user: AbstractBaseUser | AnonymousUser) -> tuple[MembershipRow, ...]:
    """What ``user`` is a member of."""
    return tuple(
        MembershipRow(
            pk=membership.pk,
            account_pk=membership.account_id,
            account=str(membership.account),
            role=labels.word(labels.ROLES, membership.role),
            meaning=str(labels.ROLE_MEANINGS[membership.role]),
            sees_members=membership.sees_members,
            is_last_owner=is_last_owner(membership),
        )
        for membership in Membership.objects.of(user).select_related("account")
    )


def account_sections(
    user: AbstractBaseUser | AnonymousUser, failed: InvitationForm | None = None
) -> tuple[AccountSection, ...]:
    """The accounts whose members ``user`` sees; ``failed`` is a form to show again in its account."""
    places = Membership.objects.of(user).select_related("account")
    return tuple(_section(place, failed) for place in places if place.sees_members)


def _section(place: Membership, failed: InvitationForm | None) -> AccountSection:
    account = place.account
    form = failed if failed and failed.account == account else InvitationForm(account=account)
    open_ones = account.invitations.open(at=timezone.now())
    members = list(account.memberships.select_related("user").order_by("user__username"))
    owners = sum(membership.is_owner for membership in members)
    return AccountSection(
        pk=account.pk,
        account=str(account),
        members=tuple(
            MemberRow(
                pk=membership.pk,
                name=membership.user.get_username(),
                email=membership.user.email,
                role=labels.word(labels.ROLES, membership.role),
                is_self=membership == place,
                is_last_owner=membership.is_owner and owners == 1,
                form=RoleForm({"role": membership.role}, auto_id=f"member-{membership.pk}-%s"),
            )
            for membership in members
        ),
        invitations=tuple(open_ones),
        changes=tuple(_change_row(change) for change in account.membership_changes.all()[:SHOWN_CHANGES]),
        form=form if place.is_owner else None,
    )


def _change_row(change: MembershipChange) -> ChangeRow:
    names = {
        "by": change.by or _("Support"),
        "person": change.person,
        "role": labels.word(labels.ROLES, change.role) if change.role else "",
    }
    return ChangeRow(at=change.at, text=str(SENTENCES[change.what]) % names)
