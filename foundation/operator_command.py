"""An operator's command: one result, printed as text or with --json, and errors that say what to do."""

import getpass
import json
import re
import sys
from argparse import ArgumentTypeError
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection
from django.views.decorators.debug import sensitive_variables

from foundation.hosts import InvalidHost, normalise_host

# For the connection of the command: an hour on SQLite, without limit on PostgreSQL.
_WAIT_FOR_WRITERS = {"sqlite": "PRAGMA busy_timeout = 3600000", "postgresql": "SET lock_timeout = 0"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of a command: ``text`` for people, ``fields`` for scripts.

    ``remark`` goes to standard error, where ``text`` is meant for a file or another command; a
    ``failure`` makes the exit code 1.
    """

    text: str
    fields: dict[str, Any] | list[dict[str, Any]]  # a list is printed as one object per line
    failure: str = ""
    remark: str = ""


class OperatorCommand(BaseCommand):
    """A command that performs one thing and prints its result as text, or as JSON for scripts."""

    def create_parser(self, *args: Any, **kwargs: Any) -> CommandParser:
        """Return the command's parser with the option --json, which every command has."""
        parser = super().create_parser(*args, **kwargs)
        parser.add_argument("--json", action="store_true", dest="as_json", help="print one JSON object")
        return parser

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the result of ``perform``; a model's ValidationError becomes the command's error.

        The command waits for other writers of the database, where a page would give up.
        """
        with connection.cursor() as cursor:
            cursor.execute(_WAIT_FOR_WRITERS[connection.vendor])
        try:
            result = self.perform(**options)
        except ValidationError as error:
            raise CommandError(_in_one_line(error)) from error
        except UnicodeEncodeError as error:
            raise CommandError("The arguments must be UTF-8 text.") from error
        self.stdout.write(_as_json(result) if options["as_json"] else result.text)
        if result.remark and not options["as_json"]:
            self.stderr.write(result.remark, style_func=str)
        if result.failure:
            raise CommandError(result.failure)

    def perform(self, *args: Any, **options: Any) -> Result:
        """Do the command's work completely, or raise an error and change nothing."""
        raise NotImplementedError


def host_of(text: str) -> str:
    """Return the host named ``text`` in its stored form; raise CommandError."""
    try:
        return normalise_host(text)
    except InvalidHost as error:
        raise CommandError(f"{text}: the host {error}.") from error


def web_address(text: str) -> str:
    """Return an argument that is an http or https address; raise ArgumentTypeError."""
    if not text.lower().startswith(("http://", "https://")):
        raise ArgumentTypeError(f"{text} does not start with http:// or https://")
    return text


def positive(text: str) -> int:
    """Return an argument that is a positive whole number; raise ArgumentTypeError."""
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise ArgumentTypeError(f"{text} is not a whole number from 1 to 999999999")
    return int(text)


@sensitive_variables()
def read_secret() -> str:
    """Return the secret on standard input, or one that the operator types; raise CommandError."""
    if sys.stdin.isatty():
        return getpass.getpass("Secret (not shown): ")
    try:
        return sys.stdin.read().rstrip("\r\n")
    except UnicodeDecodeError:
        # The original error contains the input, so it must not be chained.
        raise CommandError("The secret on standard input must be UTF-8 text.") from None


def _as_json(result: Result) -> str:
    objects = result.fields if isinstance(result.fields, list) else [result.fields]
    return "\n".join(json.dumps(fields, cls=DjangoJSONEncoder) for fields in objects)


def _in_one_line(error: ValidationError) -> str:
    """Return all messages of ``error``, each with its field."""
    if not hasattr(error, "error_dict"):
        return " ".join(error.messages)
    return " ".join(
        message if field == "__all__" else f"{field}: {message}"
        for field, messages in error.message_dict.items()
        for message in messages
    )
