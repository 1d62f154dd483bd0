"""Report lines in our own format, for the built-in engines."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from dashboard_api.crawler.essentials.page import Checked, Result, Skipped, Unread
from dashboard_api.crawler.essentials.rules import RULES


class Incomplete(Exception):
    """The website could not be checked; the message says why."""


def lines_of(source: str, name: str, location: str, results: Iterable[Result]) -> Iterator[dict[str, Any]]:
    """Yield the report lines for ``location``; Incomplete from ``results`` makes it a failed check."""
    yield {"scan": "findings/1", "source": source, "name": name, "scanned_at": _now()}
    lines: list[dict[str, Any]] = []  # collected first: a check that fails must not leave half a report
    try:
        for result in results:
            line = _line(result)
            if line not in lines:
                lines.append(line)
    except Incomplete as error:
        yield {"checked": location, "error": str(error)}
        yield {"complete": False, "scanned_at": _now()}
        return
    yield from lines
    yield {"complete": True, "scanned_at": _now()}


def _line(result: Result) -> dict[str, Any]:
    if isinstance(result, Checked):
        return {"checked": result.location}
    if isinstance(result, Skipped):
        return {"checked": result.location, "skipped": [*result.rules]}
    if isinstance(result, Unread):
        return {"checked": result.location, "error": result.reason, "rules": [*result.rules]}
    rule = RULES[result.rule]
    return {
        "finding": result.rule,
        "matcher": result.matcher,
        "title": rule.title,
        "severity": rule.severity,
        "kind": "informational" if rule.severity == "info" else "confirmed",
        "location": result.location,
        "description": rule.description,
        "remediation": rule.remediation,
        "evidence": result.evidence,
        "cwe": [rule.cwe],
    }


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
