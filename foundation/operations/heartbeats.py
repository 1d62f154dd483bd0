"""Heartbeats of the commands that cron runs: one after each run, for whatever keeps them."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.dispatch import Signal

MAX_SUMMARY_LENGTH = 200

command_ended = Signal()  # with beat: Beat


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """A run of ``command``, which cron starts every ``interval``; ``summary`` is one line.

    ``found`` is the number of things that need a person; None for a run that looks for none, or failed.
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
