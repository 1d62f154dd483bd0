"""A check of the whole deployment, before its users meet the problems."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config import doctor


class Command(BaseCommand):
    """manage.py doctor."""

    help = "Check settings, database, migrations and stored secrets; exit code 1 if something is wrong."
    requires_system_checks = ()  # doctor runs them itself, and prints everything at once

    def handle(self, *args: Any, **options: Any) -> None:
        problems = doctor.problems()
        if problems:
            raise CommandError("\n".join(problems))
        self.stdout.write("No problems.")
        if names := doctor.optional_scanners():
            self.stdout.write(f"Not installed, and not needed: the optional scanners {', '.join(names)}.")
