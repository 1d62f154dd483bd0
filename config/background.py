"""Background jobs, which a few threads of each process run shortly after the response.

No response waits for a job or shows its result. A killed process loses its jobs. Record 0045.
"""

import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import BoundedSemaphore

from django.db import connections

logger = logging.getLogger(__name__)

DELAY_SECONDS = 1.0  # longer than the response takes
MAX_WAITING = 100
_threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="background")
_room = BoundedSemaphore(MAX_WAITING)


def run_later(job: Callable[[], object]) -> None:
    """Run ``job`` in a thread; drop and log it if too many are waiting."""
    if _room.acquire(blocking=False):
        _threads.submit(_run, job)
    else:
        logger.warning("%d jobs are waiting: another one was dropped", MAX_WAITING)


def _run(job: Callable[[], object]) -> None:
    try:
        time.sleep(DELAY_SECONDS)
        job()
    except Exception:
        logger.exception("a job in the background failed")
    finally:
        _room.release()
        connections.close_all()
