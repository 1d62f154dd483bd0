"""The navigation in the header of every page of a member."""

from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.models import Membership, Website, WebsiteSummary
from portal.models.visits import last_visit
from portal.pages.view_models.overview import RECENT_DAYS


@dataclass(frozen=True, slots=True, kw_only=True)
class NavigationLink:
    """A link to a part of the portal; ``is_current`` if the page belongs to it.

    ``unread`` says in words what is new there, or is empty.
    """

    label: str
    url: str
    is_current: bool
    unread: str = ""


def navigation(request: HttpRequest) -> dict[str, object]:
    """Return the navigation, and whether the person can switch websites, for the context of every template.

    Both are lazy: only pages with a header evaluate them.
    """
    return {
        "navigation": SimpleLazyObject(lambda: navigation_links(request)),
        "has_several_websites": SimpleLazyObject(lambda: has_several_websites(request)),
    }


def has_several_websites(request: HttpRequest) -> bool:
    """Return whether the person sees more than one website."""
    return len(Website.objects.visible_to(request.user).values_list("pk")[:2]) > 1


def navigation_links(request: HttpRequest) -> tuple[NavigationLink, ...]:
    """Return links to the parts that the person may see; empty for people without an account."""
    user = getattr(request, "user", None)
    memberships = list(Membership.objects.of_user(user)) if user else []
    if not memberships:
        return ()
    # The pages about plan and API are for people who may link websites: owners and managers.
    manages = any(membership.can_link_websites for membership in memberships)
    parts = [
        (_("Websites"), reverse("portal:sites")),
        (_("What is new"), reverse("portal:what_is_new")),
        *([(_("Team"), reverse("portal:team"))] if any(m.can_see_members for m in memberships) else []),
        (_("Notifications"), reverse("portal:notifications")),
        *([(_("Plan"), reverse("portal:plan"))] if manages else []),
        *([(_("API"), reverse("portal:api"))] if manages else []),
        (_("Help"), reverse("portal:help")),
    ]
    path, news_url = request.path, reverse("portal:what_is_new")
    return tuple(
        NavigationLink(
            label=label,
            url=url,
            # "Websites" is at "/", and its further pages have two prefixes.
            is_current=path == url or path.startswith(("/sites/", "/websites/") if url == "/" else url),
            unread=_unread(user) if user and url == news_url else "",
        )
        for label, url in parts
    )


def _unread(user: AbstractBaseUser) -> str:
    """Say how many websites got new findings since the person last opened "What is new".

    It counts stored summaries, without a call to the service, and ignores changes older than that page lists.
    """
    oldest = timezone.now() - timedelta(days=RECENT_DAYS)
    since = max(last_visit(user.pk) or oldest, oldest)
    website_ids = list(Website.objects.visible_to(user).values_list("pk", flat=True))
    count = WebsiteSummary.objects.filter(website_id__in=website_ids).grown_since(since).count()
    if not count:
        return ""
    text = ngettext("%(count)s website has new findings", "%(count)s websites have new findings", count)
    return text % {"count": number_format(count)}
