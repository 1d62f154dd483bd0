"""The application's name, and its system checks."""

from django.apps import AppConfig
from django.db.backends.signals import connection_created


class DashboardApiConfig(AppConfig):
    """The service that answers signed calls."""

    name = "dashboard_api"
    verbose_name = "Dashboard API"

    def ready(self) -> None:
        """Register the system checks; every connection must know how findings are searched."""
        from dashboard_api import checks, search  # noqa: F401

        connection_created.connect(search.teach_sqlite)
