"""System checks of the portal's settings; every manage.py command runs them."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.http.request import validate_host

from portal.gateway import Misconfigured
from portal.gateway.target import check_base_url, check_timeout, host_of, is_loopback


@register(Tags.security)
def base_url_is_usable(**_: Any) -> list[CheckMessage]:
    """Check that signed calls go to one server, encrypted, without a path of its own (E001).

    E005: this server must accept its own name if the portal calls it; else every page would be a 502.
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
            hint="Remove DASHBOARD_BASE_URL, so that the portal calls the service in its own process.",
            id="portal.E005",
        )
    ]


@register
def timeout_is_usable(**_: Any) -> list[CheckMessage]:
    """Check the longest wait of a page (E002)."""
    try:
        check_timeout(settings.DASHBOARD_TIMEOUT_SECONDS)
    except Misconfigured as error:
        return [Error(str(error), hint="Set DASHBOARD_TIMEOUT_SECONDS, or remove it.", id="portal.E002")]
    return []


@register(Tags.security)
def account_of_the_environment_is_whole(**_: Any) -> list[CheckMessage]:
    """Check that the environment has both an account's reference and its secret, or neither (E003)."""
    if bool(settings.PORTAL_ACCOUNT_REF) == bool(settings.SITE_API_SECRET):
        return []
    return [
        Error(
            "Only one of PORTAL_ACCOUNT_REF and SITE_API_SECRET is set.",
            hint=(
                "Set both for a portal of one account; remove both if accounts have their own secrets "
                "(manage.py connect_account REF)."
            ),
            id="portal.E003",
        )
    ]


@register(Tags.security)
def own_address_is_usable(**_: Any) -> list[CheckMessage]:
    """Check the address in e-mails, where people sign in (E004)."""
    try:
        if settings.PORTAL_BASE_URL:
            check_base_url(settings.PORTAL_BASE_URL)
    except Misconfigured as error:
        return [Error(str(error), hint="Set PORTAL_BASE_URL, or remove it.", id="portal.E004")]
    return []
