"""Published documents, as they are sent to everyone."""

from typing import ClassVar

from django.db import models


class Published(models.Model):
    """A document for everyone: the newest statistics, or the newest live feed."""

    class Kind(models.TextChoices):
        STATISTICS = "statistics", "statistics"
        FEED = "feed", "live feed"

    kind = models.CharField(max_length=10, choices=Kind, unique=True)
    made_at = models.DateTimeField()
    body = models.TextField()  # JSON

    class Meta:
        verbose_name = "published document"
        verbose_name_plural = "published documents"
        ordering: ClassVar = ["kind"]

    def __str__(self) -> str:
        return self.kind
