"""Changes to an account's team: each is recorded, and an account always keeps an owner."""

from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from audit.models import RETENTION
from audit.recording import Person
from audit.recording import record as audit
from foundation.addresses.mail_addresses import with_address
from portal.models import Account, Invitation, Membership, MembershipChange
from portal.team import emails
from portal.team.seats import UNLIMITED, Seats, check_may_invite, check_may_join

Action = MembershipChange.Action
INVITATION_LIFETIME = timedelta(days=7)
MAX_INVITATIONS_A_DAY = 20  # of an account, by owners


class LastOwner(Exception):
    """The account has no other owner."""


class TooManyInvitations(Exception):
    """The account has reached the number of invitations for a day."""


class InvitationClosed(Exception):
    """The invitation was accepted, withdrawn or replaced, or has expired."""


def record_change(
    account: Account, action: str, person: str, *, by: User | None, role: str = ""
) -> MembershipChange:
    """Record a change; without ``by``, an operator made it, and the admin's log has the name.

    The other owners get an e-mail about a new owner.
    """
    after = {"role": role} if role else None
    audit(f"member.{action}", Person(None, person), by=by, account=account.ref, after=after)
    change = MembershipChange.objects.create(
        account=account, action=action, person=person, role=role, by=by.get_username() if by else ""
    )
    if role == Membership.Role.OWNER and action in (Action.JOINED, Action.ROLE):
        transaction.on_commit(partial(emails.send_new_owner, change), robust=True)
    return change


def open_invitation(token: str) -> Invitation:
    """Return the open invitation with this ``token``; raises InvitationClosed."""
    invitations = Invitation.objects.with_token(token).open(at=timezone.now())
    invitation = invitations.select_related("account").first()
    if invitation is None:
        raise InvitationClosed
    return invitation


@transaction.atomic
def invite(
    account: Account,
    email: str,
    role: str,
    *,
    by: User | None,
    was_emailed: bool,
    seats: Seats = UNLIMITED,
) -> Invitation:
    """Create an invitation; it replaces earlier ones for the same address.

    Raises TooManyInvitations, NoSeat, PlanInactive, and DoesNotExist if ``by`` is no longer an owner.
    Operators invite without ``by`` and ``seats``, so these checks do not apply to them.
    """
    now = timezone.now()
    _lock_account(account.pk)
    _require_owner(account.pk, by)
    yesterday = now - timedelta(days=1)
    if by and account.invitations.filter(created_at__gt=yesterday).count() >= MAX_INVITATIONS_A_DAY:
        raise TooManyInvitations
    check_may_invite(account, email, seats)
    account.invitations.open(at=now).filter(email=email).update(closed_at=now)
    invitation = account.invitations.create(
        email=email,
        role=role,
        invited_by=by,
        was_emailed=was_emailed,
        created_at=now,
        expires_at=now + INVITATION_LIFETIME,
    )
    record_change(account, Action.INVITED, email, by=by, role=role)
    return invitation


@transaction.atomic
def withdraw(invitation: Invitation, *, by: User | None) -> None:
    """Withdraw the invitation; raises InvitationClosed."""
    _close(invitation)
    record_change(invitation.account, Action.WITHDRAWN, invitation.email, by=by)


@transaction.atomic
def accept(invitation: Invitation, user: User, *, seats: Seats = UNLIMITED) -> Membership:
    """Make ``user`` a member; members keep their role. Raises InvitationClosed and NoSeat.

    An invitation that a member accepts is closed as well. Its page has no form for members: an invitation to
    a member's own address ends with the membership.
    """
    account = _lock_account(invitation.account_id)
    if membership := account.memberships.filter(user=user).first():
        with suppress(InvitationClosed):  # the same form was sent twice at once
            _close(invitation)
        return membership
    check_may_join(account, seats)
    _close(invitation)
    record_change(account, Action.JOINED, user.get_username(), by=user, role=invitation.role)
    return account.memberships.create(user=user, role=invitation.role)


@transaction.atomic
def change_role(membership: Membership, role: str, *, by: User) -> None:
    """Change the member's role; raises LastOwner, and DoesNotExist if either person was just removed.

    Withdraws the open invitations from and to an owner who is demoted.
    """
    _lock_account(membership.account_id)
    _require_owner(membership.account_id, by)
    membership.refresh_from_db()
    if membership.role == role:
        return
    _require_other_owner(membership)
    if membership.is_owner:
        withdraw_invitations_of(membership, by=by)
    membership.role = role
    membership.save()
    record_change(membership.account, Action.ROLE, membership.user.get_username(), by=by, role=role)


@transaction.atomic
def remove(membership: Membership, *, by: User) -> None:
    """End a membership, as an owner or as the member; raises LastOwner and DoesNotExist."""
    _lock_account(membership.account_id)
    action = Action.LEFT if membership.user == by else Action.REMOVED
    if action == Action.REMOVED:
        _require_owner(membership.account_id, by)
    # Lock the row: a form that the member sends at the same moment waits, or its result is deleted as well.
    membership.refresh_from_db(from_queryset=Membership.objects.select_for_update())
    _require_other_owner(membership)
    withdraw_invitations_of(membership, by=by)
    record_change(membership.account, action, membership.user.get_username(), by=by)
    membership.delete()


@transaction.atomic
def withdraw_invitations_of(membership: Membership, *, by: User | None) -> None:
    """Withdraw the open invitations from and to this person: each could restore a role."""
    account = _lock_account(membership.account_id)
    from_or_to_person = Q(invited_by=membership.user_id) | with_address(membership.user.email)
    for invitation in account.invitations.open(at=timezone.now()).filter(from_or_to_person):
        withdraw(invitation, by=by)


def is_last_owner(membership: Membership) -> bool:
    """Return whether this member is the account's only owner who can sign in."""
    others = membership.account.memberships.owners().filter(user__is_active=True).exclude(pk=membership.pk)
    return membership.is_owner and not others.exists()


def delete_old(*, now: datetime) -> int:
    """Delete invitations and changes older than the audit retention; return the number of changes."""
    Invitation.objects.filter(expires_at__lt=now - RETENTION).delete()
    count, _ = MembershipChange.objects.filter(at__lt=now - RETENTION).delete()
    return count


def _lock_account(account_id: int) -> Account:
    """Lock the account, so that two owners cannot remove each other at the same time."""
    return Account.objects.select_for_update().get(pk=account_id)


def _require_owner(account_id: int, by: User | None) -> None:
    """Raise DoesNotExist if the person has lost the owner role since the page was opened."""
    if by is not None:
        Membership.objects.owners().get(account=account_id, user=by)  # raises it


def _require_other_owner(membership: Membership) -> None:
    if is_last_owner(membership):
        raise LastOwner


def _close(invitation: Invitation) -> None:
    now = timezone.now()
    if not Invitation.objects.open(at=now).filter(pk=invitation.pk).update(closed_at=now):
        raise InvitationClosed
