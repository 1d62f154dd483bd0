"""The mark that turns SQLite's triggers off while a writer counts and indexes its findings in bulk."""

from django.db import models


class BulkLoad(models.Model):
    """A mark that ``importing.bulk_insert`` sets on SQLite within a transaction: it cannot be committed.

    ``unfinished`` refers to a website that does not exist, which the commit checks.
    """

    unfinished = models.BigIntegerField(primary_key=True)

    class Meta:
        managed = False

    def __str__(self) -> str:
        return "a bulk load that goes on"
