"""Payment callbacks: events of payment providers, and the newest state of each subscription.

Decision record 0122.
"""

from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from dashboard_api.models.accounts import Account
from dashboard_api.models.plans import Plan
from foundation.sealing import seal, unseal_once

NAME_LENGTH = 255


class CallbackEvent(models.Model):
    """An event that a provider sent, stored before it was answered; its body is kept for 30 days."""

    class State(models.TextChoices):
        RECEIVED = "received", _("received")
        APPLIED = "applied", _("applied")
        DUPLICATE = "duplicate", _("duplicate")
        SUPERSEDED = "superseded", _("superseded")
        IGNORED = "ignored", _("ignored")
        WAITING = "waiting", _("waiting for its account")
        FAILED = "failed", _("failed")
        DEAD = "dead", _("given up")

    # Their bodies are still to be applied, by themselves or by an operator.
    NOT_DONE = (State.RECEIVED, State.WAITING, State.FAILED, State.DEAD)

    provider = models.CharField(_("provider"), max_length=20)
    event_id = models.CharField(_("event"), max_length=NAME_LENGTH)
    type = models.CharField(_("type"), max_length=100, blank=True)
    occurred_at = models.DateTimeField(_("occurred"), null=True)
    received_at = models.DateTimeField(_("received"), default=timezone.now)
    object_id = models.CharField(_("subscription"), max_length=NAME_LENGTH, blank=True)
    customer = models.CharField(_("customer of the provider"), max_length=NAME_LENGTH, blank=True)
    account = models.ForeignKey(
        Account, null=True, on_delete=models.CASCADE, related_name="callbacks", verbose_name=_("customer")
    )
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.RECEIVED)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    next_at = models.DateTimeField(_("next attempt"), null=True)
    error = models.CharField(_("error"), max_length=100, blank=True)
    before = models.JSONField(_("before"), null=True)
    after = models.JSONField(_("after"), null=True)
    sealed_body = models.TextField(blank=True)

    class Meta:
        verbose_name = _("payment callback")
        verbose_name_plural = _("payment callbacks")
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
        return _("callback %(id)s of %(provider)s") % {"id": self.pk, "provider": self.provider}

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
    """A subscription of a provider; ``held`` are its newest snapshots, several only of the same moment."""

    provider = models.CharField(_("provider"), max_length=20)
    object_id = models.CharField(_("subscription"), max_length=NAME_LENGTH)
    account = models.ForeignKey(
        Account, on_delete=models.CASCADE, related_name="subscriptions", verbose_name=_("customer")
    )
    held: Any = models.JSONField(_("snapshots"), default=list)
    # The newest events that began a late payment, and those without one: they say since when one is late.
    late_at = models.DateTimeField(null=True)
    settled_at = models.DateTimeField(null=True)
    unclear_until = models.DateTimeField(null=True)  # events with the same timestamp contradict each other

    class Meta:
        verbose_name = _("subscription")
        verbose_name_plural = _("subscriptions")
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["provider", "object_id"], name="dashboard_api_subscription_of_provider"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.object_id} ({self.provider})"


class PlanPrice(models.Model):
    """A price of a provider, and the revision of a plan that is bought with it."""

    provider = models.CharField(_("provider"), max_length=20, help_text=_("Such as stripe."))
    price = models.CharField(
        _("price"), max_length=NAME_LENGTH, help_text=_("As the provider names it, such as price_1PgafmB7.")
    )
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="prices", verbose_name=_("plan"))

    class Meta:
        verbose_name = _("price of a plan")
        verbose_name_plural = _("prices of plans")
        ordering: ClassVar = ["provider", "price"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["provider", "price"], name="dashboard_api_planprice_one_plan"),
        ]

    def __str__(self) -> str:
        return f"{self.price} ({self.provider})"


class BillingCustomer(models.Model):
    """The customer of a provider that an account is; at most one for each provider."""

    provider = models.CharField(_("provider"), max_length=20)
    customer = models.CharField(_("customer of the provider"), max_length=NAME_LENGTH)
    account = models.ForeignKey(
        Account, on_delete=models.CASCADE, related_name="billing_customers", verbose_name=_("customer")
    )

    class Meta:
        verbose_name = _("customer of a provider")
        verbose_name_plural = _("customers of providers")
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
