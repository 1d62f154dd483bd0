"""Lines of a report in our own format, for the built-in engines."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from dashboard_api.crawler.essentials.page import Problem
from dashboard_api.crawler.essentials.rules import RULES


class Incomplete(Exception):
    """The website could not be checked; the message says why."""


class PartlyRead(Incomplete):
    """A response could not be read to its end; the problems that were found count."""


def lines_of(source: str, name: str, location: str, problems: Iterable[Problem]) -> Iterator[dict[str, Any]]:
    """Yield the lines of a report about ``location``; if ``problems`` raises Incomplete, a failed check."""
    yield {"scan": "findings/1", "source": source, "name": name, "scanned_at": _now()}
    found: list[Problem] = []
    check = {"checked": location}
    try:
        for problem in problems:
            found.append(problem)  # noqa: PERF402  # those before an error count
    except Incomplete as error:
        check["error"] = str(error)
        found = found if isinstance(error, PartlyRead) else []
    for problem in found:
        yield _line(problem)
    yield check
    yield {"complete": "error" not in check, "scanned_at": _now()}


def _line(problem: Problem) -> dict[str, Any]:
    rule = RULES[problem.rule]
    return {
        "finding": problem.rule,
        "matcher": problem.matcher,
        "title": rule.title,
        "severity": rule.severity,
        "kind": "informational" if rule.severity == "info" else "confirmed",
        "location": problem.location,
        "description": rule.description,
        "remediation": rule.remediation,
        "evidence": problem.evidence,
        "cwe": [rule.cwe],
    }


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
