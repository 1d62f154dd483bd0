"""The application's name, and its system checks."""

from django.apps import AppConfig


class PortalConfig(AppConfig):
    """The website owners' side."""

    name = "portal"
    verbose_name = "Portal"

    def ready(self) -> None:
        """Register the system checks."""
        from portal import checks  # noqa: F401
