"""Events in the timeline of a finding: fixed, regressed, triaged, confirmed, severity changed."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from dashboard_api.models.findings import Finding, Severity
from dashboard_api.models.standing import StandingDecision


class FindingEvent(models.Model):
    """An event in the timeline of a finding. First and last sight are fields of the finding."""

    class Event(models.TextChoices):
        """Values of ``event`` in the API."""

        FIXED = "fixed", "Fixed"
        REGRESSED = "regressed", "Regressed"
        FALSE_POSITIVE = "false_positive", "False Positive"
        ACCEPTED_RISK = "accepted_risk", "Accepted Risk"
        RECONSIDERED = "reconsidered", "Reconsidered"
        DECISION_EXPIRED = "decision_expired", "Decision Expired"
        RATED = "rated", "Rated"
        CONFIRMED = "confirmed", "Confirmed"
        UNCONFIRMED = "unconfirmed", "Unconfirmed"
        SCANNER_RATED = "scanner_rated", "Rated by the Scanner"  # not part of the timeline for customers

    finding = models.ForeignKey(Finding, on_delete=models.CASCADE, related_name="events")
    website_id = models.BigIntegerField(help_text="The finding's website; regressions are queried by it.")
    at = models.DateTimeField(default=timezone.now)
    event = models.CharField(max_length=20, choices=Event)
    by = models.CharField(
        max_length=150, blank=True, help_text="Who did it; empty: a scan, or the end of a decision."
    )
    reason = models.CharField(max_length=500, blank=True, help_text="Customers can read it.")
    decision = models.ForeignKey(  # a partial index holds the few events that have one
        StandingDecision,
        on_delete=models.RESTRICT,
        related_name="events",
        null=True,
        blank=True,
        db_index=False,
        help_text="The standing decision that caused the event; empty if a scan or an analyst did.",
    )
    severity_before = models.PositiveSmallIntegerField(
        choices=Severity, null=True, blank=True, help_text="The severity before a change of it."
    )

    class Meta:
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [
            models.Index(
                fields=["website_id", "id"],
                condition=Q(event="regressed"),
                name="dashboard_api_event_regressed",
            ),
            models.Index(
                fields=["decision", "website_id"],
                condition=Q(decision__isnull=False),
                name="dashboard_api_event_standing",
            ),
            models.Index(fields=["website_id", "id"], name="dashboard_api_event_website"),
        ]

    def __str__(self) -> str:
        return f"{self.get_event_display()} on {self.at:%Y-%m-%d}"
