"""Forget a person: delete the user, and the names and addresses of the person in every record."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.db.models import Q

from config.operations.forgetting.asking import ask_for
from config.operations.forgetting.people import forget_people, has_name, names_of
from foundation.addresses.mail_addresses import mail_address
from foundation.operations.operator_command import OperatorCommand, Result

_TEXTS = {"users": "users: {}", "invitations": "invitations: {}", "records": "names in records: {}"}


class Command(OperatorCommand):
    """manage.py forget_person ada@example.com."""

    help = (
        "Delete the user with this e-mail address or user name, their sessions, memberships and invitations, "
        "and their name and addresses in the audit and in the log of the admin. The audit events stay, "
        "without a name, and so do their seals. Decisions and notes keep their author, and texts the names "
        "that someone wrote into them. It shows who the person is, and asks for the same text again unless "
        "--yes is given. It refuses the last owner of an account, and the last superuser."
    )
    in_one_transaction = False  # nothing is locked while the operator reads

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("person", metavar="EMAIL", help="the e-mail address, or the user name")
        parser.add_argument("--yes", action="store_true", help="delete without asking")

    def perform(self, *, person: str, yes: bool, **options: Any) -> Result:
        """Show the person, ask, and delete them in one transaction."""
        person = person.strip()
        if not person:  # would match every user without an e-mail address
            raise CommandError("Give the e-mail address or the user name: the text is empty.")
        spellings = {person}
        with suppress(ValidationError):  # a user name
            spellings.add(mail_address(person))
        found = User.objects.filter(has_name(spellings, "email") | Q(username__iexact=person)).order_by("pk")
        _refuse_the_last(found)
        self.stderr.write("\n".join(_lines(person, found)), style_func=str)
        if not yes:
            ask_for(person, name=person)
        with transaction.atomic():
            users = list(found.all())  # others may have changed them while the operator read
            _refuse_the_last(users)
            if settings.ENABLE_PORTAL:
                _withdraw_invitations(users)
            counts = asdict(forget_people(users, spellings | names_of(users)))
        done = ", ".join(_TEXTS[name].format(number) for name, number in counts.items() if number)
        text = f"Forgotten: {done}." if done else "There is no such person on record."
        return Result(text=text, json_output={"changed": bool(done), **counts})


def _lines(person: str, users: Iterable[User]) -> Iterator[str]:
    """Yield who will be forgotten, a line for each user."""
    yield f"This forgets {person} for good, in all records:"
    if not users:
        yield "  no user: only names and addresses on record, if any"
    for user in users:
        kind = "superuser" if user.is_superuser else "staff" if user.is_staff else ""
        state = "" if user.is_active else "cannot sign in"
        roles = [f"{row.role} of {row.account.ref}" for row in _memberships([user])]
        facts = ", ".join(filter(None, [kind, state, *roles])) or "in no account"
        yield f"  the user {user.username} ({user.email or 'no address'}): {facts}"


def _memberships(users: Iterable[User]) -> Iterable[Any]:
    if not settings.ENABLE_PORTAL:
        return []
    from portal.models import Membership

    return Membership.objects.filter(user__in=users).select_related("account").order_by("account__ref")


def _refuse_the_last(users: Iterable[User]) -> None:
    """Raise CommandError for the last superuser, and for the last owner of an account."""
    others = set(User.objects.filter(is_superuser=True, is_active=True)) - set(users)
    if not others and any(user.is_superuser and user.is_active for user in users):
        raise CommandError(
            "The person is the last superuser who can sign in: first add another with 'manage.py "
            "createsuperuser'."
        )
    for membership in _memberships(users):
        from portal.team.actions import is_last_owner

        if is_last_owner(membership):
            raise CommandError(
                f"The person is the last owner of {membership.account.ref}: make another member an owner "
                f"first, or delete the account with 'manage.py forget_account {membership.account.ref}'."
            )


def _withdraw_invitations(users: Iterable[User]) -> None:
    """Withdraw the open invitations from and to these people."""
    from portal.team.actions import withdraw_invitations_of

    for membership in _memberships(users):
        withdraw_invitations_of(membership, by=None)
