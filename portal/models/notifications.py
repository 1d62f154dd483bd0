"""Subscriptions of members, feed cursors of websites, and notifications that wait for delivery."""

from typing import ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import models
from django.utils import timezone

from portal.models.accounts import Website
from portal.models.members import Membership
from portal.texts import labels

DEFAULT_MIN_SEVERITY = "High"


class Subscription(models.Model):
    """A member's choice of e-mails; members who have not chosen have no row."""

    class Frequency(models.TextChoices):
        """The frequency of a member's e-mails."""

        IMMEDIATE = "immediate"
        DAILY = "daily"
        WEEKLY = "weekly"
        NEVER = "never"

    membership = models.OneToOneField(
        Membership, on_delete=models.CASCADE, primary_key=True, related_name="subscription"
    )
    min_severity = models.CharField(
        max_length=10, default=DEFAULT_MIN_SEVERITY, help_text="The lowest severity that is sent."
    )
    frequency = models.CharField(max_length=10, choices=Frequency)
    reminders = models.BooleanField(
        null=True,
        help_text="Whether to remind before certificates and domains expire; empty: by the member's role.",
    )
    language = models.CharField(
        max_length=10,
        blank=True,
        help_text="The member's language at the time of the choice; empty: the language of the last visit.",
    )

    class Meta:
        ordering: ClassVar = ["membership"]

    def __str__(self) -> str:
        return f"{self.membership}: {self.frequency}"

    @classmethod
    def of(cls, membership: Membership) -> "Subscription":
        """Return the member's subscription, or the default: immediate for owners, never for others."""
        try:
            return membership.subscription
        except cls.DoesNotExist:
            default = cls.Frequency.IMMEDIATE if membership.is_owner else cls.Frequency.NEVER
            return cls(membership=membership, frequency=default)

    @property
    def is_active(self) -> bool:
        """Whether the member wants e-mails, can still sign in, and has an address."""
        person = self.membership.user
        return bool(self.frequency != self.Frequency.NEVER and person.is_active and person.email)

    @property
    def is_refused(self) -> bool:
        """Whether the member chose to get no e-mails, which the default is not."""
        return not self._state.adding and self.frequency == self.Frequency.NEVER

    @property
    def gets_messages(self) -> bool:
        """Whether the member gets e-mails about messages and answers that concern them."""
        person = self.membership.user
        return bool(not self.is_refused and person.is_active and person.email)

    @property
    def wants_reminders(self) -> bool:
        """Whether the member chose reminders, or has not chosen and is an owner or a manager."""
        return self.membership.can_link_websites if self.reminders is None else self.reminders

    @property
    def gets_reminders(self) -> bool:
        """Whether the member gets e-mails before certificates and domains expire."""
        return self.is_active and self.wants_reminders

    def includes(self, severity: str) -> bool:
        """Return whether the member wants findings of this severity."""
        return labels.severity_rank(severity) <= labels.severity_rank(self.min_severity)


def gets_emails(user: AbstractBaseUser | AnonymousUser, website: Website) -> bool:
    """Return whether ``user`` subscribed to e-mails about ``website`` and this portal can send e-mails."""
    membership = Membership.objects.of_user(user).filter(account=website.account_id).first()
    return membership is not None and bool(settings.EMAIL_URL) and Subscription.of(membership).is_active


class FeedCursor(models.Model):
    """A website's position in the service's feed of changes; empty without a subscriber."""

    website = models.OneToOneField(
        Website, on_delete=models.CASCADE, primary_key=True, related_name="feed_cursor"
    )
    cursor = models.TextField()
    version = models.CharField(
        max_length=64,
        default="",
        db_default="",
        help_text="The version of the website's data that was read; empty if it is not known.",
    )

    class Meta:
        ordering: ClassVar = ["website"]

    def __str__(self) -> str:
        return f"{self.website} up to {self.cursor}"


class PendingNotification(models.Model):
    """Unsent changes of one website for one member, by one import or in one day."""

    membership = models.ForeignKey(Membership, on_delete=models.CASCADE, related_name="pending_notifications")
    website = models.ForeignKey(Website, on_delete=models.CASCADE, related_name="pending_notifications")
    digest = models.TextField(help_text="JSON.")
    created_at = models.DateTimeField(default=timezone.now)
    email_id = models.UUIDField(null=True, help_text="The e-mail that contains it; set at the first attempt.")
    claimed_at = models.DateTimeField(null=True, help_text="When a process began to send it.")

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.website} for {self.membership}"


class SentReminder(models.Model):
    """A reminder of an account that was due, so that it is stored for its members once.

    ``key`` is the fingerprint of a certificate, or a domain with its last day.
    """

    account = models.ForeignKey(
        "portal.Account",
        on_delete=models.CASCADE,
        related_name="sent_reminders",
        db_index=False,  # the unique constraint indexes it
        db_constraint=False,  # so that older code can delete accounts
    )
    key = models.CharField(max_length=300)
    days = models.PositiveSmallIntegerField(help_text="So many days before the last day.")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "key", "days"], name="portal_reminder_once"),
        ]

    def __str__(self) -> str:
        return f"{self.key}: {self.days} days before"
