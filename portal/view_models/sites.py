"""The list of websites that a person sees: each as the service last told, the worst first."""

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
from portal.forms import Address
from portal.gateway import Dashboard
from portal.models import LastAnswer, Membership, Website
from portal.view_models.overview import Overview, Plan, overview, plan

STALE_DAYS = 7  # the last check of a website that is watched is more recent
MANY = 999_999_999  # findings of a severity; beyond it websites count as equally bad

# What is not known may be bad, but what is known to be serious comes before it.
_WORST_FIRST = ("F", "D", "C", "", "B", "A")


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """The service's last answer about a website; ``stale`` says so in words, else it is empty."""

    overview: Overview
    plan: Plan
    newest_on: date | None
    stale: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteCard:
    """What is told of a website: a ``glance``, or why there is none (``refusal``), or nothing yet.

    ``at``: when the portal was told; ``has_failed``: it has just asked and was told nothing.
    """

    id: str
    ask_url: str
    glance: Glance | None = None
    refusal: str = ""
    advice: str = ""
    at: datetime | None = None
    is_asking: bool = True
    has_failed: bool = False

    @property
    def badness(self) -> str:
        """Worse sorts first, here and in the browser: by grade, then by how much is open, Critical first."""
        seen = self.glance and self.glance.overview
        if not seen or not seen.grade:
            return str(_WORST_FIRST.index(""))
        rank = _WORST_FIRST.index(seen.grade) if seen.grade in _WORST_FIRST else 0
        return "-".join([str(rank), *(f"{MANY - min(it.count, MANY):09}" for it in seen.severities)])


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
    """The list of websites; ``link_url``, where another is linked, is empty for viewers.

    ``sees_members``: the person may see the members of one account or more.
    """

    rows: tuple[SiteRow, ...]
    link_url: str
    sees_members: bool


def sites_page(
    websites: Iterable[Website], memberships: Iterable[Membership], answers: Mapping[int, LastAnswer]
) -> SitesPage:
    """``websites`` with the person's role in their accounts; ``answers`` by the keys of websites."""
    websites, memberships = list(websites), list(memberships)
    roles = {membership.account_id: membership.role for membership in memberships}
    times = Counter(website.host for website in websites)
    rows = [
        _row(website, roles[website.account_id], answers.get(website.pk), is_shared=times[website.host] > 1)
        for website in websites
    ]
    return SitesPage(
        rows=tuple(sorted(rows, key=lambda row: row.card.badness)),
        link_url=settings.LINK_URL if any(membership.may_link for membership in memberships) else "",
        sees_members=any(membership.sees_members for membership in memberships),
    )


def _row(website: Website, role: str, answer: LastAnswer | None, *, is_shared: bool) -> SiteRow:
    return SiteRow(
        host=website.host,
        account=str(website.account),
        role=labels.word(labels.ROLES, role),
        url=str(site_address(website, is_shared=is_shared)),
        card=site_card(website, answer, is_shared=is_shared),
    )


def site_card(website: Website, answer: LastAnswer | None, *, is_shared: bool) -> SiteCard:
    """What ``answer`` told of ``website``; the page has yet to ask for more."""
    address = site_address(website, is_shared=is_shared)
    card = SiteCard(id=f"site-{website.pk}", ask_url=str(replace(address, path=f"{address.path}card/")))
    if answer is None:
        return card
    if answer.refusal:
        refusal, advice = labels.REFUSALS.get(answer.refusal, (_("No results"), ""))
        return replace(card, at=answer.at, refusal=str(refusal), advice=str(advice))
    if dashboard := answer.dashboard:
        return replace(card, at=answer.at, glance=_glance(dashboard, address))
    return card


def _glance(dashboard: Dashboard, address: Address) -> Glance:
    last = dashboard.summary.last_scan_at
    is_stale = last is not None and timezone.now() - last > timedelta(days=STALE_DAYS)
    stale = ngettext("More than %(days)s day ago", "More than %(days)s days ago", STALE_DAYS)
    return Glance(
        overview=overview(dashboard, address),
        plan=plan(dashboard.entitlement, today=dashboard.dashboard.generated_at.date()),
        newest_on=_newest_on(dashboard),
        stale=stale % {"days": STALE_DAYS} if is_stale else "",
    )


def _newest_on(dashboard: Dashboard) -> date | None:
    """The day of the newest open finding; None where there is none, or no calendar has the day."""
    days = dashboard.summary.newest_open_days
    try:
        return None if days is None else dashboard.dashboard.generated_at.date() - timedelta(days=days)
    except OverflowError:
        return None


def site_address(website: Website, *, is_shared: bool) -> Address:
    """Where its dashboard is; the account is told only where the person sees the host through several."""
    return Address(
        path=reverse("portal:site", args=[website.host]),
        account=website.account.ref if is_shared else "",
    )
