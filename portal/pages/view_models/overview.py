"""The overview of a website: grade, counts, coverage and plan; and the explanation of an empty list."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from foundation.texts.stored_texts import translate
from portal.models.summaries import Headline
from portal.pages.forms import PROBLEMS, Filters
from portal.pages.urls import Address, renewal_url
from portal.pages.view_models.answered import CountLink, answer_links, fix_times
from portal.pages.view_models.trend import Trend, trend
from portal.texts import labels
from signed_api.findings import Chart, CoverageEntry, DashboardResponse, Entitlement, LimitState

SOON_DAYS = 14  # a plan that ends within this time needs attention
RECENT_DAYS = 7  # the service counts new and fixed findings over this period


@dataclass(frozen=True, slots=True, kw_only=True)
class SeverityCount:
    """The number of open findings of one severity; ``url`` lists them, and is empty for zero."""

    key: str
    label: str
    tone: str
    count: int
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The summary strip; counts mean something only if ``is_checked``.

    ``grade_text`` is the grade, or the grade "so far". ``new_url`` is the page of new findings, empty in the
    sample. The other URLs list open findings, recently fixed findings, and the oldest findings first.
    ``answers`` counts open answers and due findings; ``fix_times`` has the median days to fix by severity.
    """

    grade: str
    grade_text: str
    grade_title: str
    grade_meaning: str
    new_url: str
    open_url: str
    fixed_url: str
    oldest_url: str
    is_checked: bool
    open: int
    severities: tuple[SeverityCount, ...]
    new: int
    new_open: int | None
    fixed: int
    oldest_days: int | None
    last_scan_at: datetime | None
    coverage: str
    coverage_tone: str
    trend: Trend | None
    answers: tuple[CountLink, ...]
    fix_times: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageRow:
    """The coverage of one scanner; ``url`` lists its findings, and is empty without findings.

    ``is_unscheduled``: it has run, but no next run is planned. ``remark`` explains "not scanned" on the first
    row without a run.
    """

    source: str
    state: str
    tone: str
    last_run_at: datetime | None
    urls_checked: int | None
    findings: int | None
    url: str
    version: str
    detail: str
    due_on: date | None
    is_overdue: bool
    is_unscheduled: bool = False
    remark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The account's plan; at most one of ``until`` (last day of results) and ``renews_after`` is set.

    ``limits`` names limits that are nearly or fully used.
    """

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
    limits: tuple[str, ...]
    features: tuple[str, ...]
    renew_url: str
    renew_label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyState:
    """The reason for an empty list: no threats, no scans yet, or filters without matches.

    ``leads_away``: the action is on a page other than the list.
    """

    tone: str
    title: str
    text: str = ""
    checked_at: datetime | None = None
    checked_by: str = ""
    action_label: str = ""
    action_url: str = ""
    leads_away: bool = False


def overview(dashboard: DashboardResponse, address: Address) -> Overview:
    """Return the overview of ``dashboard``; filters do not change it."""
    grade, summary = dashboard.dashboard.grade or "", dashboard.summary
    tone, coverage = coverage_summary(dashboard.coverage)
    grade_text = _("%(grade)s so far") % {"grade": grade} if dashboard.dashboard.grade_provisional else grade
    return Overview(
        grade=grade,
        grade_text=grade_text,
        grade_title=_("Grade %(grade)s") % {"grade": grade_text} if grade else _("Not graded yet"),
        grade_meaning=labels.label(labels.GRADE_MEANINGS, grade)
        if grade
        else first_check_text(summary.first_check_by) or _("No scan of its pages has been completed"),
        new_url=str(
            replace(address, path=reverse("portal:new_findings", args=[dashboard.host]), filters=Filters())
        ),
        open_url=str(replace(address, filters=Filters())),
        fixed_url=str(replace(address, filters=Filters(status="fixed", fixed=str(RECENT_DAYS)))),
        oldest_url=str(replace(address, filters=Filters(sort="oldest"))),
        is_checked=is_checked(dashboard),
        open=summary.open,
        severities=tuple(
            _severity_count(severity, summary.by_severity.get(severity, 0), address)
            for severity in labels.SEVERITIES
        ),
        new=summary.new_7d,
        new_open=_open_of_the_last_days(dashboard.charts),
        fixed=summary.fixed_7d,
        oldest_days=summary.oldest_open_days,
        last_scan_at=last_scan_at(dashboard),
        coverage=coverage,
        coverage_tone=tone,
        trend=trend(dashboard, address),
        answers=answer_links(summary, address),
        fix_times=fix_times(summary),
    )


def _open_of_the_last_days(charts: Iterable[Chart]) -> int | None:
    """Return how many findings of the last seven days are open: the first value of the chart of ages."""
    ages = next((chart for chart in charts if chart.id == "age"), None)
    return ages.series[0].values[0] if ages and ages.series and ages.series[0].values else None


def last_scan_at(dashboard: DashboardResponse | Headline) -> datetime | None:
    """Return the time of the newest scan, complete or not: pages show its state next to it."""
    times = [entry.last_run_at for entry in dashboard.coverage if entry.last_run_at is not None]
    return max(times, default=dashboard.summary.last_scan_at)


def _severity_count(severity: str, count: int, address: Address) -> SeverityCount:
    filters = Filters(severity=severity, page_size=address.filters.page_size)
    url = str(replace(address, filters=filters))
    return SeverityCount(
        key=f"open-{severity.lower()}",
        label=labels.label(labels.SEVERITIES, severity),
        tone=labels.tone(severity),
        count=count,
        url=url if count else "",
    )


def first_check_text(due: date | None) -> str:
    """Say when the first scan is due or since when it is overdue; empty if no first scan is expected."""
    if due is None:
        return ""
    is_late = due < timezone.now().date()
    text = _("First scan overdue since %(day)s") if is_late else _("First scan by %(day)s")
    return text % {"day": labels.day_and_month(due)}


def is_checked(dashboard: DashboardResponse) -> bool:
    """Return whether a scanner has checked the website, so that a count of zero means something."""
    return (
        dashboard.dashboard.grade is not None
        or dashboard.summary.open > 0
        or any(entry.state in ("ok", "partial") for entry in dashboard.coverage)
    )


def coverage_summary(entries: Iterable[CoverageEntry]) -> tuple[str, str]:
    """Return CSS class and text for the coverage by all scanners together."""
    entries = list(entries)
    states = [entry.state for entry in entries]
    completed = states.count("ok")
    if not states or set(states) == {"never"}:
        return "never", _("Not scanned yet")
    if any(entry.stale for entry in entries):
        return "partial", _("A scan is overdue")
    if completed == len(states):
        text = ngettext("Scanned by %(all)s scanner", "Scanned by %(all)s scanners", completed)
        return "ok", text % {"all": completed}
    text = _("%(completed)s of %(all)s scans completed")
    return "partial", text % {"completed": completed, "all": len(states)}


def coverage_rows(entries: Iterable[CoverageEntry], address: Address) -> tuple[CoverageRow, ...]:
    """Return one row for each scanner."""
    entries = list(entries)
    first_unchecked = next((entry for entry in entries if entry.last_run_at is None), None)
    return tuple(
        CoverageRow(
            source=entry.source_name,
            state=labels.label(labels.COVERAGE_STATES, entry.state),
            tone=entry.state if entry.state in labels.COVERAGE_STATES else "never",
            last_run_at=entry.last_run_at,
            urls_checked=entry.urls_checked,
            findings=entry.findings,
            url=str(replace(address, filters=Filters(source=entry.source))) if entry.findings else "",
            version=entry.version,
            detail=translate(entry.detail),
            due_on=entry.next_due_on,
            is_overdue=entry.stale,
            is_unscheduled=entry.last_run_at is not None and entry.next_due_on is None,
            remark=_("“Not scanned” does not mean clean.") if entry is first_unchecked else "",
        )
        for entry in entries
    )


def plan(entitlement: Entitlement, *, today: date) -> Plan:
    """Return the account's plan as of ``today``."""
    is_overdue = entitlement.status == "past_due"
    renews_after = entitlement.ends_on if entitlement.renews and not is_overdue else None
    if renews_after and renews_after < today:  # it should have been renewed
        renews_after = None
    # ``usable_until`` includes the days of grace.
    last_day = entitlement.usable_until or (None if is_overdue else entitlement.ends_on)
    until = None if renews_after else last_day
    days_left = max((until - today).days, 0) if until else None
    ends_soon = days_left is not None and days_left <= SOON_DAYS
    needs_attention = ends_soon or entitlement.status not in ("active", "trialing")
    return Plan(
        name=entitlement.plan.replace("_", " ").capitalize(),
        state=labels.label(labels.PLAN_STATES, entitlement.status),
        tone="partial" if needs_attention else "ok",
        is_overdue=is_overdue,
        renews_after=renews_after,
        until=until,
        days_left=days_left,
        ends_soon=ends_soon,
        sites_used=entitlement.sites_used,
        sites_limit=entitlement.sites_limit,
        limits=tuple(filter(None, map(_limit, entitlement.limits))),
        features=tuple(labels.label(labels.FEATURES, feature) for feature in entitlement.features),
        renew_url=renewal_url() if needs_attention else "",
        renew_label=_("Choose a plan") if entitlement.status == "trialing" else _("Renew the plan"),
    )


def _limit(limit: LimitState) -> str:
    """Say that a limit is nearly or fully used; empty otherwise, and for websites, which have a meter."""
    if limit.name == "websites" or limit.name not in labels.LIMITS:
        return ""
    name = {"limit": labels.LIMITS[limit.name]}
    match limit.state:
        case "near":
            return _("%(limit)s: nearly reached") % name
        case "reached":
            return _("%(limit)s: limit reached") % name
    return ""


def empty_state(
    dashboard: DashboardResponse, address: Address, *, gets_emails: bool = False, may_scan: bool = False
) -> EmptyState:
    """Explain an empty page of the list, and claim only what the scans support.

    ``gets_emails``: the reader gets e-mails about this website; ``may_scan``: the reader may start scans.
    """
    if dashboard.dashboard.total:
        last = dashboard.dashboard.page_count
        return EmptyState(
            tone="none",
            title=_("Page not found"),
            text=ngettext("The list has %(last)s page.", "The list has %(last)s pages.", last)
            % {"last": last},
            action_label=_("Go to the last page"),
            action_url=address.with_filters(page=last),
        )
    if address.filters.active.keys() == {"status"} and address.filters.status in labels.EMPTY_STATUSES:
        return _none_with_status(address.filters.status, address)
    if address.filters.active.keys() - {"status"}:
        return _no_matches(address)
    if not is_checked(dashboard):
        unchecked = _not_checked(dashboard.summary.first_check_by, gets_emails=gets_emails)
        if not may_scan:
            return unchecked
        scan = address.of_scans()
        return replace(unchecked, action_label=_("Scan now"), action_url=scan, leads_away=True)
    return _no_threats(dashboard.coverage)


def _no_matches(address: Address) -> EmptyState:
    """Say that no finding matches; after a search, which ignores translated titles, offer all problems."""
    title, text = _("Nothing matches these filters"), _("Remove one of them, or clear them all, to see more.")
    if not address.filters.query:
        return EmptyState(tone="none", title=title, text=text)
    hint = _(
        "The search reads the scanners' own texts, which are in English. Problems can have other names here: "
        "look for yours among all problems."
    )
    return EmptyState(
        tone="none",
        title=title,
        text=f"{text} {hint}",
        action_label=_("All problems"),
        action_url=str(replace(address, filters=Filters(view=PROBLEMS))),
    )


def _not_checked(due: date | None, *, gets_emails: bool) -> EmptyState:
    """Say that no scan was completed, and when the first scan is due."""
    if due is None:
        text = _("No scan of this website has been completed, so we cannot say whether it is clean.")
    elif due < timezone.now().date():
        text = _("The first scan was due by %(day)s. If it does not come soon, contact support.")
    elif gets_emails:
        text = _("First scan by %(day)s. We will write to you if it finds something serious.")
    else:
        text = _("First scan by %(day)s. You will see the results here.")
    return EmptyState(
        tone="never", title=_("Not scanned yet"), text=text % {"day": labels.day(due)} if due else text
    )


def _none_with_status(status: str, address: Address) -> EmptyState:
    return EmptyState(
        tone="none",
        title=labels.label(labels.EMPTY_STATUSES, status),
        text=_("Findings with this status appear here: %(meaning)s")
        % {"meaning": labels.label(labels.STATUS_MEANINGS, status)},
        action_label=_("Show open findings"),
        action_url=address.with_filters(status=""),
    )


def _no_threats(entries: Iterable[CoverageEntry]) -> EmptyState:
    entries = list(entries)
    completed = [entry for entry in entries if entry.state == "ok"]
    missing = [entry.source_name for entry in entries if entry.state != "ok"]
    overdue = [entry.source_name for entry in completed if entry.stale]
    if overdue and not missing:
        return EmptyState(
            tone="partial",
            title=_("No threats found at the last scan"),
            text=_("A new scan is overdue: %(scanners)s.") % {"scanners": ", ".join(overdue)},
        )
    if missing:
        return EmptyState(
            tone="partial",
            title=_("No threats found so far"),
            text=_("Some scans are not complete yet: %(scanners)s.") % {"scanners": ", ".join(missing)},
        )
    return EmptyState(
        tone="ok",
        title=_("No threats found"),
        checked_at=max((entry.last_run_at for entry in completed if entry.last_run_at), default=None),
        checked_by=", ".join(entry.source_name for entry in completed),
    )
