"""Cookies that keep a browser's choice, such as the theme, for a year."""

from django.conf import settings
from django.http import HttpResponse

_SECONDS = 365 * 24 * 3600


def keep_choice(response: HttpResponse, name: str, value: str) -> None:
    """Set the cookie ``name``; an empty ``value`` deletes it."""
    if value:
        response.set_cookie(
            name, value, max_age=_SECONDS, secure=settings.HTTPS, httponly=True, samesite="Lax"
        )
    else:
        response.delete_cookie(name)
