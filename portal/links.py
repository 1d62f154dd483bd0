"""Absolute addresses of this portal, for e-mails and for people to pass on."""

from django.conf import settings
from django.http import HttpRequest


def origin(request: HttpRequest) -> str:
    """Return PORTAL_BASE_URL; without it, which only a deployment on loopback allows, the request's origin.

    A visitor can forge the Host header, so no link for other people comes from it.
    """
    return settings.PORTAL_BASE_URL or request.build_absolute_uri("/").removesuffix("/")
