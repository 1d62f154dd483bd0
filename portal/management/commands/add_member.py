"""Let a person see an account's websites."""

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from foundation.operator_command import OperatorCommand, Result
from portal.management.lookup import find_account
from portal.models.members import Membership, MembershipChange
from portal.team.actions import record


class Command(OperatorCommand):
    """manage.py add_member acct_0001 ada@example.com --role owner."""

    help = "Make a person a member of an account, or give a member another role."

    def add_arguments(self, parser: CommandParser) -> None:
        """The account, the person and the role."""
        super().add_arguments(parser)
        parser.add_argument("ref", metavar="REF", help="the account's reference")
        parser.add_argument("user", metavar="USER", help="username or e-mail of somebody who can sign in")
        parser.add_argument("--role", choices=Membership.Role.values, help="viewer unless told otherwise")

    @transaction.atomic
    def perform(self, *, ref: str, user: str, role: str | None, **options: Any) -> Result:
        """A member stays what they are unless a role is given."""
        account = find_account(ref)
        person = _find_user(user)
        membership, is_new = Membership.objects.get_or_create(
            account=account, user=person, defaults={"role": role or Membership.Role.VIEWER}
        )
        is_other = bool(role) and membership.role != role
        if role and is_other:
            membership.role = role
            membership.save()
        if is_new or is_other:
            what = MembershipChange.What.JOINED if is_new else MembershipChange.What.ROLE
            record(account, what, person.get_username(), by=None, role=membership.role)
        text = f"{person} {'is now' if is_new or role else 'stays'} {membership.role} of {ref}."
        fields = {"account": ref, "user": str(person), "role": str(membership.role), "created": is_new}
        return Result(text=text, fields=fields)


def _find_user(text: str) -> User:
    """The one person of this username, or else of this e-mail; raises CommandError."""
    people = get_user_model().objects
    found = list(people.filter(username=text)) or list(people.filter(email__iexact=text))
    if not found:
        raise CommandError(
            f"Nobody is called {text}: first make the user in the admin, "
            "or an administrator with 'manage.py createsuperuser'."
        )
    if len(found) > 1:
        names = ", ".join(str(person) for person in found)
        raise CommandError(f"{text} is the e-mail of several people: say which by username ({names}).")
    return found[0]
