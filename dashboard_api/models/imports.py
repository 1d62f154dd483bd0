"""Import runs and uploaded reports."""

from typing import ClassVar, Self

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from dashboard_api.models.findings import Coverage, Source
from dashboard_api.models.sites import Website


class ImportRunQuerySet(models.QuerySet["ImportRun"]):
    """Queries on imports."""

    def not_undone(self) -> Self:
        """Return imports that were not taken back."""
        return self.filter(undone_at__isnull=True)


class ImportRun(models.Model):
    """The import of a report; findings, occurrences, coverage and rejected add up to its rows."""

    website = models.ForeignKey(Website, on_delete=models.CASCADE, related_name="imports")
    source = models.ForeignKey(
        Source, on_delete=models.CASCADE, related_name="imports", verbose_name="scanner"
    )
    imported_at = models.DateTimeField(default=timezone.now)
    scanned_at = models.DateTimeField()
    by = models.CharField(max_length=150, blank=True)
    file_name = models.CharField(max_length=255, blank=True)
    digest = models.CharField(
        max_length=64,
        blank=True,
        editable=False,
        help_text="SHA-256 of the file; with its time it identifies the import.",
    )
    file_modified_at = models.DateTimeField(
        null=True,
        editable=False,
        help_text="The modification time of a file from an inbox.",
    )
    state = models.CharField(max_length=10, choices=Coverage.State)
    detail = models.CharField(max_length=500, blank=True)
    scope = models.CharField(
        max_length=500,
        blank=True,
        default="",
        db_default="",
        help_text="Scope in which missing findings counted as fixed.",
    )
    rows = models.PositiveIntegerField()
    findings = models.PositiveIntegerField()
    occurrences = models.PositiveIntegerField("further locations")
    coverage = models.PositiveIntegerField()
    rejected = models.PositiveIntegerField()
    new = models.PositiveIntegerField()
    updated = models.PositiveIntegerField()
    reopened = models.PositiveIntegerField()
    fixed = models.PositiveIntegerField()
    newest_finding_id = models.BigIntegerField(
        null=True,
        editable=False,
        help_text="Newest finding of the website when the import ended; the change feed groups findings by "
        "it.",
    )
    newest_event_id = models.BigIntegerField(null=True, editable=False)
    last_finding_id = models.BigIntegerField(
        null=True,
        editable=False,
        help_text="Newest finding of the website after this report; with last_event_id, two imports are "
        "compared by it. Empty: imported before 0.2.0.",
    )
    last_event_id = models.BigIntegerField(
        null=True, editable=False, help_text="Newest event of any kind of the website after this report."
    )
    version = models.CharField(  # noqa: DJ001  # null: not recorded; empty: the report has none
        max_length=50, null=True, blank=True, editable=False, help_text="The scanner's version."
    )
    rejects = models.JSONField(default=list, blank=True, help_text="The first rejected rows, with reasons.")
    undone_at = models.DateTimeField("taken back at", null=True, blank=True, editable=False)
    undone_by = models.CharField("taken back by", max_length=150, blank=True, default="", editable=False)
    undone_reason = models.CharField(
        "taken back because", max_length=500, blank=True, default="", editable=False
    )

    objects = ImportRunQuerySet.as_manager()

    class Meta:
        verbose_name = "import"
        verbose_name_plural = "imports"
        ordering: ClassVar = ["-imported_at", "-id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="dashboard_api_importrun_adds_up",
                condition=Q(rows=F("findings") + F("occurrences") + F("coverage") + F("rejected")),
            ),
            models.CheckConstraint(
                name="dashboard_api_importrun_undone_is_whole",
                condition=Q(undone_at__isnull=True, undone_by="", undone_reason="")
                | (Q(undone_at__isnull=False) & ~Q(undone_by="") & ~Q(undone_reason="")),
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["website", "digest"], name="dashboard_api_importrun_same"),
            models.Index(fields=["website", "-imported_at"], name="dashboard_api_importrun_list"),
            models.Index(fields=["-imported_at", "-id"], name="dashboard_api_importrun_time"),
            models.Index(
                fields=["website", "source", "-imported_at", "-id"],
                condition=models.Q(undone_at__isnull=True),
                name="dashboard_api_importrun_newest",
            ),
            models.Index(
                fields=["website", "newest_finding_id", "newest_event_id"],
                name="dashboard_api_importrun_upto",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source} on {self.website}, {self.imported_at:%Y-%m-%d %H:%M} UTC"


class ImportChange(models.Model):
    """A part of an import's journal, as ``importing.journal`` writes it; ``prune`` deletes old ones."""

    run = models.ForeignKey(ImportRun, on_delete=models.CASCADE, related_name="changes")
    content = models.BinaryField()

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"changes by {self.run}"


class Upload(models.Model):
    """An uploaded report that waits to be imported; ``manage.py prune`` deletes old ones."""

    website = models.ForeignKey(Website, on_delete=models.CASCADE, related_name="uploads")
    by = models.CharField(max_length=150)
    uploaded_at = models.DateTimeField(default=timezone.now, db_index=True)
    file_name = models.CharField(max_length=255)
    content = models.BinaryField()
    options = models.JSONField(help_text="The import options of the form.")

    class Meta:
        ordering: ClassVar = ["-uploaded_at"]

    def __str__(self) -> str:
        return f"{self.file_name} for {self.website}"
