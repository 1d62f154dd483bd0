"""The application's configuration."""

from django.apps import AppConfig


class PortalConfig(AppConfig):
    """The portal's Django app."""

    name = "portal"
    verbose_name = "Portal"

    def ready(self) -> None:
        """Register the system checks."""
        from portal import checks  # noqa: F401
