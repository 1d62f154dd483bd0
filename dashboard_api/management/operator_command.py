"""What the operators' commands share: finding what they name, and one answer in two forms."""

import json
import re
from argparse import ArgumentTypeError
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection

from dashboard_api.engines import engine_of
from dashboard_api.models import Account, Secret, SiteLink, Website
from foundation.hosts import InvalidHost, normalise_host

COMMAND_LINE = "command line"  # who did it, when nobody gave a name


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The outcome of a command: ``text`` for people, ``fields`` for scripts; a ``failure`` is exit code 1.

    ``remark`` goes to standard error, where ``text`` is meant for a file or for another command.
    """

    text: str
    fields: dict[str, Any] | list[dict[str, Any]]  # of several, an object a line
    failure: str = ""
    remark: str = ""


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
            cursor.execute(engine_of(connection).WAIT_FOR_WRITERS)
        try:
            answer = self.perform(**options)
        except ValidationError as error:
            raise CommandError(_refusal(error)) from error
        except UnicodeEncodeError as error:
            raise CommandError("The arguments must be UTF-8 text.") from error
        objects = answer.fields if isinstance(answer.fields, list) else [answer.fields]
        lines = [json.dumps(each, cls=DjangoJSONEncoder) for each in objects]
        self.stdout.write("\n".join(lines) if options["as_json"] else answer.text)
        if answer.remark and not options["as_json"]:
            self.stderr.write(answer.remark, style_func=str)
        if answer.failure:
            raise CommandError(answer.failure)

    def perform(self, *args: Any, **options: Any) -> Answer:
        """Do it, whole or not at all."""
        raise NotImplementedError


def find_account(ref: str) -> Account:
    """The account of this reference; raises CommandError."""
    account = Account.objects.filter(ref=ref).first()
    if account is None:
        raise CommandError(f"There is no account {ref}: first run 'manage.py create_account {ref}'.")
    return account


def find_secret(ref: str, number: int) -> Secret:
    """The account's secret of this number; raises CommandError."""
    account = find_account(ref)
    secret = account.secrets.filter(pk=number).first()
    if secret is None:
        known = ", ".join(f"{row.pk} ({row.hint}, {row.state})" for row in account.secrets.all())
        raise CommandError(f"{ref} has no secret {number}; it has: {known or 'none'}.")
    return secret


def find_link(link_id: str) -> SiteLink:
    """The link of this id; raises CommandError."""
    link = SiteLink.objects.select_related("account", "website").filter(link_id=link_id.lower()).first()
    if link is None:
        raise CommandError(f"There is no link {link_id}: copy its id from the admin's list of site links.")
    return link


def find_website(text: str) -> Website:
    """The website of this host; raises CommandError."""
    host = host_of(text)
    website = Website.objects.filter(host=host).first()
    if website is None:
        raise CommandError(f"There is no website {host}: first run 'manage.py verify_site {host} --by NAME'.")
    return website


def host_of(text: str) -> str:
    """``text`` in the stored form; raises CommandError."""
    try:
        return normalise_host(text)
    except InvalidHost as error:
        raise CommandError(f"{text}: the host {error}.") from error


def web_address(text: str) -> str:
    """An argument that is an address of the web."""
    if not text.lower().startswith(("http://", "https://")):
        raise ArgumentTypeError(f"{text} does not start with http:// or https://")
    return text


def positive(text: str) -> int:
    """An argument that counts something."""
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise ArgumentTypeError(f"{text} is not a whole number from 1 to 999999999")
    return int(text)


def _refusal(error: ValidationError) -> str:
    """All of its messages, each with the field it is about."""
    if not hasattr(error, "error_dict"):
        return " ".join(error.messages)
    return " ".join(
        message if field == "__all__" else f"{field}: {message}"
        for field, messages in error.message_dict.items()
        for message in messages
    )
