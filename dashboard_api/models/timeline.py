"""Events in the timeline of a finding: fixed, regressed, triaged, severity changed."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from dashboard_api.models.findings import Finding


class FindingEvent(models.Model):
    """An event of a finding. First and last sight are fields of the finding (decision record 0031)."""

    class Event(models.TextChoices):
        """Values of ``event`` in the API."""

        FIXED = "fixed"
        REGRESSED = "regressed"
        FALSE_POSITIVE = "false_positive"
        ACCEPTED_RISK = "accepted_risk"
        RECONSIDERED = "reconsidered"
        DECISION_EXPIRED = "decision_expired"
        RATED = "rated"

    finding = models.ForeignKey(Finding, on_delete=models.CASCADE, related_name="events")
    website_id = models.BigIntegerField(help_text="The finding's website; regressions are queried by it.")
    at = models.DateTimeField(default=timezone.now)
    event = models.CharField(max_length=20, choices=Event)
    by = models.CharField(max_length=150, blank=True, help_text="Empty: a scan, or the end of a decision.")
    reason = models.CharField(max_length=500, blank=True, help_text="Customers read it, too.")

    class Meta:
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [
            models.Index(
                fields=["website_id", "id"],
                condition=Q(event="regressed"),
                name="dashboard_api_event_regressed",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event} at {self.at:%Y-%m-%d}"
