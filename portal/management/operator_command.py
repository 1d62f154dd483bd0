"""What the portal's commands share: finding what they name, and one answer in two forms."""

import json
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from portal.models import Account

_WAIT_FOR_WRITERS = {"sqlite": "PRAGMA busy_timeout = 3600000", "postgresql": "SET lock_timeout = 0"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What happened: ``text`` for people, ``fields`` for scripts; ``failure`` makes the exit code 1."""

    text: str
    fields: dict[str, Any]
    failure: str = ""


class OperatorCommand(BaseCommand):
    """Performs one thing; prints its answer as text, or with --json as one object."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Every command can answer scripts."""
        parser.add_argument("--json", action="store_true", dest="as_json", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print what ``perform`` answers; what a model refuses is the command's error.

        Who runs a command would rather wait for another writer than be refused.
        """
        with connection.cursor() as cursor:
            cursor.execute(_WAIT_FOR_WRITERS[connection.vendor])
        try:
            answer = self.perform(**options)
        except ValidationError as error:
            raise CommandError(_refusal(error)) from error
        except UnicodeEncodeError as error:
            raise CommandError("The arguments must be UTF-8 text.") from error
        self.stdout.write(json.dumps(answer.fields) if options["as_json"] else answer.text)
        if answer.failure:
            raise CommandError(answer.failure)

    def perform(self, *args: Any, **options: Any) -> Answer:
        """Do it, whole or not at all."""
        raise NotImplementedError


def find_account(ref: str) -> Account:
    """The portal's account of this reference; raises CommandError."""
    account = Account.objects.filter(ref=ref).first()
    if account is None:
        raise CommandError(
            f"The portal does not know the account {ref}: first run 'manage.py connect_account {ref}'."
        )
    return account


def _refusal(error: ValidationError) -> str:
    """All of its messages, each with the field it is about."""
    if not hasattr(error, "error_dict"):
        return " ".join(error.messages)
    return " ".join(
        message if field == "__all__" else f"{field}: {message}"
        for field, messages in error.message_dict.items()
        for message in messages
    )
