"""Move expired nonces to the calls on record, and delete old data; run it hourly."""

from datetime import datetime, timedelta
from typing import Any

from django.core.management.base import CommandParser
from django.db import connection
from django.utils import timezone

from audit import seals
from dashboard_api import limits
from dashboard_api.billing.callbacks import applying
from dashboard_api.importing import report_jobs
from dashboard_api.models import (
    CallRecord,
    ForgottenAccount,
    ImportChange,
    Nonce,
    RememberedCall,
    Upload,
    Usage,
)
from foundation.operations.operator_command import OperatorCommand, Result, positive


class Command(OperatorCommand):
    """manage.py prune."""

    interval = timedelta(hours=1)

    help = (
        "Move expired nonces to the calls on record, in batches so that signed calls never wait for long. "
        "Delete calls on record after 180 days, audit events after 400 days, old uploads, the changes of "
        "imports that are too old to be taken back, finished reports that were sent over HTTP, bodies of "
        "payment callbacks after 30 days, and responses remembered by request_key after 7 days. Finish the "
        "deletion of accounts that forget_account began."
    )
    in_one_transaction = False  # after each batch

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--batch", type=positive, default=limits.PRUNE_BATCH, metavar="N")

    def perform(self, *, batch: int, **options: Any) -> Result:
        """Delete old rows, with a commit after each batch, and return how many."""
        now, nonces = _earlier_now(), 0
        forgotten = ForgottenAccount.finish(now)
        while deleted := Nonce.objects.prune(now=now, batch=batch):
            nonces += deleted
        calls = _prune_calls(now, batch)
        uploads, _ = Upload.objects.filter(uploaded_at__lt=now - limits.UPLOAD_LIFETIME).delete()
        too_old = ImportChange.objects.filter(run__imported_at__lt=now - limits.UNDO_LIFETIME)
        changes, _ = too_old.delete()
        jobs, audit_events = report_jobs.prune(now), seals.prune(now)
        callbacks = applying.prune(now)
        remembered, _ = RememberedCall.objects.filter(at__lt=now - limits.REMEMBERED_CALL_LIFETIME).delete()
        return Result(
            text=f"Deleted {nonces} expired nonces, {calls} old records of calls, {audit_events} audit "
            f"events, {uploads} old uploads, {jobs} finished reports and {changes} records of changes by "
            "imports that can no longer be taken back."
            + (f" Deleted {forgotten} calls of deleted accounts." if forgotten else ""),
            json_output={
                "nonces": nonces,
                "calls": calls,
                "forgotten_calls": forgotten,
                "audit_events": audit_events,
                "uploads": uploads,
                "import_changes": changes,
                "reports": jobs,
                "callbacks": callbacks,
                "remembered_calls": remembered,
            },
        )


def _earlier_now() -> datetime:
    """Return the time of this machine or of PostgreSQL, whichever is earlier.

    A clock that is ahead would delete nonces of calls that are still valid. SQLite uses this machine's clock.
    """
    now = timezone.now()
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT clock_timestamp()")
            now = min(now, cursor.fetchone()[0])
    return now


def _prune_calls(now: datetime, batch: int) -> int:
    """Delete old calls on record and old daily counts; return how many calls were deleted."""
    Usage.objects.filter(day__lt=(now - limits.USAGE_LIFETIME).date()).delete()
    total = 0
    before = now - limits.CALL_RECORD_LIFETIME - limits.CLOCK_MARGIN
    while deleted := CallRecord.objects.forget(before=before, batch=batch):
        total += deleted
    return total
