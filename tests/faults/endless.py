"""The product as a server loads it, except that a search for "endless" never ends."""

from config.wsgi import application
from dashboard_api.api import response_cache
from dashboard_api.backends.statements import select
from dashboard_api.models import Finding

ENDLESS = """
WITH RECURSIVE endless (n) AS (SELECT 1 UNION ALL SELECT n FROM endless) SELECT COUNT(*) FROM endless
"""

__all__ = ["application"]

_build = response_cache.build_dashboard


def _build_or_never(link, question, *others):
    if question.query == "endless":
        select(Finding, ENDLESS, [])
    return _build(link, question, *others)


response_cache.build_dashboard = _build_or_never
