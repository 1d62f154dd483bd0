"""The status page: what is measured now, and the incidents of 90 days. Decision record 0097.

Anyone can read it, so it names no account, host, address or command.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Min, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.feedgenerator import Atom1Feed
from django.utils.functional import Promise
from django.utils.html import linebreaks
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from config import health
from config.doctor import calls_refused_until
from config.heartbeats import last_runs
from config.models import Incident

DAYS = 90
_MAX_INCIDENTS = 100
_COMMANDS = {
    Incident.Component.IMPORTS: {"import_inbox", "resume_reports"},
    Incident.Component.NOTIFICATIONS: {"notify"},
    Incident.Component.CALLBACKS: {"process_callbacks"},
}
_TONES = {Incident.Kind.DISTURBANCE: "failed", Incident.Kind.MAINTENANCE: "partial"}
Works = Mapping[Incident.Component, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentStatus:
    """The state of a component now, and the tones of its days with incidents, by their place among the 90.

    ``works_again`` is when it works again by itself, if that is known.
    """

    title: str
    word: str
    tone: str
    days: Mapping[int, str]
    works_again: datetime | None = None

    @property
    def history(self) -> str:
        """The number of days with incidents, in words."""
        if not self.days:
            return str(_("No incidents"))
        count = len(self.days)
        return ngettext("Incidents on %(count)d day", "Incidents on %(count)d days", count) % {"count": count}


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusPage:
    """The values of the status page; of its 90 days, those before ``first_day`` are unknown."""

    at: datetime
    components: list[ComponentStatus]
    incidents: list[Incident]
    first_day: int

    @property
    def known_days(self) -> int:
        """The number of days since ``first_day``."""
        return DAYS - self.first_day


@require_safe
def status(request: HttpRequest) -> HttpResponse:
    """Show the status page."""
    _check_is_on()
    refused_until = calls_refused_until(now := timezone.now())
    page = status_page(measured(now, refused_until), refused_until)
    return render(request, "status/page.html", {"status": page, "feed_url": reverse("status_feed")})


@require_safe
def feed(request: HttpRequest) -> HttpResponse:
    """Return the incidents as an Atom feed."""
    _check_is_on()
    url, own = (request.build_absolute_uri(reverse(name)) for name in ("status", "status_feed"))
    return HttpResponse(feed_of(url, own), content_type="application/atom+xml; charset=utf-8")


def measured(now: datetime, refused_until: datetime | None) -> dict[Incident.Component, bool]:
    """Return whether each component of this deployment works; one that nothing measures is left out.

    Calls are refused ``refused_until``, if they are.
    """
    ready, works = not health.READINESS.failed(), {}
    if settings.ENABLE_API:
        works[Incident.Component.CALLS] = ready and not refused_until
    if settings.ENABLE_PORTAL:
        works[Incident.Component.PORTAL] = ready
    runs = last_runs(now)
    for component, commands in _COMMANDS.items():
        if component is Incident.Component.CALLBACKS and not any(settings.CALLBACK_SECRETS.values()):
            continue  # no provider is set up: the command runs without work
        late = [run.is_late for run in runs if run.command in commands]
        if late:  # a command that never ran is not used here
            works[component] = not any(late)
    return works


def status_page(works: Works, refused_until: datetime | None) -> StatusPage:
    """Return the page for these measurements, with the incidents in the database."""
    now, incidents = timezone.now(), _incidents()
    return StatusPage(
        at=now,
        components=[
            replace(
                _component(component, works[component], incidents, now),
                works_again=_works_again(refused_until) if component is Incident.Component.CALLS else None,
            )
            for component in works
        ],
        incidents=incidents,
        first_day=_place(_known_since(incidents), now),
    )


def feed_of(url: str, feed_url: str) -> str:
    """Return the Atom feed of a page at ``url``."""
    document = Atom1Feed(str(_("Service status")), url, "", language=get_language(), feed_url=feed_url)
    now = timezone.now()
    for incident in _incidents():
        is_over = incident.ended is not None and incident.ended <= now
        document.add_item(
            title=incident.title,
            link=f"{url}#incident-{incident.pk}",
            description=linebreaks(incident.text, autoescape=True),
            unique_id=f"tag:{urlsplit(url).hostname},{incident.began:%Y-%m-%d}:incident-{incident.pk}",
            pubdate=incident.began,
            updateddate=incident.ended if is_over else incident.began,
            categories=[str(incident.get_kind_display())],
        )
    return str(document.writeString("utf-8"))


def _check_is_on() -> None:
    if not settings.STATUS_PAGE:
        raise Http404


def _incidents() -> list[Incident]:
    """Return the incidents that are announced, open, or ended within the 90 days, the latest first."""
    since = timezone.now() - timedelta(days=DAYS)
    return list(Incident.objects.filter(Q(ended=None) | Q(ended__gt=since))[:_MAX_INCIDENTS])


def _component(
    component: Incident.Component, works: bool, incidents: list[Incident], now: datetime
) -> ComponentStatus:
    own = [each for each in incidents if each.component in ("", component) and each.began <= now]
    tone, word = _state(component, works, [each for each in own if not each.ended or each.ended > now])
    days: dict[int, str] = {}
    # The last one wins a day.
    for incident in sorted(own, key=lambda each: each.kind == Incident.Kind.DISTURBANCE):
        last = _place(min(incident.ended or now, now), now)
        tone_of_day = _TONES[Incident.Kind(incident.kind)]
        days |= dict.fromkeys(range(_place(incident.began, now), last + 1), tone_of_day)
    return ComponentStatus(
        title=str(component.label),
        word=str(word),
        tone=tone,
        days=days,
    )


def _works_again(until: datetime | None) -> datetime | None:
    """Return the whole minute, in UTC, at which calls that are refused after a restore are answered again."""
    return until and (until.astimezone(UTC) + timedelta(minutes=1)).replace(second=0, microsecond=0)


def _state(
    component: Incident.Component, works: bool, still_open: list[Incident]
) -> tuple[str, str | Promise]:
    """Return the tone and the word; an open incident comes before what is measured."""
    kinds = {incident.kind for incident in still_open}
    if Incident.Kind.DISTURBANCE in kinds:
        return "failed", _("Disrupted")
    if Incident.Kind.MAINTENANCE in kinds:
        return "partial", Incident.Kind.MAINTENANCE.label
    if works:
        return "ok", _("Works")
    return ("partial", _("Delayed")) if component in _COMMANDS else ("failed", _("Disrupted"))


def _place(at: datetime, now: datetime) -> int:
    """Return the place of a day (UTC) among the 90: 0 for the oldest and everything before, 89 for today."""
    age = (now.astimezone(UTC).date() - at.astimezone(UTC).date()).days
    return DAYS - 1 - min(age, DAYS - 1)


def _known_since(incidents: list[Incident]) -> datetime:
    """Return since when incidents could be written: since the tables exist, or since the first incident."""
    created: datetime = MigrationRecorder(connection).migration_qs.aggregate(at=Min("applied"))["at"]
    return min(created, *(incident.began for incident in incidents), timezone.now())
