"""Restore a backup into empty databases."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError
from django.utils import timezone

from audit.recording import record
from config.models import Session
from config.operations.backups import BackupError, leave_out_ids, read_manifest, restore_files
from config.operations.resealing import is_lost, sealed_rows
from foundation.operations.operator_command import OperatorCommand, Result

_LOST = (
    "MASTER_KEYS holds no key for {number} of the restored secrets: calls that need one will be refused. "
    "Before you start the service, put the keys of the backup's time into .env; 'manage.py doctor' names "
    "what is still lost. If the keys are gone for good, start the service, and do what doctor says "
    "of each secret."
)


class Command(OperatorCommand):
    """manage.py restore /var/backups/threat-dashboard/2026-11-23T031500Z."""

    help = (
        "Restore a backup into the empty databases of DATABASE_URL, bring them up to this version, end all "
        "sessions, and refuse the signed calls of the last minutes, whose nonces are lost. Stop the service "
        "first. Secrets, links and tokens that were revoked after the backup work again: revoke them again."
    )
    in_one_transaction = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", metavar="BACKUP", type=Path, help="a folder that backup wrote")

    def perform(self, *, folder: Path, **options: Any) -> Result:
        """Restore and migrate, end all sessions, and refuse calls signed before now."""
        try:
            manifest = read_manifest(folder)
            restore_files(folder)
        except (BackupError, OSError) as error:
            raise CommandError(str(error)) from error
        sessions = 0
        # Tables of an earlier version can make this fail; the service does not run before migrate either.
        with suppress(DatabaseError):
            sessions = _end_sessions_and_earlier_calls()
        for alias in settings.DATABASES:
            call_command("migrate", database=alias, verbosity=0, interactive=False, skip_checks=False)
        leave_out_ids()  # after migrate: on SQLite, rebuilding a table resets its sequence to its highest id
        written_at = manifest.at.isoformat()
        record("database.restored", after={"backup_at": written_at})
        sessions += Session.objects.all().delete()[0]
        if settings.ENABLE_API:
            call_command("refuse_earlier_calls", stdout=self.stderr)
        lost = sum(is_lost(row) for row in sealed_rows())
        done = f"Restored the backup of {written_at}, and ended {sessions} sessions."
        start = "Start the service, and revoke again what was revoked after the backup."
        return Result(
            text=done if lost else f"{done} {start}",
            json_output={
                "backup": str(folder),
                "at": written_at,
                "sessions_ended": sessions,
                "lost_secrets": lost,
            },
            failure=_LOST.format(number=lost) if lost else "",
        )


def _end_sessions_and_earlier_calls() -> int:
    """End all sessions, refuse calls signed before now, and return the number of sessions."""
    sessions, _ = Session.objects.all().delete()
    if settings.ENABLE_API:
        from dashboard_api.models import Nonce

        Nonce.objects.raise_fence(timezone.now())
    return sessions
