"""The days until a certificate or a domain expires, in words."""

from datetime import UTC, datetime, timedelta

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

SOON = timedelta(days=14)
SOON_FOR_DOMAINS = timedelta(days=30)  # nothing renews most of them by itself


def days_left(until: datetime, now: datetime) -> int:
    """Return the number of days from today to the day of ``until``, both in UTC; negative for the past."""
    return (until.astimezone(UTC).date() - now.astimezone(UTC).date()).days


def in_words(until: datetime, now: datetime) -> str:
    """Return text such as "expires in 14 days", "expires today" and "expired 3 days ago"."""
    days = days_left(until, now)
    if days == 0:
        return _("expires today") if until > now else _("expired today")
    count = abs(days)
    if days > 0:
        text = ngettext("expires in %(count)s day", "expires in %(count)s days", count)
    else:
        text = ngettext("expired %(count)s day ago", "expired %(count)s days ago", count)
    return text % {"count": number_format(count)}


def tone(until: datetime, now: datetime, *, soon: timedelta = SOON) -> str:
    """Return the CSS class: failed after ``until``, partial within ``soon`` before it, else ok."""
    if until <= now:
        return "failed"
    return "partial" if until - now <= soon else "ok"
