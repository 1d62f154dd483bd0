"""Lines of a report in our own format, for the built-in engines."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from dashboard_api.crawler.essentials.page import Problem
from dashboard_api.crawler.essentials.rules import RULES


class Incomplete(Exception):
    """The website could not be checked; the message says why."""


class PartlyRead(Incomplete):
    """Responses could not be read to their end: ``unread`` has addresses, each with rules that need the rest.

    All other rules were checked.
    """

    def __init__(self, unread: Sequence[tuple[str, Sequence[str]]]) -> None:
        self.unread = unread
        super().__init__("not_read_to_the_end")


def lines_of(source: str, name: str, location: str, problems: Iterable[Problem]) -> Iterator[dict[str, Any]]:
    """Yield the lines of a report about ``location``; if ``problems`` raises Incomplete, failed checks."""
    yield {"scan": "findings/1", "source": source, "name": name, "scanned_at": _now()}
    found: list[Problem] = []
    unread: list[dict[str, Any]] = []
    try:
        for problem in problems:
            found.append(problem)  # noqa: PERF402  # those before PartlyRead count
    except PartlyRead as error:
        unread = [{"checked": url, "error": str(error), "rules": [*rules]} for url, rules in error.unread]
    except Incomplete as error:
        yield {"checked": location, "error": str(error)}
        yield {"complete": False, "scanned_at": _now()}
        return
    for problem in found:
        yield _line(problem)
    yield {"checked": location}
    yield from unread
    yield {"complete": True, "scanned_at": _now()}


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
