"""Problems: findings with one cause, counted and described together.

The counts are stored next to the findings; a few findings describe each problem. Decision record 0058.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from dashboard_api import limits
from dashboard_api.contract import responses
from dashboard_api.models import Finding, Severity
from dashboard_api.queries import problem_rows
from dashboard_api.queries.overview import ProblemTotals, SourceRow
from dashboard_api.queries.problem_rows import ProblemPart, ProblemSample
from dashboard_api.reading import topics
from dashboard_api.reading.sections import LABELS

_SENTENCE = re.compile(r"[^\n]*?[.!?](?=\s|$)|[^\n]+")


@dataclass(slots=True)
class ProblemGroup:
    """A problem with its counts by severity."""

    id: str
    totals: list[ProblemTotals] = field(default_factory=list)

    @property
    def worst(self) -> int:
        """The worst severity of its findings."""
        return max(each.severity for each in self.totals)

    @property
    def order(self) -> tuple[int, bool, int, str]:
        """The position in a list: the worst first, then confirmed, then frequent ones."""
        worst = self.worst
        of_worst = [each for each in self.totals if each.severity == worst]
        confirmed = any(each.confirmed for each in of_worst)
        return -worst, not confirmed, -sum(each.findings for each in of_worst), self.id


def grouped(totals: Iterable[ProblemTotals]) -> list[ProblemGroup]:
    """Return the problems of ``totals``, worst first."""
    groups: dict[str, ProblemGroup] = {}
    for each in totals:
        if not each.findings:
            continue
        problem = topics.problem_id(each.problem)
        groups.setdefault(problem, ProblemGroup(problem)).totals.append(each)
    return sorted(groups.values(), key=lambda group: group.order)


def first_to_do(groups: Iterable[ProblemGroup]) -> list[ProblemGroup]:
    """Return the first of ``groups``, which are worst first; informational ones are nothing to do."""
    return [group for group in groups if group.worst > Severity.INFO][: limits.MAX_DO_FIRST]


def described(
    website_id: int, groups: Sequence[ProblemGroup], sources: Mapping[int, SourceRow], *, status: str
) -> list[responses.Problem]:
    """Return ``groups`` as the response shows them, described by findings with ``status``."""
    statuses = [each for each in Finding.Status.values if status in (each, "all")]
    parts = [
        ProblemPart(each.problem, of_status, each.severity)
        for group in groups
        for each in group.totals
        for of_status in statuses
    ]
    by_key: dict[str, list[ProblemSample]] = defaultdict(list)
    for sample in problem_rows.samples(website_id, parts):
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
        title=topics.title_of(group.id) or shown.title,
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
        fix=first_sentence(shown.fix_start) or next(filter(None, map(_fix, newest_first)), ""),
        topic=group.id if topics.title_of(group.id) else None,
    )


def _fix(sample: ProblemSample) -> str:
    return first_sentence(sample.fix_start)


def _hosts(locations: Iterable[str]) -> list[str]:
    """Return the different hosts of ``locations``, at most a few."""
    hosts = dict.fromkeys(filter(None, map(_host, locations)))
    return list(hosts)[: limits.MAX_PROBLEM_HOSTS]


def _host(location: str) -> str:
    """Return the host of a stored location, which may lack a scheme."""
    try:
        return urlsplit(location if "//" in location else f"//{location}").hostname or ""
    except ValueError:
        return ""


def first_sentence(text: str) -> str:
    """Return the first sentence of ``text``, cut with an ellipsis where it is long."""
    match = _SENTENCE.search(text.strip())
    sentence = match.group().strip() if match else ""
    if len(sentence) <= limits.MAX_FIX_LENGTH:
        return sentence
    return sentence[: limits.MAX_FIX_LENGTH - 1].rstrip() + "\u2026"
