"""The schedule of a website's scans."""

from datetime import UTC, datetime, timedelta
from typing import ClassVar, Self

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Case, Exists, OuterRef, Q, When
from django.utils import timezone

from dashboard_api.models.scan_job import ScanJob
from dashboard_api.models.sites import SiteLink

LATEST_SCAN = timedelta(days=40)  # more than a month, the longest window and any time zone together


class ScanScheduleQuerySet(models.QuerySet["ScanSchedule"]):
    """Queries on schedules."""

    def due(self, now: datetime) -> Self:
        """Return schedules of active links that are due for a scan.

        A scan waits until smaller scans of the website have ended. A scan later than LATEST_SCAN is due,
        because it was planned while the clock was ahead: it gets a new time.
        """
        today = now.astimezone(UTC).date()
        is_paused = Q(paused_until__gt=today)
        is_wrong = Q(next_at__gt=now + LATEST_SCAN) & ~is_paused
        is_due = Q(next_at__lte=now) | is_wrong
        rank = Case(*(When(profile=profile, then=size) for size, profile in enumerate(ScanJob.Profile)))
        jobs = ScanJob.objects.unended().filter(website=OuterRef("link__website")).annotate(rank=rank)
        is_smaller = Q(trigger=ScanJob.Trigger.RETEST) | Q(rank__lt=OuterRef("rank"))
        rows = self.annotate(rank=rank).filter(~Exists(jobs.filter(is_smaller)))
        return rows.filter(is_due, link__revoked_at=None).order_by("next_at", "pk")


class ScanSchedule(models.Model):
    """A schedule of an account for its website: in a window of hours, in the owner's time zone."""

    class Frequency(models.TextChoices):
        OFF = "off", "off"
        DAILY = "daily", "daily"
        WEEKLY = "weekly", "weekly"
        MONTHLY = "monthly", "monthly"

    link = models.OneToOneField(SiteLink, on_delete=models.CASCADE, related_name="scan_schedule")
    frequency = models.CharField(max_length=10, choices=Frequency, default=Frequency.OFF)
    profile = models.CharField(max_length=10, choices=ScanJob.Profile, default=ScanJob.Profile.QUICK)
    start_hour = models.PositiveSmallIntegerField(default=2, validators=[MaxValueValidator(23)])
    hours = models.PositiveSmallIntegerField(
        default=4, validators=[MinValueValidator(1), MaxValueValidator(24)]
    )
    time_zone = models.CharField(max_length=64, default="UTC")
    anchor = models.DateField(help_text="The day from which weeks and months are counted.")
    paused_until = models.DateField(null=True, blank=True)
    pause_reason = models.CharField(
        max_length=30, blank=True, help_text="Why the schedule paused itself, such as blocked."
    )
    blocked_runs = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField(null=True, blank=True)
    changed_by = models.CharField(max_length=150, blank=True)
    changed_at = models.DateTimeField(default=timezone.now)

    objects = ScanScheduleQuerySet.as_manager()

    class Meta:
        verbose_name = "schedule of scans"
        verbose_name_plural = "schedules of scans"
        ordering: ClassVar = ["link"]
        indexes: ClassVar = [
            models.Index(
                fields=["next_at"],
                condition=Q(next_at__isnull=False),
                name="dashboard_api_scanschedule_due",
            ),
        ]

    def __str__(self) -> str:
        return f"schedule of {self.link.website}"
