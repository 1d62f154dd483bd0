"""Add a member to an account."""

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from foundation.operator_command import OperatorCommand, Result
from portal.management.lookup import find_account
from portal.models import Membership, MembershipChange
from portal.team.actions import record_change


class Command(OperatorCommand):
    """manage.py add_member acct_0001 ada@example.com --role owner."""

    help = "Make a person a member of an account, or give a member another role."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ref", metavar="REF", help="the account's reference")
        parser.add_argument("user", metavar="USER", help="the user name or e-mail address of a user")
        parser.add_argument("--role", choices=Membership.Role.values, help="the role; by default viewer")

    @transaction.atomic
    def perform(self, *, ref: str, user: str, role: str | None, **options: Any) -> Result:
        """Add the member; members keep their role unless a new one is given."""
        account = find_account(ref)
        person = _find_user(user)
        membership, is_new = Membership.objects.get_or_create(
            account=account, user=person, defaults={"role": role or Membership.Role.VIEWER}
        )
        has_other_role = bool(role) and membership.role != role
        if role and has_other_role:
            membership.role = role
            membership.save()
        if is_new or has_other_role:
            action = MembershipChange.Action.JOINED if is_new else MembershipChange.Action.ROLE
            record_change(account, action, person.get_username(), by=None, role=membership.role)
        text = f"{person} {'is now' if is_new or role else 'stays'} {membership.role} of {ref}."
        fields = {"account": ref, "user": str(person), "role": str(membership.role), "created": is_new}
        return Result(text=text, fields=fields)


def _find_user(text: str) -> User:
    """Return the user with this user name or e-mail address; raises CommandError."""
    users = get_user_model().objects
    matches = list(users.filter(username=text)) or list(users.filter(email__iexact=text))
    if not matches:
        raise CommandError(
            f"There is no user {text}: first add the user in the admin, "
            "or an administrator with 'manage.py createsuperuser'."
        )
    if len(matches) > 1:
        names = ", ".join(str(user) for user in matches)
        raise CommandError(f"Several users have the e-mail address {text}: give a user name ({names}).")
    return matches[0]
