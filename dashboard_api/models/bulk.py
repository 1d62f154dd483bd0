"""How SQLite's triggers know that a writer does their work for all of its findings together."""

from django.db import models


class BulkLoad(models.Model):
    """On SQLite only, and only inside of a transaction of ``dashboard_api.bulk``: it cannot be committed.

    ``unfinished`` refers to a website that there is not, and is checked at the commit.
    """

    unfinished = models.BigIntegerField(primary_key=True)

    class Meta:
        managed = False

    def __str__(self) -> str:
        return "a bulk load that goes on"
