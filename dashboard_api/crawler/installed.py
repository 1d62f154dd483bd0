"""The scanners that this deployment runs, by the slugs of their sources."""

from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

from dashboard_api.crawler import policy
from dashboard_api.crawler.engines import Engine, WrongEngines, read_engines
from dashboard_api.models import ScanJob


def sources() -> frozenset[str]:
    """Return the sources that this deployment can retest; empty if it does not scan."""
    return frozenset(each.name for each in _engines() if each.retests(each.name) and each.runs_here)


def titles() -> Mapping[str, str]:
    """Return the title of each scanner by its short name; empty if this deployment does not scan."""
    return {engine.name: engine.title for engine in _engines()}


def profiles() -> Mapping[str, str]:
    """Return the smallest profile that includes each source; empty if this deployment does not scan."""
    # Of engines that share a source, the last one of the loop counts: the one with the smallest profile.
    largest_first = sorted(_engines(), key=lambda engine: policy.rank(engine.profile))[::-1]
    return {engine.reports_as: engine.profile for engine in largest_first}


def by_source(schedules: Collection[Any]) -> dict[str, list[Any]]:
    """Return the schedules that scan with each source; empty if this deployment does not scan."""
    rank = policy.rank  # larger profiles include the scanners of smaller ones
    return {
        source: [schedule for schedule in schedules if rank(schedule.profile) >= rank(smallest)]
        for source, smallest in profiles().items()
    }


def here(host: str) -> frozenset[str]:
    """Return the sources that this deployment runs for the website; optional ones only if they are installed.

    Attacking scanners are left out: they need consent.
    """
    engines = [engine for engine in _engines() if engine.is_part_of(ScanJob.Profile.STANDARD, host)]
    return frozenset(engine.reports_as for engine in engines if engine.runs_here)


def _engines() -> tuple[Engine, ...]:
    if not settings.CRAWLER_ENABLED:
        return ()
    path = Path(settings.CRAWLER_ENGINES)
    try:
        return _read(path, path.stat().st_mtime_ns)
    except OSError:
        return ()


@lru_cache(maxsize=1)
def _read(path: Path, _changed_ns: int) -> tuple[Engine, ...]:
    """Return the engines of the file, read again when it has changed; empty if it is wrong."""
    try:
        return tuple(read_engines(path))
    except WrongEngines:
        return ()
