"""Runs of scheduled commands, and which commands are late."""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, router, transaction
from django.db.models import Max, Q

from config.models import Run
from foundation.operations.heartbeats import Beat

logger = logging.getLogger(__name__)

KEPT = timedelta(days=30)
_LATE_AFTER = 2  # intervals
_CLOCKS = timedelta(minutes=5)  # tolerated between clocks; a run that ended later had a wrong clock


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRun:
    """A command that has run here, and when it last succeeded (None: not while runs are kept).

    ``found`` is the number of things that need a person, by the last run that looked for them.
    """

    command: str
    succeeded: datetime | None
    is_late: bool
    found: int | None


def store(*, beat: Beat, **_: Any) -> None:
    """Store a run, and delete old ones; errors of the database are only logged."""
    try:
        with transaction.atomic(using=router.db_for_write(Run)):
            Run.objects.create(
                command=beat.command,
                interval=beat.interval,
                began=beat.began,
                ended=beat.ended,
                ok=beat.ok,
                summary=beat.summary,
                found=beat.found,
            )
            Run.objects.filter(command=beat.command, ended__lt=beat.ended - KEPT).delete()
    except DatabaseError as error:
        logger.error("the run of %s is not stored: %s", beat.command, error)  # noqa: TRY400  # the command goes on


def last_runs(now: datetime) -> list[LastRun]:
    """Return each command that has run here, by name.

    A command is late if it has not succeeded within twice its interval.
    """
    numbers = (
        Run.objects.order_by()
        .values_list("command")
        .annotate(
            newest=Max("pk"),
            looked=Max("pk", filter=~Q(found=None)),
            at=Max("ended", filter=Q(ok=True, ended__lte=now + _CLOCKS)),
        )
    )
    commands = sorted(numbers)
    rows = Run.objects.in_bulk({pk for _, *pks, _ in commands for pk in pks if pk})
    return [
        LastRun(
            command=command,
            succeeded=at,
            is_late=at is None or at < now - _LATE_AFTER * rows[newest].interval,
            found=rows[looked].found if looked else None,
        )
        for command, newest, looked, at in commands
    ]
