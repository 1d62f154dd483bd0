"""Problems: the panel of problems to fix first, and the list of problems."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils.formats import number_format
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from foundation.addresses.hosts import readable_host
from portal.pages.urls import Address
from portal.pages.view_models.answered import answer_problem_url, counted_answers
from portal.pages.view_models.findings import common_description, is_new
from portal.pages.view_models.reader import Reader
from portal.texts import labels, topics
from portal.texts.stacks import StackFix, fixes_by_stack
from signed_api.findings import DashboardResponse, Problem

MAX_WORDS = 40  # scanners' texts are cut to this number of words


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemRow:
    """One problem; ``url`` lists its findings, and ``hosts`` is empty if only the website's own host has it.

    ``notes`` counts analysts' notes about its findings; ``is_new``: first seen in the last seven days;
    ``answers`` counts the account's answers in words; ``answer_url`` answers all of its open findings.
    """

    key: str
    url: str
    severity: str
    tone: str
    title: str
    is_title_translated: bool
    fix: str
    is_fix_translated: bool
    findings: int
    locations: int
    hosts: str
    confirmed: str
    sources: str
    notes: int
    is_new: bool
    first_seen: datetime | None
    answers: str = ""
    answer_url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoFirst:
    """The panel of the worst problems: heading, time to fix them, rows, and the URL of all problems."""

    when: str
    title: str
    rows: tuple[ProblemRow, ...]
    all_url: str


def do_first(dashboard: DashboardResponse, address: Address) -> DoFirst | None:
    """Return the panel, unless no problem is open or the list is filtered."""
    worst = dashboard.dashboard.do_first
    if not worst:
        return None
    return DoFirst(
        title=_heading(dashboard),
        when=str(labels.WHEN_TO_FIX.get(worst[0].severity, "")),
        rows=problem_rows(worst, dashboard, address, prefix="do-first"),
        all_url=address.with_filters(view="problems", sort=""),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenProblem:
    """The problem that the list shows; ``fix`` is one line or empty, and ``fixes`` has code by stack.

    ``title`` is empty if the findings have different titles. Severity and ``meaning`` come from the first
    finding, and so does ``description`` if the findings share no description.
    """

    title: str
    is_title_translated: bool
    severity: str
    tone: str
    meaning: str
    description: str
    fix: str
    is_fix_translated: bool
    fixes: tuple[StackFix, ...]


def chosen_problem(dashboard: DashboardResponse, address: Address) -> ChosenProblem | None:
    """Return the problem that the filters choose, if the list has findings of it."""
    problem = address.filters.problem
    if not problem or not dashboard.threats:
        return None
    first = dashboard.threats[0]
    advice = " ".join(first.remediation.split())
    description = common_description(dashboard.threats) or first.description
    titles = problem_titles(dashboard, problem)
    return ChosenProblem(
        title=titles[0] if len(titles) == 1 else "",
        is_title_translated=bool(topics.title_of(problem)),
        severity=labels.label(labels.SEVERITIES, first.severity),
        tone=labels.tone(first.severity),
        meaning=labels.label(labels.SEVERITY_MEANINGS, first.severity),
        description=Truncator(" ".join(description.split())).words(MAX_WORDS),
        fix=topics.fix_of(problem) or Truncator(advice).words(MAX_WORDS),
        is_fix_translated=bool(topics.fix_of(problem)),
        fixes=fixes_by_stack(problem),
    )


def problem_titles(dashboard: DashboardResponse, problem: str) -> list[str]:
    """Return the title of ``problem``, or the distinct titles of its findings."""
    if title := topics.title_of(problem):
        return [title]
    known = (*dashboard.dashboard.do_first, *dashboard.dashboard.problems)
    titles = [each.title for each in known if each.id == problem] or [row.title for row in dashboard.threats]
    return list(dict.fromkeys(titles))


def problem_rows(
    problems: Iterable[Problem],
    dashboard: DashboardResponse,
    address: Address,
    *,
    prefix: str = "problem",
    answering: Reader | None = None,
) -> tuple[ProblemRow, ...]:
    """Return a row for each of ``problems``; ``prefix`` starts the rows' HTML ids.

    With ``answering``, a reader who may answer, rows have a link that does.

    The service gives hosts and first day of the whole problem, so a list filtered by host or kind omits
    them. It counts locations by host, but not by kind.
    """
    kind = address.filters.kind
    is_whole = not (address.filters.hosts or kind)
    note_counts = Counter(note.problem for note in dashboard.analyst_notes)
    today = dashboard.dashboard.generated_at.date()
    return tuple(
        ProblemRow(
            key=f"{prefix}-{problem.id}",
            url=address.of_problem(problem.id),
            severity=labels.label(labels.SEVERITIES, problem.severity),
            tone=labels.tone(problem.severity),
            title=topics.translate(problem.title),
            is_title_translated=topics.is_known(problem.title),
            fix=topics.translate(problem.fix),
            is_fix_translated=topics.is_known(problem.fix),
            findings=problem.findings,
            locations=0 if kind else problem.locations,
            hosts=_hosts(problem.hosts, dashboard.host) if is_whole else "",
            confirmed=_confirmed(problem),
            sources=", ".join(problem.source_names or problem.sources),
            notes=note_counts[problem.id],
            is_new=is_whole and is_new(problem.first_seen, today),
            first_seen=problem.first_seen if is_whole else None,
            answers=counted_answers(problem.answers),
            answer_url=answer_problem_url(problem, address, answering) if answering else "",
        )
        for problem in problems
    )


def _hosts(hosts: list[str], host: str) -> str:
    """Name two hosts, or one "and other hosts": the service sends only a few of them."""
    if hosts in ([], [host]):
        return ""
    if len(hosts) <= 2:
        return ", ".join(map(readable_host, hosts))
    return _("%(host)s and other hosts") % {"host": readable_host(hosts[0])}


def _confirmed(problem: Problem) -> str:
    """Say how many of the findings are confirmed."""
    if not problem.confirmed:
        return labels.label(labels.KINDS, "suspected")
    if problem.confirmed >= problem.findings:
        return labels.label(labels.KINDS, "confirmed")
    return _("%(count)s confirmed") % {"count": number_format(problem.confirmed)}


def _heading(dashboard: DashboardResponse) -> str:
    """Return text such as "5 problems cause all 34 Critical findings"."""
    problems = dashboard.dashboard.do_first
    severity = problems[0].severity
    same = [problem for problem in problems if problem.severity == severity]
    caused = sum(problem.worst_findings for problem in same)
    total = dashboard.summary.by_severity.get(severity, caused)
    if total == 1:
        text = _("One problem causes the only %(severity)s finding")
    elif caused >= total:
        text = ngettext(
            "%(problems)s problem causes all %(total)s %(severity)s findings",
            "%(problems)s problems cause all %(total)s %(severity)s findings",
            len(same),
        )
    else:
        text = ngettext(
            "%(problems)s problem causes %(caused)s of %(total)s %(severity)s findings",
            "%(problems)s problems cause %(caused)s of %(total)s %(severity)s findings",
            len(same),
        )
    return text % {
        "problems": len(same),
        "caused": number_format(caused),
        "total": number_format(total),
        "severity": labels.label(labels.SEVERITIES, severity),
    }
