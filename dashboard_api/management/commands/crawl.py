"""Run waiting scans: the worker, as a systemd service."""

import os
import secrets
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from dashboard_api.crawler import schedules, stopping, wall
from dashboard_api.crawler.engines import WrongEngines, read_engines
from dashboard_api.crawler.wall import WallMissing
from dashboard_api.crawler.worker import Worker
from dashboard_api.models import Source
from foundation.operations.heartbeats import Beat, command_ended
from foundation.operations.operator_command import OperatorCommand, Result

IDLE_SECONDS = 2.0  # between looks at an empty queue
NICENESS = 10  # pages and calls have priority
HEARTBEAT_EVERY = timedelta(minutes=1)


class Command(OperatorCommand):
    """manage.py crawl."""

    help = (
        "Run waiting scans one after the other until SIGTERM, which puts the running scan back into the "
        "queue. Pages and calls have priority (nice 10). Several workers can run at once, also on several "
        "machines. Needs CRAWLER_ENABLED."
    )
    in_one_transaction = False  # it runs until it is stopped
    no_event_because = "each scan and each import has an event"

    def add_arguments(self, parser: CommandParser) -> None:
        modes = parser.add_mutually_exclusive_group()
        modes.add_argument("--once", action="store_true", help="run the scans that wait now, and exit")
        modes.add_argument(
            "--stop-all",
            action="store_true",
            help="cancel all waiting and running scans; no scan starts until --resume",
        )
        modes.add_argument("--resume", action="store_true", help="allow scans again after --stop-all")

    def perform(self, *, once: bool, stop_all: bool, resume: bool, by: str, **options: Any) -> Result:
        """Run scans, stop all scans, or allow them again; return the number of scans."""
        if stop_all:
            count = stopping.stop_all(by=by, reason=options.get("reason", ""))
            return Result(
                text=f"Scans cancelled: {count}. No scan starts until 'manage.py crawl --resume'.",
                json_output={"cancelled": count},
            )
        if resume:
            ended = stopping.resume(by=by)
            text = "Scans can start again." if ended else "Nothing to do: scans are not stopped."
            return Result(text=text, json_output={"changed": ended})
        if not settings.CRAWLER_ENABLED:
            raise CommandError("CRAWLER_ENABLED is off: set it to true in the environment or .env.")
        try:
            wall.check()
            engines = read_engines(settings.CRAWLER_ENGINES)
        except (WallMissing, WrongEngines) as error:
            raise CommandError(str(error)) from error
        for engine in engines:  # so that pages can say that it has not looked at a website yet
            Source.objects.get_or_add(engine.reports_as, engine.title or engine.name)
        if not once:
            os.nice(NICENESS)
        name = f"{socket.gethostname()[:60]}-{os.getpid()}-{secrets.token_hex(4)}"
        with _stopping() as stop:
            count = self._work(Worker(name, engines, stop.is_set), stop, once=once)
        return Result(text=f"Scans ended: {count}.", json_output={"ended": count})

    def _work(self, worker: Worker, stop: Event, *, once: bool) -> int:
        """Run scans until ``stop`` is set, with ``once`` until the queue is empty; return how many ended."""
        ended = 0
        beat_at = timezone.now() - HEARTBEAT_EVERY  # so the first heartbeat is due at once
        while not stop.is_set():
            job = worker.run_one()
            if job is not None:
                ended += job.ended_at is not None
                self.stderr.write(f"{job}: {job.state} {job.outcome or job.reason}", style_func=str)
            if timezone.now() - beat_at >= HEARTBEAT_EVERY:
                schedules.add_defaults(timezone.now())
                beat_at = _beat(ended)
            if job is None:
                if once:
                    break
                stop.wait(IDLE_SECONDS)
        return ended


def _beat(ended: int) -> Any:
    """Send the heartbeat of the worker, and return its time; after twice the interval the worker is late."""
    now = timezone.now()
    summary = f"Scans ended: {ended}."
    beat = Beat(
        command="crawl", interval=timedelta(minutes=10), began=now, ended=now, ok=True, summary=summary
    )
    command_ended.send(Command, beat=beat)
    return now


@contextmanager
def _stopping() -> Iterator[Event]:
    """Yield an event that SIGTERM and SIGINT set."""
    stop = Event()
    handlers_before = {
        number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield stop
    finally:
        for number, handler in handlers_before.items():
            signal.signal(number, handler)
