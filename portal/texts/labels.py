"""Labels for the service's values; unknown values appear as the service writes them."""

from collections.abc import Mapping
from datetime import date, datetime
from functools import lru_cache

from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext, ngettext
from django.utils.translation import gettext_lazy as _

SEVERITIES = {
    "Critical": _("Critical"),
    "High": _("High"),
    "Medium": _("Medium"),
    "Low": _("Low"),
    "Info": _("Info"),
}
SEVERITY_MEANINGS = {
    "Critical": _("Can be used against you right now. Fix it today."),
    "High": _("A serious weakness. Fix it this week."),
    "Medium": _("Helps an attacker in combination with other weaknesses. Plan the fix."),
    "Low": _("A small weakness. Fix it when you next work on that part."),
    "Info": _("Good to know. Nothing to fix."),
}
WHEN_TO_FIX = {"Critical": _("today"), "High": _("this week")}
FIX_WHEN = {"Critical": _("Fix today:"), "High": _("Fix this week:")}
KINDS = {
    "confirmed": _("Confirmed"),
    "suspected": _("Suspected"),
    "informational": _("Informational"),
}
KIND_MEANINGS = {
    "confirmed": _("The check proved that the problem is there."),
    "suspected": _("There are signs of the problem; someone should check."),
    "informational": _("Good to know; not a problem by itself."),
}
VERIFIED = _("Verified by an analyst")  # instead of Confirmed
VERIFIED_MEANING = _("One of our analysts checked it: the problem is there.")
FILTERS = {
    "status": _("Status"),
    "severity": _("Severity"),
    "kind": _("Confidence"),
    "source": _("Scanner"),
    "hosts": _("Host"),
    "answer": _("Answer"),
    "due": _("Due"),
    "assignee": _("Assigned to"),
    "since": _("First seen"),
    "fixed": _("Fixed"),
    "problem": _("Problem"),
    "query": _("Search"),
}
WORST = "worst"
SORTS = {
    WORST: _("Worst first"),
    "newest": _("Newest first"),
    "oldest": _("Oldest first"),
}
MOST_LOCATIONS = "locations"
PROBLEM_SORTS = {**SORTS, MOST_LOCATIONS: _("Most locations")}
PERIODS = {
    "1": _("Today"),
    "7": _("Last 7 days"),
    "30": _("Last 30 days"),
}
AGE_PERIODS = {  # the filter ``since`` for each age in the service's chart
    "Up to 7 days": "0-7",
    "8 to 30 days": "8-30",
    "31 to 90 days": "31-90",
    "91 to 365 days": "91-365",
    "Over 365 days": "366-",
}
OPEN = "open"
STATUSES = {
    OPEN: _("Open"),
    "fixed": _("Fixed"),
    "accepted_risk": _("Accepted risk"),
    "false_positive": _("False positive"),
    "all": _("All"),
}
STATUS_MEANINGS = {
    "open": _("Still there at the last scan."),
    "fixed": _("A complete scan no longer found it."),
    "accepted_risk": _("Known, and accepted for a reason."),
    "false_positive": _("Looked like a problem, but is not one."),
    "all": _("With any status."),
}
EMPTY_STATUSES = {
    "fixed": _("Nothing has been fixed yet"),
    "accepted_risk": _("No risk has been accepted"),
    "false_positive": _("No false positives"),
}
ANSWERS = {
    "none": _("Not answered"),
    "will_fix": _("Will be fixed"),
    "accepted": _("Risk accepted"),
    "waiting": _("Waits for a second person"),
    "disputed": _("Disputed"),
    "fixed": _("Said to be fixed"),
}
DUE = {
    "overdue": _("Overdue"),
    "this_week": _("Due this week"),
    "later": _("Due later"),
    "none": _("No due date"),
}
EVENTS = {
    "first_seen": _("First seen"),
    "last_seen": _("Last seen"),
    "fixed": _("Fixed"),
    "regressed": _("Found again"),
    "false_positive": _("Marked as a false positive"),
    "accepted_risk": _("Risk accepted"),
    "reconsidered": _("Reopened by an analyst"),
    "decision_expired": _("The decision expired"),
    "rated": _("Severity changed by an analyst"),
    "confirmed": VERIFIED,
    "unconfirmed": _("No longer verified by an analyst"),
}
CHARTS = {
    "open": _("Open, week by week"),
    "trend": _("New and fixed, week by week"),
    "age": _("Age of open findings"),
}
AGES = {
    "Up to 7 days": _("Up to 7 days"),
    "8 to 30 days": _("8 to 30 days"),
    "31 to 90 days": _("31 to 90 days"),
    "91 to 365 days": _("91 to 365 days"),
    "Over 365 days": _("Over 365 days"),
}
SERIES = {**SEVERITIES, "New": _("New"), "Fixed": _("Fixed"), "Findings": _("Findings")}
COVERAGE_STATES = {
    "ok": _("Scanned"),
    "partial": _("Partly scanned"),
    "failed": _("Scan failed"),
    "never": _("Not scanned"),
}
PLAN_STATES = {
    "trialing": _("Trial"),
    "active": _("Active"),
    "past_due": _("Payment overdue"),
    "suspended": _("Suspended"),
    "expired": _("Expired"),
}
LIMITS = {
    "websites": _("Websites"),
    "calls_per_day": _("Calls a day"),
    "scans_per_month": _("Scans a month"),
    "seats": _("Members"),
}
FEATURES = {
    "scans_daily": _("Scheduled scans, up to daily"),
    "deep_scans": _("Deep scans"),
}
REFUSALS = {
    "inactive_entitlement": (_("Plan not active"), _("Renew the plan to see the results again.")),
    "plan_suspended": (_("Plan suspended"), _("Contact us to see the results again.")),
    "plan_not_started": (_("Plan not started"), _("Its results appear on the first day of your plan.")),
    "websites_limit": (_("Paused"), _("Your plan includes fewer websites than you have.")),
    "revoked_link": (_("Removed by our team"), _("Its page says what to do.")),
    "unknown_link": (_("Not active"), _("Its results appear here once it is active again.")),
}
NOT_LINKED = {  # advice by the reason of a revoked link, on the pages of the website and of its proof
    "by_operator": _("It is verified, but our team removed it from your organization: contact support."),
    "proof_awaited": _("It is no longer in your organization, and its new proof is not complete."),
    "claim_ended": _("Its proof has ended. Add the website again if it is yours."),
    "taken_over": _(
        "Another organization verified this website and owns it now. It cannot see your results, which "
        "are in our archive. If the website is yours, contact support, or add it again and prove it."
    ),
}
GRADE_MEANINGS = {
    "A": _("In good shape"),
    "B": _("Minor problems only"),
    "C": _("Some problems need attention"),
    "D": _("Serious problems are open"),
    "F": _("Critical problems are open"),
}
ROLES = {
    "owner": _("Owner"),
    "manager": _("Manager"),
    "contributor": _("Contributor"),
    "viewer": _("Viewer"),
}
ROLE_MEANINGS = {
    "owner": _("Does what a manager does, and manages the members."),
    "manager": _("Sees the websites and the members, adds websites, starts scans and shares findings."),
    "contributor": _("Sees the websites, says what will be done about findings, and writes to analysts."),
    "viewer": _("Sees the websites."),
}


def label(table: Mapping[str, str | Promise], value: str, default: str = "") -> str:
    """Return the label of ``value``, or ``default``, or the value in readable form."""
    if value in table:
        return str(table[value])
    return default or value.replace("_", " ").capitalize()


def period(value: str) -> str:
    """Return text such as "Last 7 days", "8 to 30 days ago" and "Over 365 days ago"."""
    if value in PERIODS:
        return str(PERIODS[value])
    first, dash, last = value.partition("-")
    if not dash:
        return ngettext("Last %(days)s day", "Last %(days)s days", int(first)) % {"days": first}
    if last and first == "0":
        return gettext("Up to %(days)s days ago") % {"days": last}
    if last:
        return gettext("%(first)s to %(last)s days ago") % {"first": first, "last": last}
    return gettext("Over %(days)s days ago") % {"days": int(first) - 1}


def tone(severity: str) -> str:
    """Return the CSS class of a severity."""
    return severity.lower() if severity in SEVERITIES else "info"


def severity_rank(severity: str) -> int:
    """Return the rank of ``severity``: 0 is the worst, and unknown severities come last."""
    severities = list(SEVERITIES)
    return severities.index(severity) if severity in severities else len(severities)


def day(at: date) -> str:
    """Return text such as 3 Nov 2026."""
    return _formatted(at.year, at.month, at.day, "DATE_FORMAT", get_language())


def day_and_month(at: date) -> str:
    """Return text such as 3 Nov."""
    return _formatted(at.year, at.month, at.day, "MONTH_DAY_FORMAT", get_language())


def moment(at: datetime) -> str:
    """Return text such as 3 Nov 2026, 14:05."""
    return date_format(at, "DATETIME_FORMAT")


@lru_cache(maxsize=2_000)
def _formatted(year: int, month: int, number: int, style: str, language: str | None) -> str:  # noqa: ARG001  # for the cache
    """Format a day in the current language; cached, because a dashboard repeats most of its 150 days."""
    return date_format(date(year, month, number), style)
