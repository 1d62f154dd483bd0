"""An operator's command: one result, printed as text or with --json, and errors that say what to do.

With --json, standard output is always JSON: an error is {"error": MESSAGE}, with an exit code other than 0.
"""

import getpass
import json
import re
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, ClassVar, NoReturn

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.serializers.json import DjangoJSONEncoder
from django.db import DatabaseError, connection, transaction
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from audit.models import AuditEvent
from audit.recording import Acting, Person, Subject, acting, record
from foundation.addresses.hosts import InvalidHost, typed_host
from foundation.operations.heartbeats import Beat, command_ended, summary_of
from foundation.operations.request_ids import begin_request, restored_request
from foundation.operations.storage import is_storage_fault

# For the connection of the command: an hour on SQLite, without limit on PostgreSQL.
_WAIT_FOR_WRITERS = {"sqlite": "PRAGMA busy_timeout = 3600000", "postgresql": "SET lock_timeout = 0"}


COMMAND_LINE = "command line"  # recorded as the actor if no name is given
_MAX_NAME_LENGTH = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """The options --by and --reason: their help texts, and whether the command requires them."""

    by_help: str = "who does it; recorded"
    reason_help: str = "why; recorded"
    requires_by: bool = False
    requires_reason: bool = False
    default_by: str = COMMAND_LINE  # what perform() gets as ``by`` if the option is not given


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of a command: ``text`` for people, ``json_output`` for scripts (--json).

    ``stderr_text`` is for people only: ``text`` may be piped into a file or a command. A ``failure`` is
    an error message, printed last; the exit code is then 1. ``found`` is the number of things that need a
    person, if the command counts them.
    """

    text: str
    json_output: dict[str, Any] | list[dict[str, Any]]  # a list is printed as one object per line
    failure: str = ""
    lacks_settings: bool = False  # for a part of its work: then it sends no heartbeat
    stderr_text: str = ""
    found: int | None = None


class OperatorCommand(BaseCommand):
    """A command that performs one thing and prints its result as text, or as JSON for scripts.

    ``interval`` is how often cron runs the command: each run sends a heartbeat, also if it fails, unless the
    command lacks settings.

    A command and its audit event are one transaction. A command that begins and commits its own transactions
    sets ``in_one_transaction`` to False. ``no_event_because`` is the reason why a command writes no event of
    its own: it only reads, or each of its changes has an event. ``audit_options`` describes --by and
    --reason; it is None for a command without these options.
    """

    interval: ClassVar[timedelta | None] = None
    in_one_transaction = True
    no_event_because = ""
    audit_options: ClassVar[AuditOptions | None] = AuditOptions()

    def create_parser(self, *args: Any, **kwargs: Any) -> CommandParser:
        """Return the command's parser with the options that every command has: --by, --reason and --json."""
        parser = super().create_parser(*args, **kwargs)
        if asked := self.audit_options:
            parser.add_argument(
                "--by", required=asked.requires_by, metavar="NAME", type=_person_name, help=asked.by_help
            )
            parser.add_argument(
                "--reason", default="", required=asked.requires_reason, help=asked.reason_help
            )
        parser.add_argument(
            "--json", action="store_true", dest="as_json", help="print JSON, one object per line"
        )
        parser.error = partial(self._usage_error, parser, parser.error)  # type: ignore[method-assign]
        return parser

    def _usage_error(
        self, parser: CommandParser, refuse: Callable[[str], NoReturn], message: str
    ) -> NoReturn:
        """Print a usage error, also as JSON if --json is among the arguments."""
        if getattr(parser, "called_from_command_line", False) and "--json" in sys.argv:
            self.stdout.write(json.dumps(self.json_error(message)))
        refuse(message)

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the result of ``perform``; a model's ValidationError becomes the command's error.

        The command waits for other writers of the database; a page would give up.
        """
        try:
            wait_for_writers()
            with restored_request(), self._heartbeat(**options) as results:  # another command may call it
                begin_request()
                results.append(self._print_result(**options))
        except DatabaseError as error:
            if not is_storage_fault(error):
                raise
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
            text = f"The database cannot be used: {reason}. 'manage.py doctor' says more."
            if options["as_json"]:
                self.stdout.write(json.dumps(self.json_error(text, **options)))
            raise CommandError(text) from error

    @contextmanager
    def _heartbeat(self, **options: Any) -> Iterator[list[Result]]:
        """Send a heartbeat after the run of a cron command, with the result that the caller appends."""
        began = timezone.now()
        results: list[Result] = []
        send = partial(self._send_heartbeat, began) if self.interval and not options.get("dry_run") else None
        try:
            yield results
        except Exception as error:
            if send:  # the texts of other errors may contain values
                send(str(error) if isinstance(error, CommandError) else type(error).__name__, ok=False)
            raise
        if send and not results[-1].lacks_settings:
            send(results[-1].text, ok=True, found=results[-1].found)

    def _send_heartbeat(self, began: datetime, text: str, *, ok: bool, found: int | None = None) -> None:
        beat = Beat(
            command=type(self).__module__.rpartition(".")[2],
            interval=self.interval or timedelta(),
            began=began,
            ended=timezone.now(),
            ok=ok,
            summary=summary_of(text),
            found=found,
        )
        command_ended.send(type(self), beat=beat)

    def _print_result(self, **options: Any) -> Result:
        """Print the result of ``perform``, or its error with --json; return the result."""
        try:
            result = self._perform_on_record(**options)
        except CommandError as error:
            if options["as_json"]:
                self.stdout.write(json.dumps(self.json_error(str(error), **options)))
            raise
        text = result.text
        if options["as_json"]:
            output = result.json_output
            objects = output if isinstance(output, list) else [output]
            text = "\n".join(json.dumps(each, cls=DjangoJSONEncoder) for each in objects)
        self.stdout.write(text)
        if result.stderr_text and not options["as_json"]:
            self.stderr.write(result.stderr_text, style_func=str)  # not in the red of errors
        if result.failure:
            raise CommandError(result.failure)
        return result

    def json_error(self, message: str, **options: Any) -> dict[str, Any]:
        """Return what --json prints for an error; the message also goes to standard error."""
        return {"error": message}

    def _perform_on_record(self, **options: Any) -> Result:
        """Perform the command as the person of --by, and record an event if it changed something."""
        by = options.get("by") or ""
        acts = Acting(
            kind=AuditEvent.Kind.COMMAND,
            person=lambda: Person(None, by) if by else None,
            reason=options.get("reason") or "",
        )
        one_transaction = self.in_one_transaction and not self.no_event_because
        if self.audit_options and options.get("by") is None:
            options["by"] = self.audit_options.default_by
        with acting(acts), transaction.atomic() if one_transaction else nullcontext():
            result = self._perform_or_refuse(**options)
            if not self.no_event_because:
                self._record(result, acts, options)
            return result

    def _record(self, result: Result, acts: Acting, options: dict[str, Any]) -> None:
        """Record the command with the numbers of its result; texts may be secrets or names."""
        output = result.json_output if isinstance(result.json_output, dict) else {}
        numbers = {name: value for name, value in output.items() if isinstance(value, int)}
        has_changed = output.get("changed", any(numbers.values()))
        if acts.recorded or options.get("dry_run") or not has_changed:  # recorded: by the functions it called
            return
        name = type(self).__module__.rpartition(".")[2]
        record(
            f"command.{name}",
            Subject("command", name),
            account=str(output.get("account") or options.get("ref") or ""),
            host=str(output.get("host") or ""),
            after=numbers,
        )

    def _perform_or_refuse(self, **options: Any) -> Result:
        try:
            return self.perform(**options)
        except ValidationError as error:
            raise CommandError(_messages_of(error)) from error
        except UnicodeEncodeError as error:
            raise CommandError("The arguments must be UTF-8 text.") from error

    def perform(self, *args: Any, **options: Any) -> Result:
        """Do the command's work completely, or raise an error and leave everything unchanged."""
        raise NotImplementedError


def wait_for_writers() -> None:
    """Make this thread's connection wait for other writers of the database; a page would give up."""
    with connection.cursor() as cursor:
        cursor.execute(_WAIT_FOR_WRITERS[connection.vendor])


def host_of(text: str) -> str:
    """Return the host named ``text`` in its stored form; raise CommandError."""
    try:
        return typed_host(text)
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


def row_number(text: str) -> int:
    """Return an argument that is the number of a row; raise ArgumentTypeError."""
    if not re.fullmatch(r"[1-9][0-9]{0,17}", text):  # after a restore, ids have 16 digits
        raise ArgumentTypeError(f"{text} is not the number of a row")
    return int(text)


def _person_name(text: str) -> str:
    """Return the argument of --by; raise ArgumentTypeError for one that a row cannot store."""
    if len(text) > _MAX_NAME_LENGTH:
        raise ArgumentTypeError(f"a name has at most {_MAX_NAME_LENGTH} characters")
    return text


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


def _messages_of(error: ValidationError) -> str:
    """Return all messages of ``error`` on one line, each with its field."""
    if not hasattr(error, "error_dict"):
        return " ".join(error.messages)
    return " ".join(
        message if field == "__all__" else f"{field}: {message}"
        for field, messages in error.message_dict.items()
        for message in messages
    )
