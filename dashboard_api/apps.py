"""The Django app of the service."""

from typing import Any

from django.apps import AppConfig
from django.apps import apps as installed
from django.apps.registry import Apps
from django.db import connections, router
from django.db.models.signals import post_migrate


class DashboardApiConfig(AppConfig):
    """The service that answers signed calls."""

    name = "dashboard_api"
    verbose_name = "Findings and customers"

    def ready(self) -> None:
        """Install triggers after ``migrate``."""
        post_migrate.connect(_install_triggers, sender=self)


def _install_triggers(*, using: str, apps: Apps = installed, **_: Any) -> None:
    """After every ``migrate``: SQLite drops the triggers of a table that a migration remakes."""
    from dashboard_api.backends import triggers
    from dashboard_api.models import Finding

    has_tables = "finding" in apps.all_models["dashboard_api"]  # not after a ``migrate`` of another app alone
    if has_tables and router.allow_migrate_model(using, Finding):
        triggers.install(connections[using])
