"""The application's name, and its system checks."""

from django.apps import AppConfig


class PortalConfig(AppConfig):
    """The website owners' side."""

    name = "portal"
    verbose_name = "Portal"
