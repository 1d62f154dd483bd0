"""The hits of the palette: websites, saved views and pages of one member."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from django.db.models import Case, Q, Value, When
from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from foundation.addresses.hosts import readable_host, searched_host
from portal.models import Membership, SavedView, Website
from portal.pages.forms import ME, Filters
from portal.pages.navigation import navigation_links
from portal.pages.urls import referring_page, site_address
from portal.pages.view_models.saved_views import view_url
from signed_api.answers import OVERDUE

MAX_WEBSITES = 20
_WEBSITE = re.compile(r"/sites/([^/?]+)/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A page to go to; ``detail`` is the account of a website."""

    label: str
    url: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """The matching websites, views and pages; ``has_more``: not all matching websites are listed."""

    websites: tuple[Hit, ...]
    views: tuple[Hit, ...]
    pages: tuple[Hit, ...]
    has_more: bool

    @property
    def status(self) -> str:
        """The text that screen readers announce."""
        count = len(self.websites) + len(self.views) + len(self.pages)
        return ngettext("%(count)s result", "%(count)s results", count) % {"count": count}


def find_hits(request: HttpRequest, query: str) -> Hits:
    """Return websites, views and pages of the person with ``query`` in their names; without it, all."""
    websites = _websites(request, query)
    return Hits(
        websites=_website_hits(request, websites[:MAX_WEBSITES]),
        views=tuple(_view_hits(request, query)),
        pages=tuple(page for page in _pages(request) if query.casefold() in page.label.casefold()),
        has_more=len(websites) > MAX_WEBSITES,
    )


def _websites(request: HttpRequest, query: str) -> list[Website]:
    """Return the matching websites, one more than is listed; names that begin with ``query`` come first."""
    websites = Website.objects.visible_to(request.user)
    if not query:
        return list(websites[: MAX_WEBSITES + 1])
    host = searched_host(query)
    of_account = Q(account__name__icontains=query) | Q(account__name="", account__ref__icontains=query)
    matching = websites.filter(Q(host__icontains=host) | of_account)
    begins = Case(When(host__istartswith=host, then=Value(0)), default=Value(1))
    return list(matching.order_by(begins, "host", "account")[: MAX_WEBSITES + 1])


def _website_hits(request: HttpRequest, websites: Iterable[Website]) -> tuple[Hit, ...]:
    websites = list(websites)
    hosts = Website.objects.visible_to(request.user).filter(host__in={site.host for site in websites})
    counts = Counter(hosts.values_list("host", flat=True))
    return tuple(
        Hit(
            label=readable_host(website.host),
            detail=str(website.account),
            url=str(site_address(website, names_account=counts[website.host] > 1)),
        )
        for website in websites
    )


def _view_hits(request: HttpRequest, query: str) -> Iterable[Hit]:
    """Yield lists of answered findings and the saved views, for the website whose page opened the palette."""
    page = referring_page(request)
    found = _WEBSITE.match(page)
    websites = list(Website.objects.visible_to(request.user).with_host(found[1])) if found else []
    account = QueryDict(page.partition("?")[2]).get("account", "")
    website = next((site for site in websites if account in ("", site.account.ref)), None)
    if website is None:
        return
    address = site_address(website, names_account=len(websites) > 1)
    for label, filters in ((_("Overdue"), Filters(due=OVERDUE)), (_("Assigned to me"), Filters(assignee=ME))):
        if query.casefold() in label.casefold():
            url = str(replace(address, filters=filters))
            yield Hit(label=label, url=url, detail=readable_host(website.host))
    for view in SavedView.objects.visible_to(request.user).filter(account=website.account):
        if query.casefold() in view.name.casefold():
            yield Hit(label=view.name, url=view_url(view, address), detail=readable_host(website.host))


def _pages(request: HttpRequest) -> Iterable[Hit]:
    for link in navigation_links(request):
        yield Hit(label=link.label, url=link.url)
    if Membership.objects.of_user(request.user).managing().exists():
        yield Hit(label=_("Share links"), url=reverse("portal:shares"))
    if Membership.objects.of_user(request.user).owners().exists():
        yield Hit(label=_("Audit log"), url=reverse("portal:activity"))
    yield Hit(label=_("Expiry dates"), url=reverse("portal:expiry_dates"))
    yield Hit(label=_("Saved views"), url=reverse("portal:saved_views"))
    yield Hit(label=_("How we grade"), url=reverse("portal:grading"))
    yield Hit(label=_("Your account"), url=reverse("account"))
    if getattr(request.user, "is_staff", False):
        yield Hit(label=_("Admin"), url=reverse("admin:index"))
