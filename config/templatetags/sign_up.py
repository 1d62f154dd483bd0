"""The address of the sign-up page."""

from django import template
from django.conf import settings
from django.urls import reverse

register = template.Library()


@register.simple_tag
def sign_up_url() -> str:
    """Return the path of the sign-up page; empty unless SIGN_UP is open."""
    return reverse("sign_up") if settings.SIGN_UP == "open" else ""
