"""Payment callbacks: events of payment providers, and the newest state of each subscription."""

from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from dashboard_api.models.accounts import Account
from dashboard_api.models.plans import Plan
from foundation.sealing import seal, unseal_once

NAME_LENGTH = 255


class CallbackEvent(models.Model):
    """An event that a provider sent, stored before it was answered; its body is kept for 30 days."""

    class State(models.TextChoices):
        RECEIVED = "received", "received"
        APPLIED = "applied", "applied"
        DUPLICATE = "duplicate", "duplicate"
        SUPERSEDED = "superseded", "superseded"
        IGNORED = "ignored", "ignored"
        WAITING = "waiting", "waiting for its account"
        FAILED = "failed", "failed"
        DEAD = "dead", "given up"

    # States that keep the body: it is applied later, or by an operator.
    NOT_DONE = (State.RECEIVED, State.WAITING, State.FAILED, State.DEAD)

    provider = models.CharField("provider", max_length=20)
    event_id = models.CharField("event", max_length=NAME_LENGTH)
    type = models.CharField("type", max_length=100, blank=True)
    occurred_at = models.DateTimeField("occurred", null=True)
    received_at = models.DateTimeField("received", default=timezone.now)
    object_id = models.CharField("subscription", max_length=NAME_LENGTH, blank=True)
    customer = models.CharField("customer of the provider", max_length=NAME_LENGTH, blank=True)
    account = models.ForeignKey(
        Account, null=True, on_delete=models.CASCADE, related_name="callbacks", verbose_name="customer"
    )
    state = models.CharField("state", max_length=10, choices=State, default=State.RECEIVED)
    attempts = models.PositiveSmallIntegerField("attempts", default=0)
    next_at = models.DateTimeField("next attempt", null=True)
    error = models.CharField("error", max_length=100, blank=True)
    before = models.JSONField("before", null=True)
    after = models.JSONField("after", null=True)
    sealed_body = models.TextField(blank=True)

    class Meta:
        verbose_name = "payment callback"
        verbose_name_plural = "payment callbacks"
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["provider", "event_id"], name="dashboard_api_callback_once"),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["next_at"], condition=Q(next_at__isnull=False), name="dashboard_api_callback_due"
            ),
            models.Index(fields=["received_at"], name="dashboard_api_callback_age"),
            models.Index(fields=["state"], name="dashboard_api_callback_state"),
        ]

    def __str__(self) -> str:
        return f"callback {self.pk} of {self.provider}"

    @property
    def sealed_for(self) -> str:
        """The context in which the body is sealed."""
        return f"callback {self.event_id} of {self.provider}"

    def keep_body(self, body: bytes) -> None:
        """Seal the body; the caller saves the row."""
        self.sealed_body = seal(body.decode(), self.sealed_for)

    def body(self) -> bytes:
        """Return the body; raises CannotUnseal."""
        return unseal_once(self.sealed_body, self.sealed_for).encode()


class Subscription(models.Model):
    """A subscription of a provider; ``held`` has its newest snapshot, or several of the same time."""

    provider = models.CharField("provider", max_length=20)
    object_id = models.CharField("subscription", max_length=NAME_LENGTH)
    account = models.ForeignKey(
        Account, on_delete=models.CASCADE, related_name="subscriptions", verbose_name="customer"
    )
    held: Any = models.JSONField("snapshots", default=list)
    # Times of the newest events with and without a late payment, to know since when one is late.
    late_at = models.DateTimeField(null=True)
    settled_at = models.DateTimeField(null=True)
    unclear_until = models.DateTimeField(null=True)  # events with the same timestamp contradict each other

    class Meta:
        verbose_name = "subscription"
        verbose_name_plural = "subscriptions"
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["provider", "object_id"], name="dashboard_api_subscription_of_provider"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.object_id} ({self.provider})"


class PlanPrice(models.Model):
    """A price of a provider, and the revision of a plan that it buys."""

    provider = models.CharField("provider", max_length=20, help_text="Such as stripe.")
    price = models.CharField(
        "price", max_length=NAME_LENGTH, help_text="As the provider names it, such as price_1PgafmB7."
    )
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="prices", verbose_name="plan")

    class Meta:
        verbose_name = "price of a plan"
        verbose_name_plural = "prices of plans"
        ordering: ClassVar = ["provider", "price"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["provider", "price"], name="dashboard_api_planprice_one_plan"),
        ]

    def __str__(self) -> str:
        return f"{self.price} ({self.provider})"


class BillingCustomer(models.Model):
    """An account as a customer of a provider; at most one for each provider."""

    provider = models.CharField("provider", max_length=20)
    customer = models.CharField("customer of the provider", max_length=NAME_LENGTH)
    account = models.ForeignKey(
        Account, on_delete=models.CASCADE, related_name="billing_customers", verbose_name="customer"
    )

    class Meta:
        verbose_name = "customer of a provider"
        verbose_name_plural = "customers of providers"
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["provider", "customer"], name="dashboard_api_billingcustomer_one_account"
            ),
            models.UniqueConstraint(
                fields=["provider", "account"], name="dashboard_api_billingcustomer_one_customer"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.customer} ({self.provider})"
