"""How SQLite's triggers know that a writer does their work for all of its findings together."""

from django.db import models


class BulkLoad(models.Model):
    """A mark that ``importing.bulk_insert`` sets on SQLite within a transaction: it cannot be committed.

    ``unfinished`` refers to a website that there is not, and is checked at the commit.
    """

    unfinished = models.BigIntegerField(primary_key=True)

    class Meta:
        managed = False

    def __str__(self) -> str:
        return "a bulk load that goes on"
