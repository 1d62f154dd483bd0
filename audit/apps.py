"""The application of audit events."""

from django.apps import AppConfig


class AuditConfig(AppConfig):
    """Audit events, which both apps write."""

    name = "audit"
    verbose_name = "Audit"
