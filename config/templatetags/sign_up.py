"""The address of the sign-up, for pages that lead there."""

from django import template
from django.conf import settings
from django.urls import reverse

register = template.Library()


@register.simple_tag
def sign_up_url() -> str:
    """Return the page on which strangers create an account; empty unless SIGN_UP is open."""
    return reverse("sign_up") if settings.SIGN_UP == "open" else ""
