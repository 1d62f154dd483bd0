"""System checks of the service: its settings for a deployment."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register


@register(Tags.security, deploy=True)
def hosts_are_public(**_: Any) -> list[CheckMessage]:
    """E002: the ownership of an IP address or a single label cannot be verified on the internet."""
    if not settings.ALLOW_PRIVATE_HOSTS:
        return []
    return [
        Error(
            "ALLOW_PRIVATE_HOSTS allows websites that are IP addresses or single labels.",
            hint="It is for demos and tests: remove it from the environment.",
            id="dashboard_api.E002",
        )
    ]
