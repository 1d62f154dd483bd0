"""The product as a server loads it, except that a question about "endless" never ends by itself."""

from config.wsgi import application
from dashboard_api import answers
from dashboard_api.models import Finding
from dashboard_api.models.statements import rows

ENDLESS = """
WITH RECURSIVE endless (n) AS (SELECT 1 UNION ALL SELECT n FROM endless) SELECT COUNT(*) FROM endless
"""

__all__ = ["application"]

_build = answers.build_dashboard


def _build_or_never(link, question, now):
    if question.query == "endless":
        rows(Finding, ENDLESS, [])
    return _build(link, question, now)


answers.build_dashboard = _build_or_never
