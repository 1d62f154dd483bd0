"""The navigation in the header of every page of a member."""

from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _

from portal.models import Membership


@dataclass(frozen=True, slots=True, kw_only=True)
class NavigationLink:
    """A link to a part of the portal; ``is_current``: the page is in this part."""

    label: str
    url: str
    is_current: bool


def navigation(request: HttpRequest) -> dict[str, object]:
    """Return the context of every template: the navigation, which only a page with a header evaluates."""
    return {"navigation": SimpleLazyObject(lambda: navigation_links(request))}


def navigation_links(request: HttpRequest) -> tuple[NavigationLink, ...]:
    """Return the links to what the person may see; none for a visitor or a person without accounts."""
    user = getattr(request, "user", None)
    memberships = list(Membership.objects.of_user(user)) if user else []
    if not memberships:
        return ()
    parts = [
        (_("Websites"), reverse("portal:sites")),
        (_("What is new"), reverse("portal:what_is_new")),
        *([(_("Members"), reverse("portal:team"))] if any(m.can_see_members for m in memberships) else []),
        (_("Alerts"), reverse("portal:notifications")),
        *([(_("API"), reverse("portal:api"))] if any(m.can_link_websites for m in memberships) else []),
        (_("Help"), reverse("portal:help")),
    ]
    path = request.path
    return tuple(
        NavigationLink(label=label, url=url, is_current=_is_current(path, url)) for label, url in parts
    )


def _is_current(path: str, url: str) -> bool:
    """Return whether ``path`` is in the part at ``url``; dashboards are in the part of the websites."""
    return path == url or path.startswith("/sites/" if url == "/" else url)
