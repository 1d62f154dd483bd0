"""Notes of analysts. Internal notes are never shown to customers."""

from typing import Any, ClassVar, Self

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils import timezone

from dashboard_api.models.accounts import Account
from dashboard_api.models.findings import Finding
from dashboard_api.models.sites import Website


class AnalystNoteQuerySet(models.QuerySet["AnalystNote"]):
    """Queries on notes."""

    def visible_to(self, account_id: int) -> Self:
        """Return the notes that the account may read."""
        return self.filter(Q(account_id=account_id) | Q(account__isnull=True), is_internal=False)


class AnalystNote(models.Model):
    """A note about a website or one of its findings."""

    website = models.ForeignKey(Website, on_delete=models.CASCADE, related_name="notes")
    finding = models.ForeignKey(
        Finding, on_delete=models.CASCADE, null=True, blank=True, related_name="notes"
    )
    account = models.ForeignKey(
        Account,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="notes",
        help_text="Empty: every account that links the website can read it.",
    )
    author = models.CharField(max_length=150)
    body = models.TextField(help_text="Markdown; raw HTML is shown as text.")
    is_internal = models.BooleanField(default=True, help_text="Internal notes never leave the service.")
    is_pinned = models.BooleanField(
        "pinned",
        default=False,
        db_default=False,
        help_text="Customers see it at the top, next to what to do first; newest pinned note first.",
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(auto_now=True)
    published_at = models.DateTimeField(
        null=True,
        editable=False,
        help_text="When customers could first read it; empty: it is internal.",
    )

    objects = AnalystNoteQuerySet.as_manager()

    class Meta:
        verbose_name = "analyst note"
        verbose_name_plural = "analyst notes"
        ordering: ClassVar = ["-created_at", "-id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="dashboard_api_note_published_has_time",
                condition=Q(is_internal=True, published_at__isnull=True)
                | Q(is_internal=False, published_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.author} on {self.website}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Set ``published_at`` when customers can first read the note; notifications use it."""
        # A note that the same account could read already keeps its time.
        visible = type(self).objects.filter(pk=self.pk, is_internal=False, account=self.account)
        since = visible.values_list("published_at", flat=True).first() or timezone.now()
        self.published_at = None if self.is_internal else since
        super().save(*args, **kwargs)

    def clean(self) -> None:
        """Check that the finding belongs to the website of the note."""
        if self.finding is not None and self.finding.website_id != self.website_id:
            raise ValidationError({"finding": "This finding belongs to another website."})
