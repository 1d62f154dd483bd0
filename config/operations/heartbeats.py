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

KEPT = timedelta(days=30)  # the runs of a command
_LATE_AFTER_INTERVALS = 2
_CLOCK_SKEW = timedelta(minutes=5)  # a run that ended later had a wrong clock


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
    commands = sorted(  # by name; the ids of its newest run and of the newest that counted something
        Run.objects.order_by()
        .values_list("command")
        .annotate(
            newest=Max("pk"),
            counted=Max("pk", filter=~Q(found=None)),
            succeeded=Max("ended", filter=Q(ok=True, ended__lte=now + _CLOCK_SKEW)),
        )
    )
    ids = {newest for _, newest, _, _ in commands} | {counted for _, _, counted, _ in commands if counted}
    runs = Run.objects.in_bulk(ids)
    return [
        LastRun(
            command=command,
            succeeded=succeeded,
            is_late=succeeded is None or succeeded < now - _LATE_AFTER_INTERVALS * runs[newest].interval,
            found=runs[counted].found if counted else None,
        )
        for command, newest, counted, succeeded in commands
    ]
