"""The project's own Django application: sign-in, error pages, guards and the demo."""

from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.contrib.admin import apps as admin_apps
from django.contrib.auth.signals import user_logged_in
from django.db.models.signals import post_migrate

from config.operations.databases import SHORT_LIVED
from foundation.operations.heartbeats import command_ended


class OperationsConfig(admin_apps.AdminConfig):
    """Django's admin with the product's site."""

    default = False
    default_site = "config.admin_pages.site.OperationsSite"


class ConfigConfig(AppConfig):
    """Application of the project, which connects its hooks, checks and signals."""

    default = True

    name = "config"
    verbose_name = "Operation"

    def ready(self) -> None:
        """Register hooks, checks and heartbeats; stop sign-ins from writing to SQLite's file of records.

        An import locks that file for minutes.
        """
        from config.admin_pages import audit_hooks
        from config.identity import staff
        from config.operations import checks, heartbeats  # noqa: F401  # checks register themselves

        audit_hooks.watch_admin()
        staff.limit_filters()
        staff.refuse_forms_after_changes()
        command_ended.connect(heartbeats.store)
        if settings.ENABLE_API and settings.ENABLE_PORTAL:
            from config.operations import portal_secrets

            portal_secrets.connect()
        post_migrate.connect(_create_groups, sender=self)  # last application, so all permissions exist
        if SHORT_LIVED not in settings.DATABASES:
            return
        from allauth.mfa.models import Authenticator

        user_logged_in.disconnect(dispatch_uid="update_last_login")
        Authenticator.record_usage = _record_nothing  # type: ignore[assignment,method-assign]


def _create_groups(*, using: str, **_: Any) -> None:
    from django.contrib.auth.models import Group
    from django.db import router

    from config.admin_pages.staff_groups import create_groups

    if router.allow_migrate_model(using, Group):
        create_groups(using)


def _record_nothing(_: object) -> None:
    """Replace the allauth method that stores the last use of a second factor."""
