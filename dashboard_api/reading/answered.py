"""Parts of SQL statements that join the open answers of one account to the findings of a website.

The parts contain only numbers and days of ours, so they need no parameters.
"""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from dashboard_api.backends.statements import placeholders, select, to_column, to_datetime
from dashboard_api.models import Answer, Finding, Severity
from dashboard_api.queries.credentials import AccountSite, AnswerTerms
from signed_api.answers import (
    ACCEPTED,
    LATER,
    NO_DAY,
    OVERDUE,
    THIS_WEEK,
    UNANSWERED,
    UNASSIGNED,
    AnswerSummary,
)

WEEK = timedelta(days=7)
TABLE = "dashboard_api_finding"
_ANSWERS = """
LEFT JOIN (
    SELECT finding_id AS answered_id, answer, assignee, due_on FROM dashboard_api_answer
    WHERE website_id = {website} AND account_id = {account} AND ended_at IS NULL
) AS mine ON answered_id = dashboard_api_finding.id
"""
# A finding that came back begins its days again.
_RETURNED = """
LEFT JOIN (
    SELECT finding_id AS returned_id, MAX(at) AS returned_at FROM dashboard_api_findingevent
    WHERE website_id = {website} AND event = 'regressed' GROUP BY finding_id
) AS returned ON returned_id = dashboard_api_finding.id
"""
_DUE = f"""
CASE WHEN status <> 'open' OR answer = '{ACCEPTED}' THEN '{NO_DAY}'
WHEN due_on < '{{today}}' THEN '{OVERDUE}' WHEN due_on < '{{next_week}}' THEN '{THIS_WEEK}'
WHEN due_on IS NOT NULL THEN '{LATER}'{{by_rule}} ELSE '{NO_DAY}' END
"""


class Answered(NamedTuple):
    """Parts of statements: the tables to read from, and three expressions for each finding.

    ``tables_for_days`` are needed for ``due``; ``tables`` are enough for the other two, and for none of them
    ``TABLE``. ``is_used`` is false for an account that never answered and has no rules: the expressions are
    constant.
    """

    tables: str = TABLE
    tables_for_days: str = TABLE
    answer: str = f"'{UNANSWERED}'"
    assignee: str = f"'{UNASSIGNED}'"
    due: str = f"'{NO_DAY}'"
    is_used: bool = False


NO_ANSWERS = Answered()


def answered_by(link: AccountSite, now: datetime) -> Answered:
    """Return the parts for the account and the website of ``link`` at ``now``."""
    terms = link.answers
    if not terms.version and not any(terms.days()):
        return NO_ANSWERS
    today = terms.today(now)
    days = {severity: count for severity, count in zip(_BY_DAYS, terms.days(), strict=True) if count}
    tables = tables_for_days = TABLE + _ANSWERS.format(website=link.website_id, account=link.account_id)
    by_rule = ""
    if days:
        tables_for_days += _RETURNED.format(website=link.website_id)
        by_rule = (
            f" WHEN {_opened_before(days, today, terms)} THEN '{OVERDUE}'"
            f" WHEN {_opened_before(days, today + WEEK, terms)} THEN '{THIS_WEEK}'"
            f" WHEN severity IN ({', '.join(map(str, days))}) THEN '{LATER}'"
        )
    return Answered(
        tables=tables,
        tables_for_days=tables_for_days,
        answer=f"COALESCE(answer, '{UNANSWERED}')",
        assignee=f"COALESCE(NULLIF(assignee, ''), '{UNASSIGNED}')",
        due=_DUE.format(today=today, next_week=today + WEEK, by_rule=by_rule),
        is_used=True,
    )


_BY_DAYS = [severity.value for severity in sorted(Severity, reverse=True) if severity > Severity.INFO]


def _opened_before(days: dict[int, int], day: date, terms: AnswerTerms) -> str:
    """Return the condition that a finding's days have passed before ``day`` begins."""
    return " OR ".join(
        f"severity = {severity} AND COALESCE(returned_at, first_seen) < "
        f"'{to_column(terms.begin_of(day - timedelta(days=count)))}'"
        for severity, count in days.items()
    )


class RowAnswer(NamedTuple):
    """The open answer to a finding in a list, and the day by which it is due."""

    answer: AnswerSummary | None
    due: date | None


NOT_ANSWERED = RowAnswer(None, None)
_OF_ROWS = """
SELECT finding_id, answer, due_on, until, assignee FROM dashboard_api_answer
WHERE account_id = %s AND ended_at IS NULL AND finding_id IN ({ids})
"""
_RETURNED_AT = """
SELECT finding_id, MAX(at) FROM dashboard_api_findingevent
WHERE finding_id IN ({ids}) AND event = 'regressed' GROUP BY finding_id
"""


class Opened(NamedTuple):
    """The columns of a finding that decide its day by the account's rules."""

    pk: int
    severity: int
    status: str
    first_seen: datetime


def answers_of_rows(link: AccountSite, rows: Sequence[Opened]) -> dict[int, RowAnswer]:
    """Return the open answers and the days of these findings, by id."""
    terms = link.answers
    ids = [row.pk for row in rows]
    if not ids or not (terms.version or any(terms.days())):
        return {}
    found = select(Answer, _OF_ROWS.format(ids=placeholders(ids)), [link.account_id, *ids])
    answers = {
        pk: AnswerSummary(answer=answer, due=due, until=until, assignee=assignee)
        for pk, answer, due, until, assignee in found
    }
    returned_at = {}
    if any(terms.days()):
        returned_at = dict(select(Finding, _RETURNED_AT.format(ids=placeholders(ids)), ids))
    return {
        row.pk: RowAnswer(
            answers.get(row.pk),
            due_on(terms, row, answers.get(row.pk), returned_at=to_datetime(returned_at.get(row.pk))),
        )
        for row in rows
    }


def due_on(
    terms: AnswerTerms, row: Opened, answer: AnswerSummary | None, *, returned_at: datetime | None
) -> date | None:
    """Return the day by which an open finding is due, if it has one; accepted ones have none."""
    if row.status != Finding.Status.OPEN or (answer is not None and answer.answer == ACCEPTED):
        return None
    if answer is not None and answer.due is not None:
        return answer.due
    days = dict(zip(_BY_DAYS, terms.days(), strict=True)).get(row.severity, 0)
    opened_on = (returned_at or row.first_seen).astimezone(ZoneInfo(terms.time_zone)).date()
    return opened_on + timedelta(days=days) if days else None
