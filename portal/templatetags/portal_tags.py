"""Template tags: times in UTC, highlighted search words, evidence, and notices about proofs."""

from datetime import UTC, date, datetime
from typing import Any

from django import template
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.utils.dates import MONTHS_3
from django.utils.formats import get_format
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from portal.pages.view_models.claim_notices import claim_notices as notices_for
from portal.texts import labels
from portal.texts.evidence import evidence_parts
from portal.texts.highlighting import highlight

register = template.Library()
register.filter(highlight)
register.filter(evidence_parts)


@register.simple_tag
def moment(at: datetime | None) -> SafeString | str:
    """Return day and time of ``at`` in UTC; a script shows the reader's time zone."""
    if at is None:
        return ""
    at = at.astimezone(UTC)
    text = _("%(moment)s UTC") % {"moment": labels.moment(at)}
    return format_html('<time datetime="{}">{}</time>', _machine_readable(at), text)


@register.simple_tag
def day(at: datetime | date | None) -> SafeString | str:
    """Return the day of ``at``; if it has a time, a script shows the day in the reader's time zone."""
    if at is None:
        return ""
    if not isinstance(at, datetime):
        return format_html('<time datetime="{}">{}</time>', at.isoformat(), labels.day(at))
    at = at.astimezone(UTC)
    return format_html('<time datetime="{}" data-day>{}</time>', _machine_readable(at), labels.day(at))


@register.simple_tag
def date_attributes() -> SafeString:
    """Return the attributes with the date format for the script."""
    months = " ".join(str(MONTHS_3[month]).title() for month in range(1, 13))
    return format_html('data-date-format="{}" data-months="{}"', get_format("DATE_FORMAT"), months)


@register.simple_tag
def english(is_translated: bool = False) -> SafeString:
    """Return ``lang="en"`` for an element with a scanner's text, on a page in another language."""
    is_marked = not is_translated and (get_language() or "en").partition("-")[0] != "en"
    return mark_safe(' lang="en"' if is_marked else "")  # noqa: S308 - no text from outside


@register.filter
def with_english(text: str, words: str) -> SafeString | str:
    """Return ``text`` with a scanner's ``words`` in it marked as English, on a page in another language."""
    before, found, after = text.rpartition(words) if words else (text, "", "")
    return (
        format_html("{}<span{}>{}</span>{}", before, english(), found, after) if found and english() else text
    )


def _machine_readable(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


@register.inclusion_tag("portal/_claim_notices.html")
def claim_notices(user: AbstractBaseUser | AnonymousUser, host: str = "") -> dict[str, Any]:
    """Show the proofs of ownership that need an action, for all of the person's websites or for one."""
    return {"notices": notices_for(user, host)}
