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

LETTERS = "ABCDF"  # for the worst open level, from Info to Critical
PROVISIONAL = "CDF"  # need no complete check of the pages: the open findings prove them
WITHOUT_PAGES = frozenset(
    {"dns", "exposed-files", "nmap", "scripts", "sslyze", "testssl"}
)  # sources that check no page itself

Levels = Sequence[int]  # numbers of open findings by level, from Info to Critical
NO_FINDINGS: Levels = [0] * len(Severity)


class Grade(NamedTuple):
    """A grade; a provisional one may get worse, because no check of the pages has been completed.

    ``letter`` is empty while the open findings do not decide the grade.
    """

    letter: str | None
    provisional: bool
    next: contract.NextGrade | None


def level_of(severity: int, *, is_suspected: bool) -> int:
    """Return the severity that counts for the grade: one step milder for a suspected finding."""
    return max(severity - is_suspected, 0)  # True counts as 1


def levels_of(counts: Mapping[tuple[str, int], int]) -> Levels:
    """Return the levels of findings from their counts by kind and severity."""
    levels = [0] * len(Severity)
    for (kind, severity), count in counts.items():
        levels[level_of(severity, is_suspected=kind == Kind.SUSPECTED)] += count
    return levels


def count_duplicates(problems: Iterable[ProblemCell]) -> Levels:
    """Return how many findings of each level are duplicates, because several sources report the topic.

    For each topic and level, count the findings at the level or above by source: the largest number counts,
    and the rest are duplicates.
    """
    # Levels of each topic and source
    by_topic: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0] * len(Severity)))
    for cell in problems:
        if cell.problem in topics.SHARED_KEYS:
            levels = by_topic[topics.problem_id(cell.problem)][cell.source_id]
            levels[level_of(cell.severity, is_suspected=cell.kind == Kind.SUSPECTED)] += cell.findings
    # NO_FINDINGS gives the levels even if there is no topic.
    by_level = zip(NO_FINDINGS, *map(_duplicates_of_topic, by_topic.values()), strict=True)
    return [sum(counts) for counts in by_level]


def _duplicates_of_topic(by_source: Mapping[int, Levels]) -> Levels:
    """Return the number of duplicates of one topic by level."""
    duplicates = [sum(counts) for counts in zip(*by_source.values(), strict=True)]
    counted_above = 0
    for level in reversed(range(len(duplicates))):
        counted = max(sum(counts[level:]) for counts in by_source.values())  # at this level or above
        duplicates[level] -= counted - counted_above
        counted_above = counted
    return duplicates


def without_duplicates(levels: Levels, duplicates: Levels) -> Levels:
    """Return the levels without duplicates; the worst level keeps at least one finding."""
    worst = _worst(levels)
    return [
        max(count - repeated, int(level == worst and count > 0))
        for level, (count, repeated) in enumerate(zip(levels, duplicates, strict=True))
    ]


def completed_on_pages(runs: Iterable[Run], sources: Mapping[int, SourceRow]) -> list[Run]:
    """Return the runs of sources that read pages and have completed a check of the website."""
    return [run for run in runs if run.completed_at and sources[run.source_id].slug not in WITHOUT_PAGES]


def grade(levels: Levels, completed: Sequence[Run]) -> Grade:
    """Return the grade, which the worst open finding decides, and the next better grade.

    A and B need a complete check of the pages, because they claim that the website has no worse finding.
    C, D and F do not.
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
    """Return the grade after fixing all findings of the worst level, unless the grade is A."""
    worst = _worst(levels)
    if worst == 0:
        return None
    letter = LETTERS[_worst(levels[:worst])]
    return contract.NextGrade(grade=letter, fixes=levels[worst])


def history(
    days: Iterable[OpenDay], *, first_day: date, graded: Grade, duplicates: Levels = NO_FINDINGS
) -> list[contract.HistoryDay]:
    """Return the grade of each day on which open findings changed; empty without a grade today.

    ``days`` may begin with one day before ``first_day``, which gives the state at the start of the period.
    ``graded`` is today's grade. ``duplicates`` are today's as well: topics of earlier days are not stored.
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
                    fixes=without_duplicates(levels, duplicates)[worst] if worst else 0,
                )
            )
    return entries


def levels_of_day(row: OpenDay) -> Levels:
    """Return the levels at the end of a stored day."""
    by_severity = (row.info, row.low, row.medium, row.high, row.critical)
    suspected = (0, row.suspected_low, row.suspected_medium, row.suspected_high, row.suspected_critical, 0)
    # Suspected findings leave their own level, and count one level below.
    return [count - suspected[i] + suspected[i + 1] for i, count in enumerate(by_severity)]
