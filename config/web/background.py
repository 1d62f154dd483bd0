"""Background jobs that a few threads of each process run shortly after the response.

Responses neither wait for a job nor show its result. A killed process loses its jobs.
"""

import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import BoundedSemaphore

from django.db import connections

logger = logging.getLogger(__name__)

DELAY_SECONDS = 1.0  # longer than the response takes
MAX_WAITING = 100  # jobs, also the running ones


class _Jobs:
    """A few threads with a queue of at most ``MAX_WAITING`` jobs."""

    def __init__(self, threads: int) -> None:
        self._threads = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="background")
        self._room = BoundedSemaphore(MAX_WAITING)

    def run_later(self, job: Callable[[], object]) -> None:
        """Run ``job`` in a thread; drop it with a log line if too many wait."""
        if self._room.acquire(blocking=False):
            self._threads.submit(self._run, job)
        else:
            logger.warning("%d jobs are waiting: another one was dropped", MAX_WAITING)

    def _run(self, job: Callable[[], object]) -> None:
        try:
            time.sleep(DELAY_SECONDS)
            job()
        except Exception:
            logger.exception("a job in the background failed")
        finally:
            self._room.release()
            connections.close_all()


_of_all, _of_members = _Jobs(2), _Jobs(1)  # separate, because strangers can fill the first
run_later, run_for_member = _of_all.run_later, _of_members.run_later
