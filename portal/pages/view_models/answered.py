"""Answers in the lists: of a finding, of a problem, of the website, and the bar that answers many."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.pages.forms import NOT_ACCEPTED, Filters
from portal.pages.urls import Address
from portal.pages.view_models.reader import Reader
from portal.texts import labels
from signed_api.answers import (
    ACCEPTED,
    DISPUTED,
    FIXED,
    NO_DAY,
    OVERDUE,
    THIS_WEEK,
    UNANSWERED,
    WAITING,
    WILL_FIX,
)
from signed_api.findings import DashboardResponse, Facets, Problem, Summary, Threat
from signed_api.limits import MAX_ANSWERED_AT_ONCE


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerBadge:
    """The open answer to a finding in a list; ``text`` is empty for a finding that only has a day."""

    text: str
    day: str
    is_overdue: bool
    assignee: str

    @property
    def details(self) -> str:
        """The day and the person, as one text."""
        return " · ".join(filter(None, (self.day, self.assignee)))

    def __str__(self) -> str:
        return " · ".join(filter(None, (self.text, self.details)))


def answer_badge(threat: Threat, reader: Reader, today: date) -> AnswerBadge | None:
    """Return the open answer to ``threat``, or its day; None if it has neither."""
    answer = threat.answer
    if answer is None and threat.due is None:
        return None
    is_overdue = threat.due is not None and threat.due < today
    if threat.due:
        text = _("Overdue since %(day)s") if is_overdue else _("Due by %(day)s")
        day = text % {"day": labels.day(threat.due)}
    else:
        day = _("until %(day)s") % {"day": labels.day(answer.until)} if answer and answer.until else ""
    return AnswerBadge(
        text=labels.label(labels.ANSWERS, answer.answer) if answer else "",
        day=day,
        is_overdue=is_overdue,
        assignee=reader.label(answer.assignee) if answer and answer.assignee else "",
    )


def counted_answers(answers: Mapping[str, int]) -> str:
    """Return text such as "12 accepted · 3 disputed"; empty without answers."""
    return " · ".join(
        _counted(answer, count) for answer, count in answers.items() if count and answer != UNANSWERED
    )


def _counted(value: str, count: int) -> str:
    """Return a number of findings with an answer or a day as text."""
    texts = {
        WILL_FIX: ngettext("%(count)s will be fixed", "%(count)s will be fixed", count),
        ACCEPTED: ngettext("%(count)s accepted", "%(count)s accepted", count),
        WAITING: ngettext("%(count)s waits for a second person", "%(count)s wait for a second person", count),
        DISPUTED: ngettext("%(count)s disputed", "%(count)s disputed", count),
        FIXED: ngettext("%(count)s said to be fixed", "%(count)s said to be fixed", count),
        OVERDUE: ngettext("%(count)s overdue", "%(count)s overdue", count),
        THIS_WEEK: ngettext("%(count)s due this week", "%(count)s due this week", count),
    }
    text = texts.get(value) or f"%(count)s × {labels.label(labels.ANSWERS, value)}"
    return text % {"count": number_format(count)}


@dataclass(frozen=True, slots=True, kw_only=True)
class CountLink:
    """A number of findings as text, and the URL of their list."""

    key: str
    text: str
    url: str
    is_overdue: bool = False


def answer_links(summary: Summary, address: Address) -> tuple[CountLink, ...]:
    """Return links to the website's answered findings by answer, then to those that are due."""
    answered = [
        CountLink(
            key=f"answered-{answer}",
            text=_counted(answer, count),
            url=str(replace(address, filters=Filters(answer=answer))),
        )
        for answer, count in summary.answers.items()
        if count and answer != UNANSWERED
    ]
    return (*answered, *due_links(summary, address))


def due_links(summary: Summary, address: Address) -> tuple[CountLink, ...]:
    """Return links to the website's overdue findings, and to those due this week."""
    counts = {OVERDUE: summary.overdue, THIS_WEEK: summary.due_this_week}
    return tuple(
        CountLink(
            key=f"due-{due}",
            text=_counted(due, count),
            url=str(replace(address, filters=Filters(due=due))),
            is_overdue=due == OVERDUE,
        )
        for due, count in counts.items()
        if count
    )


def fix_times(summary: Summary) -> tuple[str, ...]:
    """Return texts such as "High: 3 days (12 fixed)"."""
    return tuple(
        ngettext(
            "%(severity)s: %(days)s day (%(fixed)s fixed)",
            "%(severity)s: %(days)s days (%(fixed)s fixed)",
            int(each.median_days),
        )
        % {
            "severity": labels.label(labels.SEVERITIES, each.severity),
            "days": number_format(each.median_days),
            "fixed": number_format(each.findings),
        }
        for each in summary.fix_times
    )


def has_answers(dashboard: DashboardResponse, filters: Filters) -> bool:
    """Return whether filters by answer, day and assignee are of use: the account answers, or has rules."""
    values = dashboard.dashboard.facets
    is_answered = any(count for answer, count in dashboard.summary.answers.items() if answer != UNANSWERED)
    has_days = any(value.count for value in values.due if value.value != NO_DAY)
    is_due = bool(dashboard.summary.overdue or dashboard.summary.due_this_week)
    return is_answered or has_days or is_due or bool(filters.answer or filters.due or filters.assignee)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortcut:
    """A filter in one click; ``count`` is unknown for the switch, and without a ``url`` nothing matches."""

    key: str
    text: str
    url: str
    is_active: bool
    count: int | None = None


def shortcuts(values: Facets, address: Address, reader: Reader) -> tuple[Shortcut, ...]:
    """Return "Overdue", "Mine" and the switch that hides accepted risks."""
    filters = address.filters
    counts = {value.value: value.count for value in (*values.due, *values.assignee)}
    overdue, mine = counts.get(OVERDUE, 0), counts.get(reader.me, 0)
    is_mine = filters.of_person(reader.me).assignee == reader.me != ""
    is_overdue = filters.due == OVERDUE
    return (
        Shortcut(
            key="shortcut-overdue",
            text=_("Overdue"),
            count=overdue,
            url=address.with_filters(due="" if is_overdue else OVERDUE) if overdue or is_overdue else "",
            is_active=is_overdue,
        ),
        *(
            [
                Shortcut(
                    key="shortcut-mine",
                    text=_("Mine"),
                    count=mine,
                    url=address.with_filters(assignee="" if is_mine else reader.filter_value(reader.me))
                    if mine or is_mine
                    else "",
                    is_active=is_mine,
                )
            ]
            if reader.me
            else []
        ),
        Shortcut(
            key="shortcut-accepted",
            text=_("Hide accepted risks"),
            url=address.with_filters(answer="" if filters.hides_accepted else NOT_ACCEPTED),
            is_active=filters.hides_accepted,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkAnswer:
    """A bar to answer chosen findings; ``all_url`` answers all matching ones, or is empty.

    ``account`` is a field of the form for a website in several accounts.
    """

    url: str
    account: str
    all_url: str
    all_text: str


def bulk_answer(dashboard: DashboardResponse, address: Address, reader: Reader) -> BulkAnswer | None:
    """Return the bar for a list with open findings; the service answers all only under filters."""
    filters, total = address.filters, dashboard.dashboard.total
    if not any(threat.status == labels.OPEN for threat in dashboard.threats):
        return None
    may_all = filters.active and not filters.status and 1 < total <= MAX_ANSWERED_AT_ONCE
    text = ngettext("Answer the %(count)s that matches", "Answer all %(count)s that match", total)
    return BulkAnswer(
        url=f"{address.path}answer/",
        account=address.account,
        all_url=replace(address, filters=filters.of_person(reader.me)).of_answer() if may_all else "",
        all_text=text % {"count": number_format(total)},
    )


def answer_problem_url(problem: Problem, address: Address, reader: Reader) -> str:
    """Return the URL that answers the open findings of ``problem`` under the filters of the list.

    Empty for a list of findings that are not open, and for an invalid id.
    """
    if address.filters.status or not address.of_problem(problem.id):
        return ""
    filters = replace(address.filters.of_person(reader.me), problem=problem.id, view="")
    return replace(address, filters=filters).of_answer()
