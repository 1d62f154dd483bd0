"""Readiness of a process: checks that end within a second, at most every two seconds."""

import logging
import threading
import time
from collections.abc import Callable, Mapping

from django.db import connections

logger = logging.getLogger(__name__)

LIMIT_SECONDS = 1.0  # for all checks together
REMEMBERED_SECONDS = 2.0  # the age of kept results, so that probes never become load
_TOO_LONG = ("it takes too long", LIMIT_SECONDS * 1000)


class Readiness:
    """Checks by name, each a function that raises an error if the process cannot serve.

    They run in a thread of their own, because a database that hangs must not hang the probe. ``failed``
    is safe to call from several threads.
    """

    def __init__(self, checks: Mapping[str, Callable[[], object]]) -> None:
        self._checks = checks
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        # Results of the last run, partial while it runs: reason (empty if the check passed), milliseconds.
        self._results: dict[str, tuple[str, float]] = {}
        self._failed: tuple[str, ...] = ()
        self._checked_at = float("-inf")

    def failed(self) -> tuple[str, ...]:
        """Return the names of the checks that fail or take too long; empty if the process can serve."""
        with self._lock:
            if time.monotonic() - self._checked_at >= REMEMBERED_SECONDS:
                self._run()
                self._checked_at = time.monotonic()
            return self._failed

    def report(self) -> list[tuple[str, str, float]]:
        """Return each check of the last run with its reason, empty if it passed, and its milliseconds."""
        self.failed()
        results = self._results
        return [(name, *results.get(name, _TOO_LONG)) for name in self._checks]

    def _run(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._results = {}
            self._thread = threading.Thread(target=self._check_all, args=(self._results,), daemon=True)
            self._thread.start()
        self._thread.join(LIMIT_SECONDS)
        reasons = {name: self._results.get(name, _TOO_LONG)[0] for name in self._checks}
        failed = tuple(name for name, reason in reasons.items() if reason)
        for name in set(failed) - set(self._failed):
            logger.error("The check %s fails: %s", name, reasons[name])
        self._failed = failed

    def _check_all(self, results: dict[str, tuple[str, float]]) -> None:
        for name, check in self._checks.items():
            began, reason = time.perf_counter(), ""
            try:
                check()
            except Exception as error:  # noqa: BLE001  # whatever it is, the process cannot serve
                reason = f"{type(error).__name__}: {error}".splitlines()[0]
            results[name] = (reason, (time.perf_counter() - began) * 1000)
        connections.close_all()  # of this thread, which ends here
