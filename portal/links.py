"""Whole addresses of this portal, for e-mails and for people to pass on."""

from django.conf import settings
from django.http import HttpRequest


def origin(request: HttpRequest) -> str:
    """PORTAL_BASE_URL; without it, which only this machine's own deployments may be, as ``request`` says.

    A Host header is the visitor's, so a link that somebody else follows never comes from it.
    """
    return settings.PORTAL_BASE_URL or request.build_absolute_uri("/").removesuffix("/")
