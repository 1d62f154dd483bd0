"""The list of websites that a person sees."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from django.conf import settings
from django.urls import reverse

from portal import wording
from portal.forms import Address
from portal.models import Membership, Website


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteCard:
    """One website of one account."""

    host: str
    account: str
    role: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SitesPage:
    """All of them, and where to link another."""

    cards: tuple[SiteCard, ...]
    link_url: str


def sites_page(websites: Iterable[Website], memberships: Iterable[Membership]) -> SitesPage:
    """``websites`` in their order, each with the person's role in its account."""
    websites = list(websites)
    roles = {membership.account_id: membership.role for membership in memberships}
    times = Counter(website.host for website in websites)
    return SitesPage(
        cards=tuple(
            SiteCard(
                host=website.host,
                account=str(website.account),
                role=wording.word(wording.ROLES, roles[website.account_id]),
                url=str(site_address(website, is_shared=times[website.host] > 1)),
            )
            for website in websites
        ),
        link_url=settings.LINK_URL,
    )


def site_address(website: Website, *, is_shared: bool) -> Address:
    """Where its dashboard is; the account is told only where the person sees the host through several."""
    return Address(
        path=reverse("portal:site", args=[website.host]),
        account=website.account.ref if is_shared else "",
    )
