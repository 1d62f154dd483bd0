"""Check the whole deployment, before its users meet the problems."""

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.operations import doctor


class Command(BaseCommand):
    """manage.py doctor."""

    help = "Check settings, database, migrations and stored secrets; exit code 1 if something is wrong."
    requires_system_checks = ()  # doctor runs them itself, and prints everything at once

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        problems = doctor.problems()
        if options["as_json"]:
            self.stdout.write(json.dumps({"problems": problems}))
            sys.exit(bool(problems))
        if problems:
            raise CommandError("\n".join(problems))
        self.stdout.write("No problems.")
