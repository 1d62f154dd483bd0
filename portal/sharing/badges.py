"""Badges: a picture with the grade of a website, and the page that switches it on and off."""

from dataclasses import dataclass
from datetime import UTC, date

from django.contrib import messages
from django.core.cache import cache
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from portal.answers import service
from portal.models import Badge, Website
from portal.pages.access import get_website, manages, members_only
from portal.pages.forms import Filters
from portal.pages.htmx import HtmxHttpRequest
from portal.pages.urls import portal_origin
from portal.pages.view_models import site_page
from portal.sharing import actions
from portal.sharing.view_models import refusals
from portal.texts import labels
from signed_api.errors import CallError, InactiveEntitlement, RevokedLink, UnknownLink
from signed_api.findings import DashboardRequest

CACHE_SECONDS = 300  # in browsers, proxies and our cache
FAILURE_CACHE_SECONDS = 60  # here, so that a badge on a busy page does not load a service that fails
_COLORS = {"A": "#166b40", "B": "#166b40", "C": "#7a5900", "D": "#b23a06", "F": "#a00f45"}
_NO_GRADE = "#546170"
_CHARACTER_WIDTH = 6.2  # average, in pixels, at a font size of 11 pixels
_PADDING = 8  # pixels on each side of a text


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """The two fields of a badge, the colour of the second, and the widths in pixels."""

    name: str
    value: str
    color: str

    @property
    def name_width(self) -> int:
        """The width of the first field."""
        return _width(self.name)

    @property
    def value_width(self) -> int:
        """The width of the second field."""
        return _width(self.value)

    @property
    def width(self) -> int:
        """The width of the picture."""
        return self.name_width + self.value_width


@dataclass(frozen=True, slots=True, kw_only=True)
class BadgePage:
    """The page of a website's badge; the picture's path and the snippets are empty while it is off.

    ``refusal`` says why the website has no results; the picture is then not shown.
    """

    host: str
    list_url: str
    refusal: str = ""
    path: str = ""
    markdown: str = ""
    html: str = ""


def _width(text: str) -> int:
    return round(len(text) * _CHARACTER_WIDTH) + 2 * _PADDING


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def badge(request: HtmxHttpRequest, host: str) -> HttpResponse:
    """Show the badge of a website and its snippets; a form switches it on, renews it or switches it off."""
    website, candidates = get_website(request, host)
    if not manages(request, website):
        raise Http404
    if request.method == "POST":
        return _switch(request, website)
    list_url = site_page(website, candidates, Filters()).url
    badge_on = Badge.objects.filter(website=website, link_id=website.link_id).first()
    page = _badge_page(request, badge_on, list_url) if badge_on else BadgePage(host=host, list_url=list_url)
    return render(request, "portal/sharing/badge.html", {"page": page})


def _switch(request: HtmxHttpRequest, website: Website) -> HttpResponse:
    action = request.POST.get("action")
    if action == "on":
        try:
            actions.switch_badge_on(website, by=request.user)  # type: ignore[arg-type]  # members_only
        except Website.DoesNotExist as error:
            raise Http404 from error
        messages.info(request, _("The badge is on. Copy its address from below."))
    elif action == "off":
        actions.switch_badge_off(website)
        messages.info(request, _("The badge is off. Its address no longer works."))
    else:
        raise BadRequest
    return redirect(request.get_full_path())


def _badge_page(request: HtmxHttpRequest, badge_on: Badge, list_url: str) -> BadgePage:
    path = reverse("portal:badge_image", args=[badge_on.token])
    url = portal_origin(request) + path
    with translation.override(badge_on.language):
        name = _("Security grade")
    return BadgePage(
        host=badge_on.website.host,
        list_url=list_url,
        refusal=refusals([badge_on.website_id]).get(badge_on.website_id, ""),
        path=path,
        markdown=f"![{name}]({url})",
        html=f'<img src="{url}" alt="{name}" height="20">',
    )


@require_safe
def badge_image(request: HttpRequest, token: str) -> HttpResponse:
    """Return the badge as SVG: 404 for an unknown badge, 503 when the service fails; sets no cookie."""
    try:
        badge_on = actions.find_badge(token)
    except actions.NoLongerShared:
        return _without_picture(404)
    grade_or_status = _cached_grade(badge_on.website)
    if isinstance(grade_or_status, int):
        return _without_picture(grade_or_status)
    grade, provisional, checked_on = grade_or_status
    with translation.override(badge_on.language):
        picture = _picture(grade, checked_on, is_provisional=bool(provisional))
    response = render(request, "portal/sharing/badge.svg", {"picture": picture}, "image/svg+xml")
    response["Cache-Control"] = f"public, max-age={CACHE_SECONDS}"
    response["Cross-Origin-Resource-Policy"] = "cross-origin"  # it is made for other websites
    return response


def _without_picture(status: int) -> HttpResponse:
    response = HttpResponse(status=status, content_type="text/plain")
    response["Cache-Control"] = "no-store"
    if status == 503:
        response["Retry-After"] = str(FAILURE_CACHE_SECONDS)
    return response


def _cached_grade(website: Website) -> list[str] | int:
    """Return grade, "provisional" and day of the last scan (UTC), each perhaps empty; or an HTTP status."""
    key = f"grade:{website.pk}:{website.link_id}"
    # A list of texts, because the shared cache takes only JSON
    grade_or_status: list[str] | int | None = cache.get(key)
    if grade_or_status is None:
        grade_or_status = _grade_of_service(website)
        is_failure = isinstance(grade_or_status, int)
        cache.set(key, grade_or_status, FAILURE_CACHE_SECONDS if is_failure else CACHE_SECONDS)
    return grade_or_status


def _grade_of_service(website: Website) -> list[str] | int:
    try:
        dashboard = service.get_dashboard(website, DashboardRequest(page_size=1), stores_summary=False)
    except (InactiveEntitlement, RevokedLink, UnknownLink):
        return 404
    except CallError:  # the gateway has logged it
        return 503
    checked_at = dashboard.summary.last_scan_at
    checked_on = checked_at.astimezone(UTC).date().isoformat() if checked_at else ""
    provisional = "provisional" if dashboard.dashboard.grade_provisional else ""
    return [dashboard.dashboard.grade or "", provisional, checked_on]


def _picture(grade: str, checked_on: str, *, is_provisional: bool) -> Picture:
    value = grade or _("not graded yet")
    if grade and is_provisional:
        value = _("%(grade)s so far") % {"grade": grade}
    if checked_on:
        value += " · " + _("scanned on %(day)s") % {"day": labels.day(date.fromisoformat(checked_on))}
    return Picture(name=_("Security grade"), value=value, color=_COLORS.get(grade, _NO_GRADE))
