"""The project's own application, and what a sign-in does not write."""

from django.apps import AppConfig
from django.conf import settings
from django.contrib.auth.signals import user_logged_in

from config.databases import SHORT_LIVED


class ConfigConfig(AppConfig):
    """Sign-in, error pages, guards, the demo."""

    name = "config"
    verbose_name = "Project"

    def ready(self) -> None:
        """On SQLite an import holds the records for minutes, so signing in writes nothing there."""
        if SHORT_LIVED not in settings.DATABASES:
            return
        from allauth.mfa.models import Authenticator

        user_logged_in.disconnect(dispatch_uid="update_last_login")
        Authenticator.record_usage = _record_nothing  # type: ignore[assignment,method-assign]


def _record_nothing(_: object) -> None:
    """In place of the moment of the last use."""
