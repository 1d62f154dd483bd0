"""Lines of a report in our own format, for the built-in engines."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from dashboard_api.crawler.essentials.page import Checked, Problem, Unread
from dashboard_api.crawler.essentials.rules import RULES


class Incomplete(Exception):
    """The website could not be checked; the message says why."""


class PartlyRead(Incomplete):
    """Some responses are missing, or were not read to their end; rules not in ``unread`` were checked."""

    def __init__(self, unread: Sequence[Unread]) -> None:
        self.unread = unread
        super().__init__("partly_read")


def lines_of(
    source: str, name: str, location: str, problems: Iterable[Problem | Checked]
) -> Iterator[dict[str, Any]]:
    """Yield the lines of a report about ``location``; if ``problems`` raises Incomplete, failed checks."""
    yield {"scan": "findings/1", "source": source, "name": name, "scanned_at": _now()}
    found: list[Problem] = []
    checked = {location: None}
    unread: list[dict[str, Any]] = []
    try:
        for each in problems:  # those before PartlyRead count
            if isinstance(each, Checked):
                checked[each.location] = None
            else:
                found.append(each)
    except PartlyRead as error:
        unread = [
            {"checked": failed.location, "error": failed.reason, "rules": [*failed.rules]}
            for failed in error.unread
        ]
    except Incomplete as error:
        yield {"checked": location, "error": str(error)}
        yield {"complete": False, "scanned_at": _now()}
        return
    for problem in found:
        yield _line(problem)
    for address in checked:
        yield {"checked": address}
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
