"""The scanners that this deployment runs and that retest findings, by the slugs of their sources."""

from functools import lru_cache
from pathlib import Path

from django.conf import settings

from dashboard_api.crawler.engines import WrongEngines, read_engines


def sources() -> frozenset[str]:
    """Return the sources whose engines run here; empty if this deployment does not scan."""
    if not settings.CRAWLER_ENABLED:
        return frozenset()
    path = Path(settings.CRAWLER_ENGINES)
    try:
        return _names(path, path.stat().st_mtime_ns)
    except OSError:
        return frozenset()


@lru_cache(maxsize=1)
def _names(path: Path, _changed_ns: int) -> frozenset[str]:
    try:
        return frozenset(engine.name for engine in read_engines(path) if engine.retests(engine.name))
    except WrongEngines:
        return frozenset()
