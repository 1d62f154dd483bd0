"""The application's name, and its system checks."""

from django.apps import AppConfig


class DashboardApiConfig(AppConfig):
    """The service that answers signed calls."""

    name = "dashboard_api"
    verbose_name = "Dashboard API"

    def ready(self) -> None:
        """Register the system checks."""
        from dashboard_api import checks  # noqa: F401
