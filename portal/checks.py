"""System checks of the portal: the address of the dashboard service, and the logo of PDFs."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register  # noqa: A004

from portal.exports.logo import LogoError, read_logo
from signed_api.client import host_of, is_loopback


@register()
def service_is_named(**_: Any) -> list[CheckMessage]:
    """E001: the portal has neither a service in its process nor the address of one."""
    if settings.DASHBOARD_APPLICATION or settings.DASHBOARD_BASE_URL:
        return []
    return [Error("A portal without the service needs DASHBOARD_BASE_URL, its address.", id="portal.E001")]


@register(deploy=True)
def service_is_elsewhere(**_: Any) -> list[CheckMessage]:
    """E002: the portal calls its own deployment over HTTP, so waiting pages hold the threads that answer."""
    host = host_of(settings.DASHBOARD_BASE_URL) or ""
    is_own = is_loopback(host) or (host and host == host_of(settings.PORTAL_BASE_URL))
    if not (settings.DASHBOARD_APPLICATION and is_own):
        return []
    text = (
        "DASHBOARD_BASE_URL is this deployment, so that many pages at once are refused. Remove it, or deploy "
        "the portal alone (ENABLE_API=false)."
    )
    return [Error(text, id="portal.E002")]


@register()
def logo_is_usable(**_: Any) -> list[CheckMessage]:
    """W001: the logo of PDFs cannot be used."""
    try:
        read_logo(settings.REPORT_LOGO)
    except LogoError as error:
        return [Warning(f"REPORT_LOGO {error} PDFs are made without a logo.", id="portal.W001")]
    return []
