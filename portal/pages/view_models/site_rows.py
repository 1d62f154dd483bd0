"""Rows of the list of websites, with the stored summary or the reason why it is missing."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.models import Website, WebsiteSummary
from portal.models.summaries import Headline
from portal.pages.urls import Address, site_address
from portal.pages.view_models.answered import CountLink, due_links
from portal.pages.view_models.overview import Overview, Plan, last_scan_at, overview, plan
from portal.texts import labels, topics
from signed_api.findings import DashboardResponse

STALE_DAYS = 7  # active websites are scanned more often
FRESH_TIME = timedelta(minutes=10)  # younger summaries are not refreshed
FRESH_REFUSAL_TIME = timedelta(minutes=1)  # shorter: people look again after a payment
MAX_RANKED_COUNT = 999_999_999  # findings of a severity; higher counts rank equally
URGENT = ("Critical", "High")

# Ungraded websites ("") may be at risk; they follow websites with serious findings.
_GRADES_WORST_FIRST = ("F", "D", "C", "", "B", "A")


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstProblem:
    """The problem to fix first; ``lead`` is text such as "Fix today:", and ``url`` leads to the fix."""

    lead: str
    title: str
    is_translated: bool
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteSummary:
    """The stored numbers of a website; ``stale`` is a warning or empty, ``first`` the most urgent problem.

    ``due`` counts the overdue findings, and those due this week.
    """

    overview: Overview
    plan: Plan
    stale: str
    first: FirstProblem | None
    due: tuple[CountLink, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteRow:
    """A row of the list: a website with its ``summary``, with a ``refusal`` instead, or with neither yet.

    ``updated_at``: when the portal received the answer; ``is_old``: the browser refreshes the row once it is
    visible; ``refresh_failed``: the latest refresh failed.
    """

    id: str
    host: str
    account: str
    url: str
    refresh_url: str
    summary: SiteSummary | None = None
    refusal: str = ""
    advice: str = ""
    updated_at: datetime | None = None
    is_old: bool = True
    refresh_failed: bool = False


def site_row(website: Website, summary: WebsiteSummary | None, *, names_account: bool) -> SiteRow:
    """Return the row of ``website``; ``names_account``: its URLs do, as several accounts have this host."""
    address = site_address(website, names_account=names_account)
    row = SiteRow(
        id=f"site-{website.pk}",
        host=website.host,
        account=str(website.account),
        url=str(address),
        refresh_url=str(replace(address, path=reverse("portal:site_row", args=[website.host]))),
    )
    if summary is None:
        return row
    fresh_time = FRESH_REFUSAL_TIME if summary.refusal else FRESH_TIME
    row = replace(row, is_old=timezone.now() - summary.updated_at > fresh_time)
    if summary.refusal:
        refusal, advice = labels.REFUSALS.get(summary.refusal, (_("No results"), ""))
        return replace(row, updated_at=summary.updated_at, refusal=str(refusal), advice=str(advice))
    if dashboard := summary.dashboard:
        view = SiteSummary(
            overview=overview(dashboard, address),
            plan=plan(dashboard.entitlement, today=dashboard.dashboard.generated_at.date()),
            stale=_stale_text(dashboard),
            first=_first_problem(dashboard, address),
            due=due_links(dashboard.summary, address),
        )
        return replace(row, updated_at=summary.updated_at, summary=view)
    return replace(row, is_old=True)


def _first_problem(dashboard: DashboardResponse, address: Address) -> FirstProblem | None:
    """Return the problem to fix first, if it is Critical or High."""
    worst = dashboard.dashboard.do_first
    if not worst or worst[0].severity not in URGENT:
        return None
    title = worst[0].title
    return FirstProblem(
        lead=str(labels.FIX_WHEN[worst[0].severity]),
        title=topics.translate(title),
        is_translated=topics.is_known(title),
        url=address.of_fix(worst[0].id),
    )


def risk_rank(headline: Headline | None) -> str:
    """Return a text to sort by, the worst first: by grade, then by open findings of each severity.

    Higher counts become lower numbers, all of nine digits.
    """
    grade = headline.dashboard.grade if headline else None
    if headline is None or not grade:
        return str(_GRADES_WORST_FIRST.index(""))
    rank = _GRADES_WORST_FIRST.index(grade) if grade in _GRADES_WORST_FIRST else 0
    counts = (headline.summary.by_severity.get(severity, 0) for severity in labels.SEVERITIES)
    ranked = (f"{MAX_RANKED_COUNT - min(count, MAX_RANKED_COUNT):09}" for count in counts)
    return "-".join([str(rank), *ranked])


def needs_attention(summary: WebsiteSummary | None, headline: Headline | None) -> bool:
    """Return whether a Critical or High finding is open, or the service refuses the results."""
    if headline is None:
        return bool(summary and summary.refusal)
    return any(headline.summary.by_severity.get(severity, 0) for severity in URGENT)


def _stale_text(dashboard: DashboardResponse) -> str:
    last = last_scan_at(dashboard)
    if last is None or timezone.now() - last <= timedelta(days=STALE_DAYS):
        return ""
    text = ngettext("More than %(days)s day ago", "More than %(days)s days ago", STALE_DAYS)
    return text % {"days": STALE_DAYS}
