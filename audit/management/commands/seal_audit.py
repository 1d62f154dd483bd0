"""Seal the audit events since the last seal; run it each hour."""

from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError
from django.db import OperationalError
from django.utils import timezone

from audit import seals
from audit.recording import deliver_waiting
from foundation.operations.operator_command import OperatorCommand, Result


class Command(OperatorCommand):
    """manage.py seal_audit."""

    interval = timedelta(hours=1)
    help = (
        "Seal the audit events since the last seal with a digest, which also goes to the log: verify_audit "
        "compares them. Run it each hour."
    )
    no_event_because = "the seal is the record, in the table of seals and in the log"
    audit_options = None

    def perform(self, **options: Any) -> Result:
        """Store the events that waited for an import, then seal."""
        deliver_waiting()
        try:
            seal = seals.seal(timezone.now())
        except OperationalError as error:
            raise CommandError("The events were not sealed, because the database is busy.") from error
        if seal is None:
            return Result(text="There are no new events.", json_output={"changed": False, "digest": None})
        text = f"Sealed the events up to {seal.last_id}: {seal.digest}."
        return Result(
            text=text, json_output={"changed": True, "last_id": seal.last_id, "digest": seal.digest}
        )
