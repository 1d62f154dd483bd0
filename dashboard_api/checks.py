"""Django system checks of the service, run by every manage.py command."""

from typing import Any

from cryptography.fernet import Fernet
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register


@register(Tags.security)
def master_keys_work(**_: Any) -> list[CheckMessage]:
    """E001: without usable keys no secret can be stored or opened, so every signed call fails."""
    try:
        keys = [Fernet(key) for key in settings.MASTER_KEYS]
    except ValueError:
        keys = []
    if keys:
        return []
    return [
        Error(
            "MASTER_KEYS holds no usable key, or one that is not.",
            hint="Each is 32 random bytes in URL-safe base64, such as '1:<44 characters>'.",
            id="dashboard_api.E001",
        )
    ]


@register(Tags.security, deploy=True)
def hosts_are_public(**_: Any) -> list[CheckMessage]:
    """E002: on the internet, an IP address or a single label is nobody's proven website."""
    if not settings.ALLOW_PRIVATE_HOSTS:
        return []
    return [
        Error(
            "ALLOW_PRIVATE_HOSTS lets IP addresses and single labels be websites.",
            hint="It is for trying things out: remove it from the environment.",
            id="dashboard_api.E002",
        )
    ]
