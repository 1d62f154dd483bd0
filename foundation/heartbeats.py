"""Heartbeats of the commands that cron runs: one after each run, for whatever keeps them."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.dispatch import Signal

MAX_SUMMARY_LENGTH = 200

command_ended = Signal()  # with beat: Beat


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """A run of ``command``, which cron starts every ``interval``; ``summary`` is one line."""

    command: str
    interval: timedelta
    began: datetime
    ended: datetime
    ok: bool
    summary: str


def summary_of(text: str) -> str:
    """Return the first line of ``text``, not longer than a summary may be."""
    return next(iter(text.splitlines()), "")[:MAX_SUMMARY_LENGTH]
