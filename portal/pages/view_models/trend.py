"""The trend of a website: previous grade, fixes until the next grade, open findings over 90 days."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import takewhile

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.charts import StepLine, draw_steps
from portal.pages.forms import Filters
from portal.pages.urls import Address
from portal.texts import labels
from signed_api.findings import DashboardResponse, HistoryDay, NextGrade

PERIOD = timedelta(days=90)  # length of the service's history
# Findings of which severity keep the website at a grade
_DECIDING_SEVERITY = {"F": "Critical", "D": "High", "C": "Medium", "B": "Low"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """The trend of a website; ``line`` needs at least two days of history.

    ``earlier`` names the previous grade, ``next_step`` the fixes until the next grade; each may be empty.
    ``next_url`` lists the findings to fix. If it lists others as well, ``next_remark`` says so.
    """

    earlier: str
    next_step: str
    next_url: str
    next_remark: str
    line: StepLine | None
    line_title: str
    line_text: str


def trend(dashboard: DashboardResponse, address: Address) -> Trend | None:
    """Return the trend of the website at ``address``, if it has a grade."""
    grade = dashboard.dashboard.grade
    if grade is None:
        return None
    summary = dashboard.summary
    today = dashboard.dashboard.generated_at.date()
    history = [entry for entry in summary.history if today - PERIOD <= entry.day <= today]
    days_of_grade = list(takewhile(lambda entry: entry.grade == grade, reversed(history)))
    days_of_grade.reverse()
    days_before = history[: len(history) - len(days_of_grade)]
    deciding, next_remark = _deciding_findings(dashboard)
    return Trend(
        earlier=_earlier(days_before[-1].grade, until=days_of_grade[0].day)
        if days_before and days_of_grade
        else "",
        next_step=_next_step(summary.next_grade, days_of_grade),
        next_url=str(replace(address, filters=deciding)),
        next_remark=next_remark,
        line=_line(history, today) if len(history) > 1 else None,
        line_title=_("Open findings in the last 90 days"),
        line_text="; ".join(
            f"{labels.day_and_month(entry.day)}: {number_format(entry.open)} ({entry.grade})"
            for entry in history
        ),
    )


def _earlier(grade: str, *, until: date) -> str:
    last_day = until - timedelta(days=1)
    return _("Grade %(grade)s until %(day)s") % {"grade": grade, "day": labels.day_and_month(last_day)}


def _next_step(next_grade: NextGrade | None, days_of_grade: Sequence[HistoryDay]) -> str:
    """Say how many fixes the next grade needs, and the highest number since the current grade began."""
    if next_grade is None:
        return ""
    most = max(days_of_grade, key=lambda entry: entry.fixes, default=None)
    text = ngettext(
        "%(count)s fix away from grade %(grade)s",
        "%(count)s fixes away from grade %(grade)s",
        next_grade.fixes,
    )
    text %= {"count": number_format(next_grade.fixes), "grade": next_grade.grade}
    if most is None or most.fixes <= next_grade.fixes:
        return text
    before = {"count": number_format(most.fixes), "day": labels.day_and_month(most.day)}
    return text + " " + _("(%(count)s on %(day)s)") % before


def _deciding_findings(dashboard: DashboardResponse) -> tuple[Filters, str]:
    """Return filters for the findings that decide the grade, and a remark if they list others as well.

    A suspected finding counts as the next milder severity, so suspected findings of the severity above can
    decide as well. Filters cannot choose a kind for only one severity: then they list both severities.
    """
    counts, next_grade = dashboard.summary.by_severity, dashboard.summary.next_grade
    severity = _DECIDING_SEVERITY.get(dashboard.dashboard.grade or "")
    if severity is None or next_grade is None:
        return Filters(), ""
    names = list(labels.SEVERITIES)
    above = names[max(names.index(severity) - 1, 0)]
    if above == severity or not counts.get(above):
        return Filters(severity=severity, kind="confirmed,informational"), ""
    filters = Filters(severity=f"{above},{severity}")
    if counts[above] + counts.get(severity, 0) == next_grade.fixes:
        return filters, ""
    words = {"above": labels.SEVERITIES[above], "same": labels.SEVERITIES[severity]}
    return filters, _("among the %(above)s and %(same)s findings") % words


def _line(history: Sequence[HistoryDay], today: date) -> StepLine:
    """Return the line from the first known day to today, scaled to the largest number."""
    first = history[0].day
    length = max((today - first).days, 1)
    most = max(entry.open for entry in history) or 1
    return draw_steps(
        [((entry.day - first).days, 100 * entry.open / most) for entry in history], length=length
    )
