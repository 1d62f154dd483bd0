"""Re-encryption of every stored secret with the newest master key, after which older keys can be removed."""

from typing import Any

from cryptography.fernet import InvalidToken
from django.core.management.base import BaseCommand, CommandError

from audit.recording import record
from config.resealing import reseal, sealed_rows


class Command(BaseCommand):
    """manage.py reseal."""

    help = (
        "Seal every stored secret with the newest of MASTER_KEYS; you can remove the older keys afterwards."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        """Change one row at a time, so that calls and sign-ins continue."""
        count, failures = 0, []
        for row in list(sealed_rows()):
            try:
                count += reseal(row)
            except InvalidToken:
                failures.append(row.name)
        if count:
            record("secrets.resealed", after={"changed": count})
        self.stdout.write(f"Sealed with the newest key: {count} changed.")
        if failures:
            raise CommandError(f"No key in MASTER_KEYS opens {', '.join(failures)}: keep every key for now.")
