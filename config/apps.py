"""The project's own Django application: sign-in, error pages, guards, the demo."""

from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.db.models.signals import pre_migrate

from config.databases import SHORT_LIVED


class ConfigConfig(AppConfig):
    """The project's own application."""

    name = "config"
    verbose_name = "Project"

    def ready(self) -> None:
        """Guard every ``migrate``, and stop sign-ins from writing to SQLite's file of records.

        An import locks that file for minutes.
        """
        pre_migrate.connect(_refuse_earlier_tables, sender=self)
        if SHORT_LIVED not in settings.DATABASES:
            return
        from allauth.mfa.models import Authenticator

        user_logged_in.disconnect(dispatch_uid="update_last_login")
        Authenticator.record_usage = _record_nothing  # type: ignore[assignment,method-assign]


def _refuse_earlier_tables(*, using: str, **_: Any) -> None:
    from config import doctor

    doctor.refuse_earlier_tables([using])


def _record_nothing(_: object) -> None:
    """Replace allauth's record of the last use of a second factor."""
