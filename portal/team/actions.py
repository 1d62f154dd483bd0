"""What can be done about an account's members; all of it is recorded, and an account keeps an owner."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from portal.models import Account
from portal.models.members import Invitation, Membership, MembershipChange

What = MembershipChange.What
INVITATION_LIFETIME = timedelta(days=7)


class LastOwner(Exception):
    """Without this person nobody could decide about the account's members."""


class NoLongerOpen(Exception):
    """The invitation was accepted, withdrawn or replaced, or has expired."""


def record(account: Account, what: str, person: str, *, by: User | None, role: str = "") -> MembershipChange:
    """Write down what was done; ``by`` is None for operators, whom the admin's own log names."""
    return MembershipChange.objects.create(
        account=account, what=what, person=person, role=role, by=by.get_username() if by else ""
    )


def open_invitation(token: str) -> Invitation:
    """The one that a link with ``token`` leads to; raises NoLongerOpen for any that leads nowhere."""
    found = Invitation.objects.of_token(token).open(at=timezone.now()).select_related("account").first()
    if found is None:
        raise NoLongerOpen
    return found


@transaction.atomic
def invite(account: Account, email: str, role: str, *, by: User, was_mailed: bool) -> Invitation:
    """An invitation in place of any earlier one for the same address."""
    now = timezone.now()
    account.invitations.open(at=now).filter(email=email).update(closed_at=now)
    invitation = account.invitations.create(
        email=email, role=role, was_mailed=was_mailed, created_at=now, expires_at=now + INVITATION_LIFETIME
    )
    record(account, What.INVITED, email, by=by, role=role)
    return invitation


@transaction.atomic
def withdraw(invitation: Invitation, *, by: User) -> None:
    """Its link no longer works; raises NoLongerOpen."""
    _close(invitation)
    record(invitation.account, What.WITHDRAWN, invitation.email, by=by)


@transaction.atomic
def accept(invitation: Invitation, user: User) -> Membership:
    """Make ``user`` a member; who is one already stays what they are. Raises NoLongerOpen."""
    account = _wait_for_turn(invitation.account_id)
    if membership := account.memberships.filter(user=user).first():
        return membership
    _close(invitation)
    record(account, What.JOINED, user.get_username(), by=user, role=invitation.role)
    return account.memberships.create(user=user, role=invitation.role)


@transaction.atomic
def change_role(membership: Membership, role: str, *, by: User) -> None:
    """Raises LastOwner, and DoesNotExist when somebody else was quicker to remove the member."""
    _wait_for_turn(membership.account_id)
    membership.refresh_from_db()
    if membership.role == role:
        return
    _keep_an_owner(membership)
    membership.role = role
    membership.save()
    record(membership.account, What.ROLE, membership.user.get_username(), by=by, role=role)


@transaction.atomic
def remove(membership: Membership, *, by: User) -> None:
    """End it, be it by an owner or by the member; raises LastOwner and DoesNotExist."""
    _wait_for_turn(membership.account_id)
    membership.refresh_from_db()
    _keep_an_owner(membership)
    what = What.LEFT if membership.user == by else What.REMOVED
    record(membership.account, what, membership.user.get_username(), by=by)
    membership.delete()


def is_last_owner(membership: Membership) -> bool:
    """Whether the account has no other."""
    others = membership.account.memberships.owners().exclude(pk=membership.pk)
    return membership.is_owner and not others.exists()


def _wait_for_turn(account_id: int) -> Account:
    """Changes of one account wait for each other, so that two owners cannot remove one another."""
    return Account.objects.select_for_update().get(pk=account_id)


def _keep_an_owner(membership: Membership) -> None:
    if is_last_owner(membership):
        raise LastOwner


def _close(invitation: Invitation) -> None:
    now = timezone.now()
    if not Invitation.objects.open(at=now).filter(pk=invitation.pk).update(closed_at=now):
        raise NoLongerOpen
