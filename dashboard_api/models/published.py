"""Published documents as the bytes that are sent, and the entries of the live feed."""

import secrets
from datetime import datetime, timedelta
from typing import ClassVar, Self

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils import timezone

from audit.recording import record as audit
from dashboard_api.models.accounts import Account
from dashboard_api.models.sites import Website


class Published(models.Model):
    """A document as it is sent: the statistics of a day, which are never rewritten, or the newest feed."""

    class Kind(models.TextChoices):
        STATISTICS = "statistics", "statistics"
        FEED = "feed", "live feed"

    kind = models.CharField(max_length=10, choices=Kind)
    day = models.DateField(null=True)  # of statistics only
    made_at = models.DateTimeField()
    body = models.BinaryField()
    gzipped = models.BinaryField()

    class Meta:
        verbose_name = "published document"
        verbose_name_plural = "published documents"
        ordering: ClassVar = ["-made_at"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["kind", "day"], name="dashboard_api_published_once"),
            models.CheckConstraint(
                name="dashboard_api_published_statistics_have_a_day",
                condition=Q(kind="statistics", day__isnull=False) | Q(kind="feed", day__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.day or ''}".strip()


class NotWithdrawable(ValidationError):
    """The entry is withdrawn already."""


def new_id() -> str:
    """Return a random id, which says nothing of the finding."""
    return secrets.token_hex(8)


class FeedEntryQuerySet(models.QuerySet["FeedEntry"]):
    """Queries on entries of the live feed."""

    def kept(self) -> Self:
        """Return the entries that are not withdrawn."""
        return self.filter(withdrawn_at=None)

    def shown(self, now: datetime) -> Self:
        """Return the entries that the feed may show at ``now``, the newest day first, in random order."""
        days = {"appears_at__lte": now, "day__gt": now.date() - FeedEntry.LIFETIME}
        return self.kept().filter(**days).order_by("-day", "public_id")


class FeedEntry(models.Model):
    """An entry of the live feed: everything of a finding that is published, and when.

    The finding has no foreign key: imports that are taken back delete findings by SQL.
    """

    LIFETIME: ClassVar = timedelta(days=14)

    public_id = models.CharField(max_length=16, unique=True, editable=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    website = models.ForeignKey(Website, on_delete=models.CASCADE, related_name="+")
    finding_id = models.BigIntegerField(unique=True)
    severity = models.CharField(max_length=6)
    category = models.CharField("category", max_length=30)
    coarseness = models.PositiveSmallIntegerField(default=0)
    domain = models.CharField("mask", max_length=80)
    region = models.CharField("region", max_length=3)
    appears_at = models.DateTimeField("appears")
    day = models.DateField("day")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    withdrawn_at = models.DateTimeField("withdrawn", null=True, blank=True)
    withdraw_reason = models.CharField("reason", max_length=500, blank=True)

    objects = FeedEntryQuerySet.as_manager()

    class Meta:
        verbose_name = "entry of the live feed"
        verbose_name_plural = "live feed"
        ordering: ClassVar = ["-day", "public_id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "day"], name="dashboard_api_feedentry_one_a_day"),
        ]

    def __str__(self) -> str:
        return f"{self.severity} {self.domain} {self.region} {self.day}"

    def withdraw(self, *, by: str, reason: str, now: datetime) -> None:
        """Take the entry out of the feed from the next run on; raises NotWithdrawable."""
        if not reason.strip():
            raise ValidationError({"withdraw_reason": "Say why."})
        rows = FeedEntry.objects.kept().filter(pk=self.pk)
        if not rows.update(withdrawn_at=now, withdraw_reason=reason.strip()):
            raise NotWithdrawable("Nothing to do: this entry is withdrawn already.")
        self.refresh_from_db()
        audit("feed_entry.withdrawn", self, by=by, reason=reason)
