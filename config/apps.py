"""The project's own application; on SQLite it keeps sign-ins from writing to the records."""

from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.db.models.signals import pre_migrate

from config.databases import SHORT_LIVED


class ConfigConfig(AppConfig):
    """The project's application: sign-in, error pages, guards, the demo."""

    name = "config"
    verbose_name = "Project"

    def ready(self) -> None:
        """Guard every ``migrate``; stop sign-ins from writing to the records on SQLite.

        An import locks the records for minutes.
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
    """Replace allauth's record of when a second factor was last used."""
