"""Problems: findings with one cause, counted and describe_problems together."""

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from dashboard_api import limits
from dashboard_api.backends.statements import select, to_datetime
from dashboard_api.models import Finding, Kind, Severity
from dashboard_api.queries.overview import SourceRow
from dashboard_api.reading import topics
from dashboard_api.reading.answered import NO_ANSWERS, Answered
from dashboard_api.reading.matching import Filters, Match, one_of, whole_condition
from signed_api import findings as contract
from signed_api import limits as contract_limits

# Text up to the end of a sentence, which is not the full stop of an abbreviation, or up to the line's end.
_SENTENCE = re.compile(
    r"[^\n]*?(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)(?<!\bcf)(?<!\bincl)(?<!\bapprox)(?<!\bno)[.!?](?=\s|$)"
    r"|[^\n]+",
    re.IGNORECASE,
)
# Lines of remediation texts that give no advice, such as headings of the CWE list: "Phase: Implementation".
_HEADING = re.compile(
    r"(?:phases?|strategy|effectiveness|see also|references?)\s*:|see\s+(?:the\s+)?references?\b",
    re.IGNORECASE,
)


class ProblemCell(NamedTuple):
    """The number of findings of a problem with the same status, severity, source and kind."""

    status: str
    severity: int
    source_id: int
    kind: str
    problem: str
    findings: int
    locations: int
    oldest: int  # the lowest id of a finding
    newest: int  # the highest id
    first_seen: datetime  # the earliest first_seen of a finding
    newest_first_seen: datetime  # the latest


_CELLS = """
SELECT status, severity, source_id, kind, problem, COUNT(*), SUM(locations_count), MIN(id), MAX(id),
    MIN(first_seen), MAX(first_seen)
FROM {tables} WHERE {condition} GROUP BY status, severity, source_id, kind, problem
"""


def read_problems(
    website_id: int, status: str, filters: Filters, match: Match, answered: Answered
) -> list[ProblemCell]:
    """Count the findings with ``status`` that pass ``filters`` and ``match`` by problem."""
    conditions = filters.condition(answered), match.condition()
    condition, parameters = whole_condition(website_id, status, *conditions)
    found = select(Finding, _CELLS.format(tables=filters.tables(answered), condition=condition), parameters)
    return [
        ProblemCell._make((*others, to_datetime(first_seen), to_datetime(newest_first_seen)))
        for *others, first_seen, newest_first_seen in found
    ]


class ProblemGroup(NamedTuple):
    """A problem with its cells and its worst severity.

    ``order`` sorts worse problems first, then confirmed ones, then ones with more findings.
    """

    id: str
    cells: list[ProblemCell]
    worst: int
    order: tuple[int, bool, int, str]

    @classmethod
    def of(cls, problem: str, cells: list[ProblemCell]) -> "ProblemGroup":
        """Return the problem that has these cells."""
        worst = max(cell.severity for cell in cells)
        decisive = [cell for cell in cells if cell.severity == worst]
        is_confirmed = any(cell.kind == Kind.CONFIRMED for cell in decisive)
        order = -worst, not is_confirmed, -sum(cell.findings for cell in decisive), problem
        return cls(problem, cells, worst, order)

    def stored_keys(self) -> list[str]:
        """Return the keys under which the findings of the problem are stored."""
        return list(dict.fromkeys(cell.problem for cell in self.cells))


# The sort key of each order.
_ORDERS: dict[str, Callable[[ProblemGroup], Any]] = {
    "worst": lambda group: group.order,
    "priority": lambda group: group.order,
    "newest": lambda group: -max(cell.newest for cell in group.cells),
    "oldest": lambda group: min(cell.oldest for cell in group.cells),
    "locations": lambda group: (-sum(cell.locations for cell in group.cells), *group.order),
}


def group_by_problem(cells: Iterable[ProblemCell], *, sort: str = "worst") -> list[ProblemGroup]:
    """Return the problems of ``cells`` in the order ``sort``."""
    by_problem: dict[str, list[ProblemCell]] = defaultdict(list)
    for cell in cells:
        by_problem[topics.problem_id(cell.problem)].append(cell)
    groups = [ProblemGroup.of(problem, found) for problem, found in by_problem.items()]
    return sorted(groups, key=_ORDERS[sort])


def first_to_do(groups: Iterable[ProblemGroup]) -> list[ProblemGroup]:
    """Return the worst of ``groups``, without informational ones: they need no action."""
    to_do = (group for group in groups if group.worst > Severity.INFO)
    return heapq.nsmallest(limits.MAX_DO_FIRST, to_do, key=_ORDERS["worst"])


class ProblemSample(NamedTuple):
    """A finding that describes its problem; ``fix_start`` is the start of its remediation."""

    pk: int
    problem: str
    severity: int
    kind: str
    title: str
    rule: str
    fix_start: str


_SAMPLES = """
SELECT id, problem, severity, kind, title, rule, SUBSTR(remediation, 1, %s) FROM dashboard_api_finding
WHERE id IN (
    SELECT id FROM (
        SELECT id, ROW_NUMBER() OVER (PARTITION BY problem, severity ORDER BY id DESC) AS place
        FROM dashboard_api_finding WHERE {condition}
    ) AS placed WHERE place <= %s
)
"""
_HOSTS = """
SELECT problem, host, MAX(id) AS newest FROM {tables}
WHERE {condition} AND host <> '' GROUP BY problem, host ORDER BY newest DESC
"""


def describe_problems(
    website_id: int,
    groups: Sequence[ProblemGroup],
    sources: Mapping[int, SourceRow],
    *,
    status: str,
    filters: Filters,
    match: Match,
    answered: Answered = NO_ANSWERS,
    account_id: int = 0,
) -> list[contract.Problem]:
    """Return ``groups`` as members of the response.

    Title and fix come from all findings with ``status``; hosts only from findings that pass ``filters`` and
    ``match``.
    """
    if not groups:
        return []
    of_groups = one_of({"problem": [key for group in groups for key in group.stored_keys()]})
    samples = _samples(*whole_condition(website_id, status, of_groups))
    conditions = filters.condition(answered), match.condition()
    hosts = _hosts(filters.tables(answered), *whole_condition(website_id, status, of_groups, *conditions))
    answers = _answers(account_id, website_id, *of_groups) if answered.is_used else {}
    return [
        _problem(
            group,
            [sample for key in group.stored_keys() for sample in samples[key]],
            list(dict.fromkeys(host for key in group.stored_keys() for host in hosts[key])),
            sources,
            answers.get(group.id, {}),
        )
        for group in groups
    ]


def _samples(condition: str, parameters: Sequence[Any]) -> Mapping[str, list[ProblemSample]]:
    """Return the newest findings of each problem and severity, by key of the problem."""
    by_key: dict[str, list[ProblemSample]] = defaultdict(list)
    values = [limits.MAX_FIX_START, *parameters, limits.MAX_PROBLEM_SAMPLES]
    for row in select(Finding, _SAMPLES.format(condition=condition), values):
        sample = ProblemSample._make(row)
        by_key[sample.problem].append(sample)
    return by_key


def _hosts(tables: str, condition: str, parameters: Sequence[Any]) -> Mapping[str, list[str]]:
    """Return the hosts of each problem by its key; hosts of newer findings come first."""
    by_key: dict[str, list[str]] = defaultdict(list)
    for problem, host, _ in select(Finding, _HOSTS.format(tables=tables, condition=condition), parameters):
        by_key[problem].append(host)
    return by_key


_ANSWERS = """
SELECT problem, answer, COUNT(*) FROM dashboard_api_answer AS given
JOIN dashboard_api_finding AS finding ON finding.id = finding_id
WHERE account_id = %s AND ended_at IS NULL AND status = 'open'{of_problems}
AND finding.website_id = %s GROUP BY problem, answer
"""


def _answers(
    account_id: int, website_id: int, of_problems: str, keys: Sequence[Any]
) -> Mapping[str, dict[str, int]]:
    """Count the account's open answers to open findings, by the id of the problem."""
    by_problem: dict[str, Counter[str]] = defaultdict(Counter)
    for key, answer, count in select(
        Finding, _ANSWERS.format(of_problems=of_problems), [account_id, *keys, website_id]
    ):
        by_problem[topics.problem_id(key)][answer] += count
    return {problem: dict(counts) for problem, counts in by_problem.items()}


def _problem(
    group: ProblemGroup,
    samples: Sequence[ProblemSample],
    hosts: Sequence[str],
    sources: Mapping[int, SourceRow],
    answers: dict[str, int],
) -> contract.Problem:
    shown = max(samples, key=lambda sample: (sample.severity, sample.kind == "confirmed", sample.pk))
    reported_by = {sources[cell.source_id] for cell in group.cells}
    by_name = sorted(reported_by, key=lambda source: source.name.lower())
    newest_first = sorted(samples, key=lambda sample: -sample.pk)
    advice = filter(None, (first_advice(sample.fix_start) for sample in newest_first))
    return contract.Problem(
        id=group.id,
        title=topics.title_of(group.id) or _title(shown, samples),
        severity=Severity(group.worst).label,
        sources=[source.slug for source in by_name],
        source_names=[source.name for source in by_name],
        rule=shown.rule,
        findings=sum(cell.findings for cell in group.cells),
        worst_findings=sum(cell.findings for cell in group.cells if cell.severity == group.worst),
        confirmed=sum(cell.findings for cell in group.cells if cell.kind == Kind.CONFIRMED),
        locations=sum(cell.locations for cell in group.cells),
        hosts=list(hosts[: contract_limits.MAX_PROBLEM_HOSTS]),
        first_seen=min(cell.first_seen for cell in group.cells),
        newest_first_seen=max(cell.newest_first_seen for cell in group.cells),
        fix=fix_of(group.id, shown.fix_start) or next(advice, ""),
        topic=group.id if topics.title_of(group.id) else None,
        answers=answers,
    )


def _title(shown: ProblemSample, samples: Iterable[ProblemSample]) -> str:
    """Return the title of the findings; if titles differ, the name of their rule, if it is in words."""
    titles = {sample.title for sample in samples if sample.rule == shown.rule}
    return shown.rule if len(titles) > 1 and " " in shown.rule else shown.title


def fix_of(problem: str, remediation: str) -> str:
    """Return the fix of a problem in one line: its topic's fix, or the first advice of ``remediation``."""
    return topics.fix_of(problem) or first_advice(remediation)


def first_advice(text: str) -> str:
    """Return the first sentence of ``text`` that gives advice; an ellipsis shortens a long one."""
    sentences = (match.group().strip(" \t-*\u2022") for match in _SENTENCE.finditer(text))
    sentence = next((each for each in sentences if _is_advice(each)), "")
    if len(sentence) <= limits.MAX_FIX_LENGTH:
        return sentence
    return sentence[: limits.MAX_FIX_LENGTH - 1].rstrip() + "\u2026"


def _is_advice(sentence: str) -> bool:
    """Return whether this looks like a sentence, not like a heading, "N/A" or a bare address."""
    return len(sentence.split()) > 1 and not sentence.endswith(":") and not _HEADING.match(sentence)
