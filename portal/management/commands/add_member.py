"""Add a member to an account."""

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from foundation.operator_command import OnRecord, OperatorCommand, Result
from portal.management.lookup import find_account
from portal.models import Account, Membership, MembershipChange
from portal.team import operators, seats
from portal.team.actions import is_last_owner, record_change, withdraw_invitations_of

Added = tuple[str, dict[str, Any]]  # the text and the fields of a result
LOCAL_ORIGIN = "http://localhost:8000"  # PORTAL_BASE_URL is required everywhere else


class Command(OperatorCommand):
    """manage.py add_member acct_0001 ada@example.com --role owner."""

    help = "Make a person a member of an account, give a member another role, or invite a person by e-mail."
    on_record = OnRecord(by="who invites; in the e-mail", default_by="Our team")

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ref", metavar="REF", help="the account's reference")
        parser.add_argument("user", metavar="USER", help="the user name or e-mail address of a user")
        parser.add_argument(
            "--invite",
            action="store_true",
            help="invite this e-mail address if it has no user; without a mail server, the link is printed",
        )
        parser.add_argument("--role", choices=Membership.Role.values, help="the role; by default viewer")

    def perform(self, *, ref: str, **options: Any) -> Result:
        """Add or invite the member, and warn if the plan includes fewer."""
        account = find_account(ref)
        with transaction.atomic():
            text, fields = self._add(account, **options)
        if fields["changed"] and (warning := seats.warning(account)):
            text, fields = f"{text}\n{warning}", fields | {"warning": warning}
        return Result(text=text, fields=fields)

    def _add(
        self, account: Account, *, user: str, role: str | None, invite: bool, by: str, **options: Any
    ) -> Added:
        """Add or invite the member; members keep their role unless a new one is given."""
        ref = account.ref
        if invite and not _users(user):
            return _invited(account, user, role or Membership.Role.VIEWER, by=by)
        person = _find_user(user)
        membership, is_new = Membership.objects.get_or_create(
            account=account, user=person, defaults={"role": role or Membership.Role.VIEWER}
        )
        has_other_role = bool(role) and membership.role != role
        if role and has_other_role:
            if membership.is_owner:
                withdraw_invitations_of(membership, by=None)  # locks the account
                if is_last_owner(membership):
                    raise CommandError(
                        f"{person} is the last owner of {ref} who can sign in: make another member an owner "
                        "first."
                    )
            membership.role = role
            membership.save()
        if is_new or has_other_role:
            action = MembershipChange.Action.JOINED if is_new else MembershipChange.Action.ROLE
            record_change(account, action, person.get_username(), by=None, role=membership.role)
        text = f"{person} {'is now' if is_new or role else 'stays'} {membership.role} of {ref}."
        fields = {
            "changed": is_new or has_other_role,
            "account": ref,
            "user": str(person),
            "role": str(membership.role),
            "created": is_new,
        }
        return text, fields


def _invited(account: Account, email: str, role: str, *, by: str) -> Added:
    """Invite the address, and return the result; an open invitation stays as it is."""
    invited = operators.invite(account, email, role, by=by, origin=LOCAL_ORIGIN)
    if invited is None:  # its address became a member's meanwhile
        raise CommandError(f"{email} is a member of {account.ref} already.")
    text = (
        f"{'Invited' if invited.is_new else 'There is an invitation of'} {email} as {role} of {account.ref}."
    )
    if invited.link:
        text += f"\nPass this link on, which works once: {invited.link}"
    fields = {
        "changed": invited.is_new,
        "account": account.ref,
        "email": invited.invitation.email,
        "role": role,
        "invitation_link": invited.link or None,
    }
    return text, fields


def _users(text: str) -> list[User]:
    """Return the users with this user name, or else with this e-mail address."""
    users = get_user_model().objects
    return list(users.filter(username=text)) or list(users.filter(email__iexact=text))


def _find_user(text: str) -> User:
    """Return the user with this user name or e-mail address; raises CommandError."""
    matches = _users(text)
    if not matches:
        raise CommandError(
            f"There is no user {text}: invite an e-mail address with --invite, add the user in the admin, "
            "or an administrator with 'manage.py createsuperuser'."
        )
    if len(matches) > 1:
        names = ", ".join(str(user) for user in matches)
        raise CommandError(f"Several users have the e-mail address {text}: give a user name ({names}).")
    return matches[0]
