"""Notices to owners about their plan, each sent once."""

from typing import ClassVar

from django.db import models

from dashboard_api.models.accounts import Account


class BillingNotice(models.Model):
    """A limit that is nearly or fully used, or a step of the plan; unique, so that it is mailed once."""

    class Kind(models.TextChoices):
        """Kinds of notices; ``days`` is until the end, or since the payment failed or the plan expired."""

        LIMIT_NEAR = "limit_near"
        LIMIT_REACHED = "limit_reached"
        TRIAL_ENDS = "trial_ends"
        PLAN_ENDS = "plan_ends"
        PAST_DUE = "past_due"
        SUSPENDED = "suspended"
        EXPIRED = "expired"
        WEBSITES_OVER = "websites_over"

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="billing_notices")
    kind = models.CharField(max_length=20, choices=Kind)
    limit = models.CharField(max_length=20, blank=True)
    period = models.CharField(max_length=40, blank=True)  # one notice in each
    days = models.IntegerField(null=True)
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["-at", "-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["account", "kind", "limit", "period"], name="dashboard_api_billingnotice_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.limit} {self.period}"
