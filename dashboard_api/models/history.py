"""The history of a website's open findings, the source of its grade on earlier days."""

from typing import ClassVar

from django.db import models

from dashboard_api.models.sites import Website


class OpenCount(models.Model):
    """Open findings at the end of a day (UTC), by severity; a day without a change has no row.

    ``record_yesterday`` writes the row after midnight. ``suspected_high`` is the part of ``high`` that is
    only suspected, and so on.
    """

    website = models.ForeignKey(  # the unique constraint indexes it
        Website, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    day = models.DateField()
    critical = models.IntegerField()
    high = models.IntegerField()
    medium = models.IntegerField()
    low = models.IntegerField()
    info = models.IntegerField()
    suspected_critical = models.IntegerField()
    suspected_high = models.IntegerField()
    suspected_medium = models.IntegerField()
    suspected_low = models.IntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["website", "day"], name="dashboard_api_opencount_once")
        ]

    def __str__(self) -> str:
        return f"{self.website_id} on {self.day}"
