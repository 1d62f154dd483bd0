"""Forget a person: delete the user, and every name and address of them on record."""

from contextlib import suppress
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.db.models import Q

from config.forgetting.people import forget_people, named, names_of
from foundation.mail_addresses import mail_address
from foundation.operator_command import OperatorCommand, Result

_WORDS = {"users": "users: {}", "invitations": "invitations: {}", "records": "names in records: {}"}


class Command(OperatorCommand):
    """manage.py forget_person ada@example.com."""

    help = (
        "Delete the user with this e-mail address or user name, their sessions, memberships and invitations, "
        "and their name and addresses in the audit and in the log of the admin. The audit events stay, "
        "without a name, and so do their seals. Decisions and notes keep their author, and texts the names "
        "that someone wrote into them."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("person", metavar="EMAIL", help="the e-mail address, or the user name")

    def perform(self, *, person: str, **options: Any) -> Result:
        """Delete and rename in one transaction; raise CommandError for the last owner of an account."""
        spellings = {person}
        with suppress(ValidationError):  # a user name
            spellings.add(mail_address(person))
        users = list(User.objects.filter(named(spellings, "email") | Q(username__iexact=person)))
        if settings.ENABLE_PORTAL:
            _end_memberships(users)
        counts = asdict(forget_people(users, spellings | names_of(users)))
        done = ", ".join(_WORDS[name].format(number) for name, number in counts.items() if number)
        text = f"Forgotten: {done}." if done else "There is no such person on record."
        return Result(text=text, fields={"changed": bool(done), **counts})


def _end_memberships(users: list[User]) -> None:
    """Withdraw the invitations that these people sent; raise CommandError for an account's last owner."""
    from portal.models import Membership
    from portal.team.actions import is_last_owner, withdraw_invitations_of

    for membership in Membership.objects.filter(user__in=users).select_related("account"):
        if is_last_owner(membership):
            raise CommandError(
                f"The person is the last owner of {membership.account.ref}: make another member an owner "
                f"first, or delete the account with 'manage.py forget_account {membership.account.ref}'."
            )
        withdraw_invitations_of(membership, by=None)
