"""Problems that the operator of the service must solve, for ``manage.py doctor``."""

from collections.abc import Iterator

from django.conf import settings
from django.db.models import Count, Max
from django.utils import timezone

from dashboard_api.billing.callbacks.applying import undelivered
from dashboard_api.crawler import tables, wall
from dashboard_api.crawler.engines import WrongEngines, read_engines
from dashboard_api.models import Nonce, Published, ScanSchedule
from dashboard_api.ownership import claims
from dashboard_api.public.publishing import STALE_AFTER

# By the names of the numbers that ``undelivered`` returns
_CALLBACK_PROBLEMS = {
    "dead": (
        "Payment callbacks given up: {}. The admin shows why; remove the cause, and apply them again there."
    ),
    "overdue": (
        "Payment callbacks that should have been tried again: {}. Run 'manage.py process_callbacks' every "
        "5 minutes."
    ),
    "waiting": (
        "Payment callbacks that have waited for their account for more than an hour: {}. Correct the "
        "reference for payments at the sender ('manage.py show_account'), before they are given up after a "
        "day."
    ),
    "unclear": (
        "Subscriptions whose payment callbacks with the same timestamp contradict each other: {}. With "
        "STRIPE_API_KEY, Stripe is asked within minutes; otherwise find out what was paid, and have a new "
        "callback sent."
    ),
}


def problems() -> Iterator[str]:
    """Yield one line for each problem: what is wrong, and what to do."""
    now = timezone.now()
    fenced_until = Nonce.objects.fenced_until(now)
    if fenced_until and fenced_until > now:
        yield (
            f"Signed calls are refused until {fenced_until:%H:%M:%S} UTC, because a backup was restored: "
            "they are answered again by themselves."
        )
    made_at = Published.objects.aggregate(at=Max("made_at"))["at"]
    if settings.PUBLIC_TELEMETRY and made_at and now - made_at > STALE_AFTER:
        day = made_at.date()
        yield f"Public telemetry was made on {day}: run 'manage.py publish_telemetry' every hour."
    if claims.judging_pauses(now):
        share, checked = claims.unasked_share(now)
        yield (
            f"Of {checked} proofs of ownership checked in the last hour, {share:.0%} could not be asked for "
            "(each account counts the same): meanwhile none is judged missing. Check that this machine "
            "reaches the internet on ports 53, 80 and 443 (DNS_RESOLVERS)."
        )
    numbers = undelivered(now)
    yield from (text.format(numbers[name]) for name, text in _CALLBACK_PROBLEMS.items() if numbers[name])
    if settings.CRAWLER_ENABLED:
        yield from _missing_wall()
        yield from _missing_scanners()
        yield from tables.problems(now.date())


def _missing_wall() -> Iterator[str]:
    try:
        wall.check()
    except wall.WallMissing as error:
        yield str(error)


def _missing_scanners() -> Iterator[str]:
    """Yield lines about scanners that are not installed.

    A missing optional scanner counts only if a scheduled profile has no other scanner of its own.
    """
    try:
        engines = read_engines(settings.CRAWLER_ENGINES)
    except WrongEngines as error:
        yield str(error)
        return
    missing = [each for each in engines if each.program() is None]
    if names := ", ".join(each.name for each in missing if not each.optional):
        yield (
            f"Scans are partial without what is not installed here: {names}. Run 'make engines', install "
            f"the rest, or make it optional in {settings.CRAWLER_ENGINES}."
        )
    schedules = ScanSchedule.objects.filter(next_at__isnull=False, link__revoked_at=None)
    for profile, number in schedules.values_list("profile").annotate(Count("pk")).order_by("profile"):
        only_here = [each for each in engines if each.profile == profile]  # smaller profiles lack them
        if only_here and all(each in missing for each in only_here):
            names = ", ".join(each.name for each in only_here)
            yield (
                f"Websites with {profile} scans by schedule: {number}. None of the scanners that only such "
                f"scans have is installed here ({names}), so they find no more than smaller ones: run 'make "
                "engines'."
            )
