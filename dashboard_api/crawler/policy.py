"""The limits of scans: eligible websites, cooldown and quota."""

from datetime import datetime, timedelta

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from dashboard_api.models import ScanJob, Website

COOLDOWN = timedelta(minutes=5)
MAX_SCANS_A_DAY = 20
LEASE = timedelta(seconds=60)
RENEWAL_SECONDS = 3.0  # a cancellation is noticed then, too
MAX_ATTEMPTS = 2


class NotScannable(ValidationError):
    """The website may not be scanned; the message says why, and what to do."""


class TooManyScans(ValidationError):
    """The website was scanned too often; the message says when it may be scanned again."""


def check_scannable(website: Website) -> None:
    """Raise NotScannable unless the website is verified and watched."""
    if website.archived_at is not None:
        raise NotScannable(_("%(website)s is archived.") % {"website": website})
    if website.verified_at is None:
        raise NotScannable(
            _("%(website)s is not verified: verify its ownership first (verify_site).") % {"website": website}
        )


def check_quota(website: Website, now: datetime) -> None:
    """Raise TooManyScans within the cooldown, or after the last scan of a day."""
    last_day = list(
        ScanJob.objects.filter(website=website, created_at__gt=now - timedelta(days=1))
        .exclude(state=ScanJob.State.CANCELLED)
        .values_list("created_at", flat=True)[:MAX_SCANS_A_DAY]
    )
    if not last_day:
        return
    again = last_day[0] + COOLDOWN
    if len(last_day) == MAX_SCANS_A_DAY:
        again = max(again, last_day[-1] + timedelta(days=1))
    if again > now:
        text = _("%(website)s was scanned a short while ago: the next scan can begin at %(time)s UTC.")
        raise TooManyScans(text % {"website": website, "time": f"{again:%Y-%m-%d %H:%M}"})
