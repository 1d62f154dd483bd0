"""The list of websites that a person sees: each with its last summary, the worst first."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal import labels
from portal.gateway import Dashboard
from portal.models import Membership, Website, WebsiteSummary
from portal.page_urls import Address, site_address
from portal.view_models.overview import Overview, Plan, overview, plan

STALE_DAYS = 7  # an active website is checked more often
MAX_RANKED_COUNT = 999_999_999  # findings of a severity; higher counts rank equally

# An ungraded website may be at risk, but comes after those with serious findings.
_GRADES_WORST_FIRST = ("F", "D", "C", "", "B", "A")


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteSummary:
    """The summary of a website on its card; ``stale`` is a warning, else empty."""

    overview: Overview
    plan: Plan
    newest_on: date | None
    stale: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteCard:
    """The card of a website: a ``summary``, the ``refusal`` that prevents one, or neither yet.

    ``updated_at``: when the portal received it; ``refresh_failed``: the latest request failed.
    """

    id: str
    refresh_url: str
    summary: SiteSummary | None = None
    refusal: str = ""
    advice: str = ""
    updated_at: datetime | None = None
    is_refreshing: bool = True
    refresh_failed: bool = False

    @property
    def risk_rank(self) -> str:
        """The sort key, worst first, here and in the browser: grade, then open findings by severity."""
        site = self.summary and self.summary.overview
        if not site or not site.grade:
            return str(_GRADES_WORST_FIRST.index(""))
        rank = _GRADES_WORST_FIRST.index(site.grade) if site.grade in _GRADES_WORST_FIRST else 0
        counts = (min(severity.count, MAX_RANKED_COUNT) for severity in site.severities)
        return "-".join([str(rank), *(f"{MAX_RANKED_COUNT - count:09}" for count in counts)])


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteRow:
    """One website of one account."""

    host: str
    account: str
    role: str
    url: str
    card: SiteCard


@dataclass(frozen=True, slots=True, kw_only=True)
class SitesPage:
    """The list of websites; ``link_url``, the page for linking another, is empty for viewers."""

    rows: tuple[SiteRow, ...]
    link_url: str


def sites_page(
    websites: Iterable[Website],
    memberships: Iterable[Membership],
    summaries: Mapping[int, WebsiteSummary],
) -> SitesPage:
    """Return the page for ``websites``; ``memberships`` are the person's, ``summaries`` by website id."""
    websites, memberships = list(websites), list(memberships)
    roles = {membership.account_id: membership.role for membership in memberships}
    host_counts = Counter(website.host for website in websites)
    rows = [
        _row(
            website,
            roles[website.account_id],
            summaries.get(website.pk),
            is_shared=host_counts[website.host] > 1,
        )
        for website in websites
    ]
    can_link = any(membership.can_link_websites for membership in memberships)
    return SitesPage(
        rows=tuple(sorted(rows, key=lambda row: row.card.risk_rank)),
        link_url=settings.LINK_URL if can_link else "",
    )


def _row(website: Website, role: str, summary: WebsiteSummary | None, *, is_shared: bool) -> SiteRow:
    return SiteRow(
        host=website.host,
        account=str(website.account),
        role=labels.label(labels.ROLES, role),
        url=str(site_address(website, is_shared=is_shared)),
        card=site_card(website, summary, is_shared=is_shared),
    )


def site_card(website: Website, summary: WebsiteSummary | None, *, is_shared: bool) -> SiteCard:
    """Return the card of ``website`` with its stored ``summary``, which the page then refreshes."""
    address = site_address(website, is_shared=is_shared)
    refresh_path = reverse("portal:site_card", args=[website.host])
    card = SiteCard(id=f"site-{website.pk}", refresh_url=str(replace(address, path=refresh_path)))
    if summary is None:
        return card
    if summary.refusal:
        refusal, advice = labels.REFUSALS.get(summary.refusal, (_("No results"), ""))
        return replace(card, updated_at=summary.updated_at, refusal=str(refusal), advice=str(advice))
    if dashboard := summary.dashboard:
        return replace(card, updated_at=summary.updated_at, summary=_site_summary(dashboard, address))
    return card


def _site_summary(dashboard: Dashboard, address: Address) -> SiteSummary:
    last = dashboard.summary.last_scan_at
    is_stale = last is not None and timezone.now() - last > timedelta(days=STALE_DAYS)
    stale = ngettext("More than %(days)s day ago", "More than %(days)s days ago", STALE_DAYS)
    return SiteSummary(
        overview=overview(dashboard, address),
        plan=plan(dashboard.entitlement, today=dashboard.dashboard.generated_at.date()),
        newest_on=_newest_on(dashboard),
        stale=stale % {"days": STALE_DAYS} if is_stale else "",
    )


def _newest_on(dashboard: Dashboard) -> date | None:
    """Return the day of the newest open finding; None without one, or if it is not a valid date."""
    days = dashboard.summary.newest_open_days
    try:
        return None if days is None else dashboard.dashboard.generated_at.date() - timedelta(days=days)
    except OverflowError:
        return None
