"""System checks of the portal: the address of the dashboard service, and the logo of PDFs."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register  # noqa: A004
from django.http.request import validate_host

from portal.exports.logo import LogoError, read_logo
from portal.gateway import Misconfigured
from portal.gateway.target import check_base_url, host_of, is_loopback


@register(Tags.security)
def base_url_is_usable(**_: Any) -> list[CheckMessage]:
    """E001: the address of the service is missing or cannot be used.

    E005: it leads to this machine by a name that ALLOWED_HOSTS refuses, so that every page would be a 502.
    """
    if settings.DASHBOARD_APPLICATION and not settings.DASHBOARD_BASE_URL:
        return []
    try:
        check_base_url(settings.DASHBOARD_BASE_URL)
    except Misconfigured as error:
        return [Error(str(error), hint="Set DASHBOARD_BASE_URL.", id="portal.E001")]
    return _own_name_is_allowed()


def _own_name_is_allowed() -> list[CheckMessage]:
    host = host_of(settings.DASHBOARD_BASE_URL) or ""
    if not (settings.DASHBOARD_APPLICATION and is_loopback(host)):
        return []
    if validate_host(f"[{host}]" if ":" in host else host, settings.ALLOWED_HOSTS):
        return []
    return [
        Error(
            f"The portal calls this machine as {host}, which is not in ALLOWED_HOSTS: every call is refused.",
            hint="Remove DASHBOARD_BASE_URL, and the portal calls the service in its own process.",
            id="portal.E005",
        )
    ]


@register(Tags.security, deploy=True)
def calls_another_deployment(**_: Any) -> list[CheckMessage]:
    """W008: the portal calls its own deployment, whose threads its pages hold meanwhile."""
    host = host_of(settings.DASHBOARD_BASE_URL) or ""
    is_own = is_loopback(host) or (host and host == host_of(settings.PORTAL_BASE_URL))
    if not (settings.DASHBOARD_APPLICATION and is_own):
        return []
    return [
        Warning(
            "The portal calls its own deployment over HTTP: of many pages at once, some are 503.",
            hint="Remove DASHBOARD_BASE_URL, or deploy the portal alone (ENABLE_API=false).",
            id="portal.W008",
        )
    ]


@register()
def logo_is_usable(**_: Any) -> list[CheckMessage]:
    """W006: the logo of PDFs cannot be used."""
    try:
        read_logo(settings.REPORT_LOGO)
    except LogoError as error:
        return [Warning(f"REPORT_LOGO {error}", hint="PDFs are made without a logo.", id="portal.W006")]
    return []
