"""Problems: findings with one cause, counted and described together.

The counts are stored next to the findings; a few findings describe each problem. Decision record 0058.
"""

import heapq
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from dashboard_api import limits
from dashboard_api.contract import responses
from dashboard_api.contract.fields import ALL
from dashboard_api.models import Finding, Severity, host_of
from dashboard_api.queries import problem_rows
from dashboard_api.queries.finding_rows import NEWEST
from dashboard_api.queries.overview import ProblemTotals, SourceRow
from dashboard_api.queries.problem_rows import ProblemPart, ProblemSample
from dashboard_api.reading import topics
from dashboard_api.reading.sections import LABELS

# Up to a full stop that ends no abbreviation, or to the end of the line.
_SENTENCE = re.compile(
    r"[^\n]*?(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)(?<!\bcf)(?<!\bincl)(?<!\bapprox)(?<!\bno)[.!?](?=\s|$)"
    r"|[^\n]+",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"(?:phases?|strategy|effectiveness|see also|references?)\s*:|see\s+(?:the\s+)?references?\b",
    re.IGNORECASE,
)


class ProblemGroup(NamedTuple):
    """A problem with its counts by severity, its worst severity, and its position in a list.

    ``order`` has the worst first, then confirmed, then frequent ones.
    """

    id: str
    totals: list[ProblemTotals]
    worst: int
    order: tuple[int, bool, int, str]

    @classmethod
    def of(cls, problem: str, totals: list[ProblemTotals]) -> "ProblemGroup":
        """Return the problem with these counts."""
        worst, findings, confirmed = -1, 0, 0
        for each in totals:
            if each.severity > worst:
                worst, findings, confirmed = each.severity, 0, 0
            if each.severity == worst:
                findings += each.findings
                confirmed += each.confirmed
        order = -worst, not confirmed, -findings, problem
        return cls(problem, totals, worst, order)


# The keys by which the lists of each order are sorted.
_ORDERS: dict[str, Callable[[ProblemGroup], Any]] = {
    "worst": lambda group: group.order,
    "priority": lambda group: group.order,
    "newest": lambda group: -max(each.newest for each in group.totals),
    "oldest": lambda group: min(each.oldest for each in group.totals),
    "locations": lambda group: (-sum(each.locations for each in group.totals), *group.order),
}


def grouped(totals: Iterable[ProblemTotals], *, sort: str = "worst") -> list[ProblemGroup]:
    """Return the problems of ``totals`` in the order ``sort``."""
    by_problem: dict[str, list[ProblemTotals]] = defaultdict(list)
    for each in totals:
        if each.findings:
            by_problem[topics.problem_id(each.problem)].append(each)
    groups = [ProblemGroup.of(problem, found) for problem, found in by_problem.items()]
    return sorted(groups, key=_ORDERS[sort])


def with_ends(
    website_id: int, totals: Iterable[ProblemTotals], *, sort: str, status: str
) -> list[ProblemTotals]:
    """Return ``totals`` with the newest or the oldest finding of each, by ``sort``, which no count stores."""
    totals = list(totals)
    found = problem_rows.ends(website_id, _parts(totals), statuses=_statuses(status), sort=sort)
    return [
        each._replace(newest=end) if sort == NEWEST else each._replace(oldest=end)
        for each in totals
        if (end := found.get((each.problem, each.severity)))
    ]


def _parts(totals: Iterable[ProblemTotals]) -> list[ProblemPart]:
    """Return each part once; of all statuses, a problem has counts for each."""
    return list(dict.fromkeys(ProblemPart(each.problem, each.severity) for each in totals))


def _statuses(status: str) -> list[str]:
    return [each for each in Finding.Status.values if status in (each, ALL)]


def first_to_do(groups: Iterable[ProblemGroup]) -> list[ProblemGroup]:
    """Return the worst of ``groups``; informational ones are nothing to do."""
    to_do = (group for group in groups if group.worst > Severity.INFO)
    return heapq.nsmallest(limits.MAX_DO_FIRST, to_do, key=_ORDERS["worst"])


def described(
    website_id: int, groups: Sequence[ProblemGroup], sources: Mapping[int, SourceRow], *, status: str
) -> list[responses.Problem]:
    """Return ``groups`` as the response shows them, described by findings with ``status``."""
    parts = _parts(each for group in groups for each in group.totals)
    by_key: dict[str, list[ProblemSample]] = defaultdict(list)
    for sample in problem_rows.samples(website_id, parts, statuses=_statuses(status)):
        by_key[sample.problem].append(sample)
    return [
        _problem(group, [sample for key in _keys(group) for sample in by_key[key]], sources)
        for group in groups
    ]


def _keys(group: ProblemGroup) -> list[str]:
    return list(dict.fromkeys(each.problem for each in group.totals))


def _problem(
    group: ProblemGroup, samples: Sequence[ProblemSample], sources: Mapping[int, SourceRow]
) -> responses.Problem:
    shown = max(samples, key=lambda sample: (sample.severity, sample.kind == "confirmed", sample.pk))
    own = sorted({sources[each.source_id] for each in group.totals}, key=lambda source: source.name.lower())
    newest_first = sorted(samples, key=lambda sample: -sample.pk)
    return responses.Problem(
        id=group.id,
        title=topics.title_of(group.id) or _title(shown, samples),
        severity=LABELS[group.worst],
        sources=[source.slug for source in own],
        source_names=[source.name for source in own],
        rule=shown.rule,
        findings=sum(each.findings for each in group.totals),
        worst_findings=sum(each.findings for each in group.totals if each.severity == group.worst),
        confirmed=sum(each.confirmed for each in group.totals),
        locations=sum(each.locations for each in group.totals),
        hosts=_hosts(sample.location for sample in newest_first),
        first_seen=min(sample.first_seen for sample in samples),
        newest_first_seen=max(sample.first_seen for sample in samples),
        fix=fix_of(group.id, shown.fix_start) or next(filter(None, map(_fix, newest_first)), ""),
        topic=group.id if topics.title_of(group.id) else None,
    )


def _title(shown: ProblemSample, samples: Iterable[ProblemSample]) -> str:
    """Return the title of all findings; where they differ, the name of their rule, or the title of one."""
    titles = {sample.title for sample in samples if sample.rule == shown.rule}
    return shown.rule if len(titles) > 1 and " " in shown.rule else shown.title


def _fix(sample: ProblemSample) -> str:
    return first_advice(sample.fix_start)


def _hosts(locations: Iterable[str]) -> list[str]:
    """Return the different hosts of ``locations``, at most a few."""
    hosts = dict.fromkeys(filter(None, map(host_of, locations)))
    return list(hosts)[: limits.MAX_PROBLEM_HOSTS]


def fix_of(problem: str, remediation: str) -> str:
    """Return the fix of a problem in one line: that of its topic, or the first advice of ``remediation``."""
    return topics.fix_of(problem) or first_advice(remediation)


def first_advice(text: str) -> str:
    """Return the first sentence of ``text`` that gives advice, cut with an ellipsis where it is long."""
    sentences = (match.group().strip(" \t-*\u2022") for match in _SENTENCE.finditer(text))
    sentence = next((each for each in sentences if _is_advice(each)), "")
    if len(sentence) <= limits.MAX_FIX_LENGTH:
        return sentence
    return sentence[: limits.MAX_FIX_LENGTH - 1].rstrip() + "\u2026"


def _is_advice(sentence: str) -> bool:
    """Return whether this is a sentence: no heading, no "N/A" and no address alone."""
    return len(sentence.split()) > 1 and not sentence.endswith(":") and not _HEADING.match(sentence)
