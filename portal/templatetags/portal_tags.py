"""What pages write in one way everywhere: moments, and what a search found.

Moments are in UTC, for people and for the script that knows their zone.
"""

from datetime import UTC, date, datetime

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from portal import labels
from portal.marking import marked

register = template.Library()
register.filter(marked)


@register.simple_tag
def moment(at: datetime | None) -> SafeString | str:
    """Day and time of ``at``."""
    if at is None:
        return ""
    at = at.astimezone(UTC)
    text = _("%(moment)s UTC") % {"moment": labels.moment(at)}
    return format_html('<time datetime="{}">{}</time>', _machine_readable(at), text)


@register.simple_tag
def day(at: datetime | date | None) -> SafeString | str:
    """The day of ``at``; the script shows the reader's own day where a time is known."""
    if at is None:
        return ""
    if not isinstance(at, datetime):
        return format_html('<time datetime="{}">{}</time>', at.isoformat(), labels.day(at))
    at = at.astimezone(UTC)
    return format_html('<time datetime="{}" data-day>{}</time>', _machine_readable(at), labels.day(at))


def _machine_readable(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
