"""Each person's last visits: of "What is new", since which the header counts news, and of a dashboard.

On SQLite these tables are in the database of short-lived data, so that no page waits for an import; hence no
foreign key.
"""

from datetime import date, datetime
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models.signals import post_delete
from django.dispatch import receiver
from django.utils import timezone


class LastVisit(models.Model):
    """The last visit of one person to "What is new"."""

    user_id = models.BigIntegerField(primary_key=True)
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["user_id"]

    def __str__(self) -> str:
        return f"user {self.user_id} at {self.at}"


class DayOfVisit(models.Model):
    """The day (UTC) of a person's last visit to a dashboard, and the day of the visit before."""

    user_id = models.BigIntegerField(primary_key=True)
    day = models.DateField()
    before = models.DateField(null=True)

    class Meta:
        ordering: ClassVar = ["user_id"]

    def __str__(self) -> str:
        return f"user {self.user_id} on {self.day}"


def record_dashboard_visit(user_id: int) -> date | None:
    """Record a visit to a dashboard today, and return the last earlier day with a visit, if any."""
    today = timezone.now().date()
    stored = DayOfVisit.objects.filter(pk=user_id).first()
    if stored and stored.day == today:
        return stored.before
    before = stored.day if stored else None
    DayOfVisit.objects.update_or_create(pk=user_id, defaults={"day": today, "before": before})
    return before


def record_visit(user_id: int) -> None:
    """Record that this person opens "What is new" now."""
    LastVisit.objects.update_or_create(pk=user_id, defaults={"at": timezone.now()})


def last_visit(user_id: int) -> datetime | None:
    """Return when this person last opened "What is new", if ever."""
    return LastVisit.objects.filter(pk=user_id).values_list("at", flat=True).first()


@receiver(post_delete, sender=settings.AUTH_USER_MODEL)
def _delete_with_user(instance: Any, **_: Any) -> None:
    for model in (LastVisit, DayOfVisit):
        model.objects.filter(pk=instance.pk).delete()
