"""The grade of a website, now and on earlier days."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from dashboard_api.models import Kind, Severity
from dashboard_api.queries.overview import OpenDay, Run, SourceRow
from dashboard_api.reading import topics
from dashboard_api.reading.problems import ProblemCell
from signed_api import findings as contract

LETTERS = "ABCDF"  # by the worst open level, Info to Critical
PROVISIONAL = "CDF"  # certain from the open findings alone, before a check of the pages is complete
WITHOUT_PAGES = frozenset({"dns", "nmap", "sslyze", "testssl"})  # sources that read no page of a website

Levels = Sequence[int]  # the number of open findings of each level, Info to Critical
NOTHING: Levels = [0] * len(Severity)


class Grade(NamedTuple):
    """A grade; ``provisional``: no check of the pages has been completed, so it may become worse.

    The letter is None while nothing can be said.
    """

    letter: str | None
    provisional: bool
    next: contract.NextGrade | None


def level_of(severity: int, *, is_suspected: bool) -> int:
    """Return the severity that counts for the grade: a suspected finding counts a step milder."""
    return max(severity - is_suspected, 0)


def levels_of(counts: Mapping[tuple[str, int], int]) -> Levels:
    """Return the levels of findings that are counted by kind and severity."""
    levels = [0] * len(Severity)
    for (kind, severity), count in counts.items():
        levels[level_of(severity, is_suspected=kind == Kind.SUSPECTED)] += count
    return levels


def repeated(problems: Iterable[ProblemCell]) -> Levels:
    """Return how many findings of each level report a topic that another source reports as often.

    Of the findings of a topic at a level or above, those of the source with most of them count.
    """
    by_topic: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0] * len(Severity)))
    for cell in problems:
        if cell.problem in topics.SHARED_KEYS:
            levels = by_topic[topics.problem_id(cell.problem)][cell.source_id]
            levels[level_of(cell.severity, is_suspected=cell.kind == Kind.SUSPECTED)] += cell.findings
    return [sum(level) for level in zip(NOTHING, *map(_surplus, by_topic.values()), strict=True)]


def _surplus(by_source: Mapping[int, Levels]) -> Levels:
    """Return the findings of each level that are left out where a topic counts once."""
    surplus = [sum(counts) for counts in zip(*by_source.values(), strict=True)]
    above = 0
    for level in reversed(range(len(surplus))):
        most = max(sum(counts[level:]) for counts in by_source.values())
        surplus[level] -= most - above
        above = most
    return surplus


def without(levels: Levels, surplus: Levels) -> Levels:
    """Return the levels that count for the next grade; the worst level stays, with at least one finding."""
    worst = _worst(levels)
    return [
        max(count - fewer, int(level == worst and count > 0))
        for level, (count, fewer) in enumerate(zip(levels, surplus, strict=True))
    ]


def completed_on_pages(runs: Iterable[Run], sources: Mapping[int, SourceRow]) -> list[Run]:
    """Return the runs of the sources that read pages and have completed a check of the website."""
    return [run for run in runs if run.completed_at and sources[run.source_id].slug not in WITHOUT_PAGES]


def grade(levels: Levels, completed: Sequence[Run]) -> Grade:
    """Return the grade for the worst open finding, and the way to the next one.

    C, D and F need no complete check. A and B need one of the pages, because they say that there is nothing
    worse.
    """
    letter = LETTERS[_worst(levels)]
    is_provisional = not completed
    if is_provisional and letter not in PROVISIONAL:
        return Grade(None, provisional=False, next=None)
    following = _next_grade(levels)
    if is_provisional and following and following.grade not in PROVISIONAL:
        following = None
    return Grade(letter, is_provisional, following)


def _worst(levels: Levels) -> int:
    return max((level for level, count in enumerate(levels) if count), default=0)


def _next_grade(levels: Levels) -> contract.NextGrade | None:
    """Return the grade after fixing all findings of the worst level; None for the best."""
    worst = _worst(levels)
    if worst == 0:
        return None
    letter = LETTERS[_worst(levels[:worst])]
    return contract.NextGrade(grade=letter, fixes=levels[worst])


def history(
    days: Iterable[OpenDay], *, first_day: date, graded: Grade, surplus: Levels = NOTHING
) -> list[contract.HistoryDay]:
    """Return the grade of each day on which open findings changed; empty without a grade today.

    ``days`` may begin with one day before ``first_day``: the state with which the period begins. ``surplus``
    is that of today, because nothing is stored about the topics of the past.
    """
    if graded.letter is None:
        return []
    entries = []
    for row in days:
        levels = levels_of_day(row)
        worst = _worst(levels)
        letter = LETTERS[worst]
        if not graded.provisional or letter in PROVISIONAL:
            entries.append(
                contract.HistoryDay(
                    day=max(row.day, first_day),
                    grade=letter,
                    open=sum(levels),
                    fixes=without(levels, surplus)[worst] if worst else 0,
                )
            )
    return entries


def levels_of_day(row: OpenDay) -> Levels:
    """Return the levels at the end of a day."""
    by_severity = (row.info, row.low, row.medium, row.high, row.critical)
    suspected = (0, row.suspected_low, row.suspected_medium, row.suspected_high, row.suspected_critical, 0)
    return [count - suspected[i] + suspected[i + 1] for i, count in enumerate(by_severity)]
