"""Report lines in our own format, for the built-in engines."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from dashboard_api.crawler.essentials.page import Checked, Problem, Result, Skipped
from dashboard_api.crawler.essentials.rules import RULES

_MAX_RULES = 20  # of a row, as the format has it


class Incomplete(Exception):
    """The website could not be checked; the message says why."""


def lines_of(source: str, name: str, location: str, results: Iterable[Result]) -> Iterator[dict[str, Any]]:
    """Yield the report lines for ``location``; Incomplete from ``results`` makes it a failed check."""
    yield {"scan": "findings/1", "source": source, "name": name, "scanned_at": _now()}
    lines: list[dict[str, Any]] = []  # collected first: a check that fails must not leave half a report
    try:
        for line in chain.from_iterable(map(_lines, results)):
            if line not in lines:
                lines.append(line)
    except Incomplete as error:
        yield {"checked": location, "error": str(error)}
        yield {"complete": False, "scanned_at": _now()}
        return
    yield from lines
    yield {"complete": True, "scanned_at": _now()}


def _lines(result: Result) -> Iterator[dict[str, Any]]:
    if isinstance(result, Problem):
        yield _finding(result)
    elif isinstance(result, Checked):
        yield {"checked": result.location}
    else:
        for rules in (result.rules[at : at + _MAX_RULES] for at in range(0, len(result.rules), _MAX_RULES)):
            if isinstance(result, Skipped):
                yield {"checked": result.location, "skipped": [*rules]}
            else:
                yield {"checked": result.location, "error": result.reason, "rules": [*rules]}


def _finding(result: Problem) -> dict[str, Any]:
    rule = RULES[result.rule]
    severity = result.severity or rule.severity
    return {
        "finding": result.rule,
        "matcher": result.matcher,
        "title": rule.title,
        "severity": severity,
        "kind": "informational" if severity == "info" else "confirmed",
        "location": result.location,
        "description": rule.description,
        "remediation": rule.remediation,
        "evidence": result.evidence,
        "cwe": [rule.cwe],
        "cve": [*result.cve],
    }


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
