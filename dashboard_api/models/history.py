"""The history of a website's open findings, from which its score on earlier days is computed."""

from typing import ClassVar

from django.db import models


class OpenCount(models.Model):
    """Open findings at the end of a day (UTC), by severity; a day without a changed finding has no row.

    Triggers write the row of today with every change; nothing else does, and earlier days stay as they were.
    ``suspected_high`` and its like are the part of ``high`` that is only suspected. No foreign key: the
    triggers of a website's findings also run while the website is deleted, and a trigger deletes these rows.
    Decision record 0057.
    """

    website_id = models.BigIntegerField()
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
            models.UniqueConstraint(fields=["website_id", "day"], name="dashboard_api_opencount_once")
        ]

    def __str__(self) -> str:
        return f"{self.website_id} on {self.day}"
