"""The whole website at a glance: grade and counts, coverage, plan; and what an empty list means."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal import labels
from portal.forms import Address, Filters
from portal.gateway.messages import CoverageEntry, Dashboard, Entitlement

SOON_DAYS = 14
RECENT_DAYS = 7  # what the service counts as new


@dataclass(frozen=True, slots=True, kw_only=True)
class SeverityCount:
    """Open findings of one severity; without an address there is none to show."""

    key: str
    label: str
    tone: str
    count: int
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The summary strip; where nothing was ever checked there is nothing to count.

    ``grade_text``: the grade, perhaps "so far"; ``new_url``: the page of new findings.
    """

    grade: str
    grade_text: str
    grade_title: str
    grade_meaning: str
    new_url: str
    is_checked: bool
    open: int
    severities: tuple[SeverityCount, ...]
    new: int
    fixed: int
    oldest_days: int | None
    last_scan_at: datetime | None
    coverage: str
    coverage_tone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageRow:
    """The coverage of one engine; ``remark``, on the first unchecked row: what "not checked" means."""

    source: str
    state: str
    tone: str
    last_run_at: datetime | None
    urls_checked: int | None
    findings: int | None
    version: str
    detail: str
    due_on: date | None
    is_overdue: bool
    remark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The account's plan: the last day of its results, or the day after which it renews."""

    name: str
    state: str
    tone: str
    is_overdue: bool
    renews_after: date | None
    until: date | None
    days_left: int | None
    ends_soon: bool
    sites_used: int | None
    sites_limit: int | None
    features: tuple[str, ...]
    renew_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Emptiness:
    """Why the list is empty: good news, no news, or filters that nothing matches."""

    tone: str
    title: str
    text: str = ""
    checked_at: datetime | None = None
    checked_by: str = ""
    way_out: str = ""
    way_out_url: str = ""


def overview(dashboard: Dashboard, address: Address) -> Overview:
    """The summary of ``dashboard``, whatever its filters."""
    grade, summary = dashboard.dashboard.grade or "", dashboard.summary
    tone, text = coverage_verdict(dashboard.coverage)
    grade_text = _("%(grade)s so far") % {"grade": grade} if dashboard.dashboard.grade_provisional else grade
    return Overview(
        grade=grade,
        grade_text=grade_text,
        grade_title=_("Grade %(grade)s") % {"grade": grade_text} if grade else _("Not graded yet"),
        grade_meaning=labels.word(labels.GRADE_MEANINGS, grade)
        if grade
        else first_check_text(summary.first_check_by) or _("No check has been completed"),
        new_url=str(replace(address, path=f"{address.path}news/", filters=Filters())),
        is_checked=is_checked(dashboard),
        open=summary.open,
        severities=tuple(
            SeverityCount(
                key=f"open-{severity.lower()}",
                label=labels.word(labels.SEVERITIES, severity),
                tone=labels.tone(severity),
                count=summary.by_severity.get(severity, 0),
                url=address.to(status="", severity=severity, kind="", source="", query="")
                if summary.by_severity.get(severity)
                else "",
            )
            for severity in labels.SEVERITIES
        ),
        new=summary.new_7d,
        fixed=summary.fixed_7d,
        oldest_days=summary.oldest_open_days,
        last_scan_at=summary.last_scan_at,
        coverage=text,
        coverage_tone=tone,
    )


def first_check_text(due: date | None) -> str:
    """Say when the first check is due, or that it is late; empty where no first check is expected."""
    if due is None:
        return ""
    is_late = due < timezone.now().date()
    text = _("First check overdue since %(day)s") if is_late else _("First check by %(day)s")
    return text % {"day": labels.day_of_year(due)}


def is_checked(dashboard: Dashboard) -> bool:
    """Whether any engine has looked at the website, so that a zero means something."""
    return (
        dashboard.dashboard.grade is not None
        or dashboard.summary.open > 0
        or any(entry.state in ("ok", "partial") for entry in dashboard.coverage)
    )


def coverage_verdict(entries: Iterable[CoverageEntry]) -> tuple[str, str]:
    """The tone and the words for all engines together."""
    entries = list(entries)
    states = [entry.state for entry in entries]
    done = states.count("ok")
    if not states or set(states) == {"never"}:
        return "never", _("Not checked yet")
    if any(entry.stale for entry in entries):
        return "partial", _("A check is overdue")
    if done == len(states):
        return "ok", ngettext("Checked by %(all)s engine", "Checked by all %(all)s engines", done) % {
            "all": done
        }
    return "partial", _("%(done)s of %(all)s engines completed") % {"done": done, "all": len(states)}


def coverage_rows(entries: Iterable[CoverageEntry]) -> tuple[CoverageRow, ...]:
    """One row for each engine."""
    entries = list(entries)
    unchecked = next((entry for entry in entries if entry.last_run_at is None), None)
    return tuple(
        CoverageRow(
            source=entry.source_name,
            state=labels.word(labels.COVERAGE_STATES, entry.state),
            tone=entry.state if entry.state in labels.COVERAGE_STATES else "never",
            last_run_at=entry.last_run_at,
            urls_checked=entry.urls_checked,
            findings=entry.findings,
            version=entry.version,
            detail=entry.detail,
            due_on=entry.next_due_on,
            is_overdue=entry.stale,
            remark=_("“Not checked” does not mean clean: nothing is known yet.")
            if entry is unchecked
            else "",
        )
        for entry in entries
    )


def plan(entitlement: Entitlement, *, today: date) -> Plan:
    """Return the account's plan as it is ``today``, and whether its results end soon."""
    is_overdue = entitlement.status == "past_due"
    until = entitlement.usable_until or (None if is_overdue else entitlement.ends_on)
    renews_after = entitlement.ends_on if entitlement.renews and not is_overdue else None
    if renews_after and today <= renews_after:
        until = None
    else:
        renews_after = None
    days_left = max((until - today).days, 0) if until else None
    ends_soon = days_left is not None and days_left <= SOON_DAYS
    needs_care = ends_soon or entitlement.status not in ("active", "trialing")
    return Plan(
        name=entitlement.plan.replace("_", " ").capitalize(),
        state=labels.word(labels.PLAN_STATES, entitlement.status),
        tone="partial" if needs_care else "ok",
        is_overdue=is_overdue,
        renews_after=renews_after,
        until=until,
        days_left=days_left,
        ends_soon=ends_soon,
        sites_used=entitlement.sites_used,
        sites_limit=entitlement.sites_limit,
        features=tuple(labels.word(labels.FEATURES, feature) for feature in entitlement.features),
        renew_url=settings.RENEW_URL if needs_care else "",
    )


def emptiness(dashboard: Dashboard, address: Address, *, hears: bool = False) -> Emptiness:
    """Explain an empty page of the list, without a claim that the checks do not support.

    ``hears``: the reader gets e-mails about this website.
    """
    if dashboard.dashboard.total:
        last = dashboard.dashboard.page_count
        return Emptiness(
            tone="none",
            title=_("There is no such page"),
            text=ngettext("The list has %(last)s page.", "The list has %(last)s pages.", last)
            % {"last": last},
            way_out=_("Go to the last page"),
            way_out_url=address.to(page=last),
        )
    if address.filters.active.keys() == {"status"} and address.filters.status in labels.NOTHING_OF_STATUS:
        return _nothing_of(address.filters.status, address)
    if address.filters.active.keys() - {"status"}:
        return Emptiness(
            tone="none",
            title=_("Nothing matches these filters"),
            text=_("Remove one of them, or clear them all, to see more."),
        )
    if not is_checked(dashboard):
        return _not_checked(dashboard.summary.first_check_by, hears=hears)
    return _good_news(dashboard.coverage)


def _not_checked(due: date | None, *, hears: bool) -> Emptiness:
    """Say that no check was completed, and when the first one is due."""
    if due is None:
        text = _("No check of this website has been completed, so we cannot say whether it is clean.")
    elif due < timezone.now().date():
        text = _("The first check was due by %(day)s. If it does not come soon, ask support.")
    elif hears:
        text = _("First check by %(day)s. We will write to you if it finds something serious.")
    else:
        text = _("First check by %(day)s. You will see here what it finds.")
    return Emptiness(
        tone="never", title=_("Not checked yet"), text=text % {"day": labels.day(due)} if due else text
    )


def _nothing_of(status: str, address: Address) -> Emptiness:
    """None of the findings became this."""
    return Emptiness(
        tone="none",
        title=labels.word(labels.NOTHING_OF_STATUS, status),
        text=_("Findings are listed here once this is what became of them: %(meaning)s")
        % {"meaning": labels.word(labels.STATUS_MEANINGS, status)},
        way_out=_("Show what is open"),
        way_out_url=address.to(status=""),
    )


def _good_news(entries: Iterable[CoverageEntry]) -> Emptiness:
    entries = list(entries)
    done = [entry for entry in entries if entry.state == "ok"]
    missing = [entry.source_name for entry in entries if entry.state != "ok"]
    overdue = [entry.source_name for entry in done if entry.stale]
    if overdue and not missing:
        return Emptiness(
            tone="partial",
            title=_("No threats found when it was last checked"),
            text=_("Since then a check is overdue: %(engines)s.") % {"engines": ", ".join(overdue)},
        )
    if missing:
        return Emptiness(
            tone="partial",
            title=_("No threats found so far"),
            text=_("Not everything could be checked yet: %(engines)s.") % {"engines": ", ".join(missing)},
        )
    return Emptiness(
        tone="ok",
        title=_("No threats found"),
        checked_at=max((entry.last_run_at for entry in done if entry.last_run_at), default=None),
        checked_by=", ".join(entry.source_name for entry in done),
    )
