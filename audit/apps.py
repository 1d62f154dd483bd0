"""The application of audit events."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AuditConfig(AppConfig):
    """Audit events, which both apps write."""

    name = "audit"
    verbose_name = _("Audit")
