"""Django's configuration of the service."""

from typing import Any

from django.apps import AppConfig
from django.apps import apps as installed
from django.apps.registry import Apps
from django.db import connections, router
from django.db.models.signals import post_migrate


class DashboardApiConfig(AppConfig):
    """The Django app of the service that answers signed calls."""

    name = "dashboard_api"
    verbose_name = "Findings and customers"

    def ready(self) -> None:
        """Install triggers after ``migrate``."""
        post_migrate.connect(_install_triggers, sender=self)


def _install_triggers(*, using: str, apps: Apps = installed, **_: Any) -> None:
    """Install the triggers again: SQLite drops them when a migration recreates their table."""
    from dashboard_api.backends import triggers
    from dashboard_api.models import Finding

    has_tables = (
        "finding" in apps.all_models["dashboard_api"]
    )  # false after a ``migrate`` of another app only
    if has_tables and router.allow_migrate_model(using, Finding):
        triggers.install(connections[using])
