"""Heartbeats of cron commands: a signal after each run."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.dispatch import Signal

MAX_SUMMARY_LENGTH = 200

command_ended = Signal()  # with beat: Beat


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """A run of ``command``, which cron starts every ``interval``; ``summary`` is one line.

    ``found`` is the number of things that need a person, if the run counts them and did not fail.
    """

    command: str
    interval: timedelta
    began: datetime
    ended: datetime
    ok: bool
    summary: str
    found: int | None = None


def summary_of(text: str) -> str:
    """Return the first line of ``text``, not longer than a summary may be."""
    return next(iter(text.splitlines()), "")[:MAX_SUMMARY_LENGTH]
