"""The project's own application; on SQLite it keeps sign-ins from writing to the records."""

from django.apps import AppConfig
from django.conf import settings
from django.contrib.auth.signals import user_logged_in

from config.databases import SHORT_LIVED


class ConfigConfig(AppConfig):
    """Sign-in, error pages, guards, the demo."""

    name = "config"
    verbose_name = "Project"

    def ready(self) -> None:
        """Stop sign-ins from writing to the records on SQLite: an import locks them for minutes."""
        if SHORT_LIVED not in settings.DATABASES:
            return
        from allauth.mfa.models import Authenticator

        user_logged_in.disconnect(dispatch_uid="update_last_login")
        Authenticator.record_usage = _record_nothing  # type: ignore[assignment,method-assign]


def _record_nothing(_: object) -> None:
    """Replace allauth's record of when a second factor was last used."""
