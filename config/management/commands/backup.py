"""Write a backup of the databases; run it daily."""

import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from config.operations.backups import BackupError, backups_in, write_backup
from foundation.operations.operator_command import OperatorCommand, Result, positive


class Command(OperatorCommand):
    """manage.py backup /var/backups/threat-dashboard --keep 14."""

    interval = timedelta(days=1)

    help = (
        "Write a backup of the databases into a new folder in DIR, and check it, while the service runs. "
        "MASTER_KEYS, without which a backup's secrets cannot be opened, are not in it: keep .env elsewhere."
    )
    no_event_because = "it only reads"
    audit_options = None

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", metavar="DIR", type=Path)
        parser.add_argument(
            "--keep", type=positive, metavar="N", help="delete older backups in DIR except the newest N"
        )

    def perform(self, *, folder: Path, keep: int | None, **options: Any) -> Result:
        """Write the backup, and delete old ones only after it is complete."""
        try:
            written = write_backup(folder, now=timezone.now())
        except (BackupError, OSError) as error:
            raise CommandError(str(error)) from error
        complete = backups_in(folder)
        later = [backup for backup in complete if backup.name > written.name]
        dated = [backup for backup in complete if backup not in later]
        old = dated[:-keep] if keep else []
        for backup in old:
            shutil.rmtree(backup)
        size = sum(file.stat().st_size for file in written.iterdir())
        deleted = f" Deleted older ones: {len(old)}." if old else ""
        return Result(
            text=f"Wrote {written} ({size / 1e6:,.1f} MB).{deleted}",
            json_output={"backup": str(written), "bytes": size, "deleted": [str(backup) for backup in old]},
            failure=_wrong_clock(later),
        )


def _wrong_clock(later: list[Path]) -> str:
    """Return advice about backups dated in the future, which hide that this one is the newest."""
    if not later:
        return ""
    names = ", ".join(backup.name for backup in later)
    return (
        f"The backup is written, and these have names that are later than now: {names}. The clock was or is "
        "wrong. Correct it, and move these away: otherwise they are taken for the newest."
    )
