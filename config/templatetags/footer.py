"""The footer links of every page, also of error pages, which have no request."""

from dataclasses import dataclass

from django import template
from django.conf import settings
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

register = template.Library()
_LABELS = {
    "IMPRINT_URL": _("Imprint"),
    "PRIVACY_URL": _("Privacy"),
    "TERMS_URL": _("Terms"),
    "SUPPORT_URL": pgettext_lazy("footer", "Support"),
    "STATUS_URL": _("Service status"),
    "SECURITY_TXT_URL": "security.txt",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FooterLink:
    """Link in the footer of a page."""

    label: str
    url: str


@register.simple_tag
def footer_links() -> tuple[FooterLink, ...]:
    """Return the footer links that the settings define."""
    urls = {name: getattr(settings, name) for name in _LABELS}
    return tuple(FooterLink(label=str(_LABELS[name]), url=url) for name, url in urls.items() if url)
