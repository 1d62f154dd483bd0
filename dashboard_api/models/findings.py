"""Findings with their locations, the sources that report them, and coverage."""

from typing import ClassVar, Self

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from dashboard_api import limits
from dashboard_api.models.hosts import HostField
from dashboard_api.models.problems import KEY_LENGTH, ProblemField
from dashboard_api.models.sites import Website
from dashboard_api.models.words import WordsField, words_of_finding
from foundation.addresses.hosts import MAX_HOST_LENGTH


class Severity(models.IntegerChoices):
    """Severity as a number, the worst largest; the labels are the values of the API."""

    CRITICAL = 4, "Critical"
    HIGH = 3, "High"
    MEDIUM = 2, "Medium"
    LOW = 1, "Low"
    INFO = 0, "Info"


class Kind(models.TextChoices):
    """The certainty of a finding."""

    CONFIRMED = "confirmed", "confirmed"
    SUSPECTED = "suspected", "suspected"
    INFORMATIONAL = "informational", "informational"


class SourceManager(models.Manager["Source"]):
    """Queries on sources."""

    def get_or_add(self, slug: str, name: str) -> "Source":
        """Return the source of a report; a new one is disabled, so that only its own websites show it.

        Operators decide whether every website should be checked by it.
        """
        source, _is_new = self.get_or_create(slug=slug, defaults={"name": name, "enabled": False})
        return source


class Source(models.Model):
    """A scanner. Each enabled source is expected to check every website."""

    slug = models.SlugField(max_length=50, unique=True)
    name = models.CharField(max_length=100)
    enabled = models.BooleanField(
        default=True, help_text="Websites that it never checked show it as not checked."
    )
    interval_days = models.PositiveSmallIntegerField(
        "checks every",
        default=7,
        validators=[MinValueValidator(1)],
        help_text="Days; a website that was not checked for longer is shown as overdue.",
    )

    objects = SourceManager()

    class Meta:
        verbose_name = "scanner"
        verbose_name_plural = "scanners"
        ordering: ClassVar = ["slug"]

    def __str__(self) -> str:
        return self.name


class FindingQuerySet(models.QuerySet["Finding"]):
    """Queries on findings."""

    def with_status(self, status: str) -> Self:
        """Return the findings of ``status``: ``all`` or a value of Finding.Status."""
        return self if status == "all" else self.filter(status=status)

    def worst_first(self) -> Self:
        """Order findings by severity, then by id, so that a new scan does not change the order."""
        return self.order_by("-severity", "-id")

    def rewrite_words(self) -> None:
        """Recompute the words for search, after a bulk update of the texts."""
        changed = list(self.only("title", "location", "rule", "cve", "description", "other_locations"))
        for finding in changed:
            finding.words = words_of_finding(finding)
        self.model.objects.bulk_update(changed, ["words"], batch_size=100)


class Finding(models.Model):
    """A problem of a website, with all locations where it occurs."""

    class Status(models.TextChoices):
        """Values of ``status`` in the API."""

        OPEN = "open"
        FIXED = "fixed"
        FALSE_POSITIVE = "false_positive"
        ACCEPTED_RISK = "accepted_risk"

    website = models.ForeignKey(  # the unique constraint indexes it
        Website, on_delete=models.CASCADE, related_name="findings", db_index=False
    )
    source = models.ForeignKey(  # an index would only serve the deletion of a source
        Source, on_delete=models.PROTECT, related_name="findings", db_index=False, verbose_name="scanner"
    )
    fingerprint = models.CharField(max_length=64, help_text="Identifies the finding in later reports.")
    severity = models.PositiveSmallIntegerField(choices=Severity)
    severity_raw = models.CharField(
        max_length=50, blank=True, help_text="The scanner's own word for the severity."
    )
    source_severity = models.PositiveSmallIntegerField(
        "severity by the scanner",
        choices=Severity,
        null=True,
        blank=True,
        help_text="The scanner's severity, where an analyst has overridden it.",
    )
    kind = models.CharField(max_length=13, choices=Kind)
    source_kind = models.CharField(  # noqa: DJ001  # null like the scanner's severity
        max_length=13,
        choices=Kind,
        null=True,
        blank=True,
        help_text="The scanner's kind, where an analyst has confirmed the finding.",
    )
    status = models.CharField(max_length=14, choices=Status, default=Status.OPEN)
    triage_until = models.DateField(
        null=True, blank=True, help_text="The last day of the decision; empty: no end."
    )
    reviewed_at = models.DateTimeField(
        null=True, blank=True, help_text="When an analyst first reviewed it; empty: not reviewed yet."
    )
    # Stored before the long texts, so that a search need not read them.
    words = WordsField(editable=False, default="")
    title = models.CharField(max_length=500)
    description = models.TextField(blank=True)
    remediation = models.TextField(blank=True)
    references = models.JSONField(default=list, blank=True)
    cwe = models.JSONField("CWE", default=list, blank=True, help_text="Numbers.")
    cve = models.JSONField("CVE", default=list, blank=True)
    rule = models.CharField(max_length=300, blank=True)
    problem = ProblemField(
        max_length=KEY_LENGTH, editable=False, help_text="Shared key of findings with one cause."
    )
    # Copies of the locations, so that lists and searches need no second table.
    location = models.CharField(max_length=2000, blank=True)
    host = HostField(
        max_length=MAX_HOST_LENGTH,
        editable=False,
        help_text="Host of the location; lists filter by it.",
    )
    other_locations = models.TextField(
        blank=True, help_text="Further locations for the search, one per line, up to a limit."
    )
    locations_count = models.PositiveIntegerField(default=0)
    evidence = models.TextField(blank=True)
    first_seen = models.DateTimeField(default=timezone.now)
    last_seen = models.DateTimeField(default=timezone.now)
    fixed_at = models.DateTimeField(null=True, blank=True)

    objects = FindingQuerySet.as_manager()

    class Meta:
        verbose_name = "finding"
        verbose_name_plural = "findings"
        ordering: ClassVar = ["-severity", "-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["website", "source", "fingerprint"], name="dashboard_api_finding_once"
            ),
            models.CheckConstraint(name="dashboard_api_finding_severity_known", condition=Q(severity__lte=4)),
            models.CheckConstraint(
                name="dashboard_api_finding_seen_in_order",
                condition=Q(last_seen__gte=F("first_seen")),
            ),
            models.CheckConstraint(
                name="dashboard_api_finding_fixed_has_time",
                condition=Q(status="fixed", fixed_at__isnull=False)
                | (~Q(status="fixed") & Q(fixed_at__isnull=True)),
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                F("website"),
                F("status"),
                F("severity").desc(),
                F("id").desc(),
                name="dashboard_api_finding_list",
            ),
            models.Index(  # covers every count
                F("website"),
                F("status"),
                F("severity").desc(),
                F("source"),
                F("kind"),
                F("host"),
                F("problem"),
                F("locations_count"),
                F("id"),
                F("first_seen"),
                F("fixed_at"),
                name="dashboard_api_finding_cells",
            ),
            models.Index(
                F("status"),
                F("severity").desc(),
                F("id").desc(),
                condition=Q(reviewed_at__isnull=True),
                name="dashboard_api_finding_queue",
            ),
            models.Index(
                fields=["triage_until"],
                condition=Q(triage_until__isnull=False),
                name="dashboard_api_finding_triaged",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_severity_display()}: {self.title}"

    def shown_occurrences(self) -> "models.QuerySet[Occurrence]":
        """Return the present locations, or the locations at the time of the fix, or the last ones to go."""
        shown = models.Q(gone_at=None)
        if self.fixed_at is not None:
            shown |= models.Q(gone_at=self.fixed_at)
        present = self.occurrences.filter(shown)
        if present.exists():
            return present
        last = self.occurrences.aggregate(at=models.Max("gone_at"))
        return self.occurrences.filter(gone_at=last["at"])

    def clean(self) -> None:
        """Set or remove ``fixed_at``, so that exactly the fixed findings have it."""
        if self.status != self.Status.FIXED:
            self.fixed_at = None
        elif self.fixed_at is None:
            self.fixed_at = timezone.now()


class Occurrence(models.Model):
    """A location of a finding."""

    finding = models.ForeignKey(  # the unique constraint indexes it
        Finding, on_delete=models.CASCADE, related_name="occurrences", db_index=False
    )
    location = models.CharField(max_length=2000)
    location_digest = models.CharField(max_length=64, editable=False, help_text="SHA-256 of the location.")
    evidence = models.TextField(blank=True)
    first_seen = models.DateTimeField(default=timezone.now)
    last_seen = models.DateTimeField(default=timezone.now)
    gone_at = models.DateTimeField(
        null=True, blank=True, help_text="When a complete scan no longer found it here."
    )
    category = models.CharField(
        max_length=limits.MAX_CATEGORY_LENGTH,
        blank=True,
        default="",
        db_default="",
        help_text="Category of its last report; only reports of this category can prove that it is gone.",
    )

    class Meta:
        verbose_name = "location"
        verbose_name_plural = "locations"
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["finding", "location_digest"], name="dashboard_api_occurrence_once"
            ),
        ]

    def __str__(self) -> str:
        return self.location


class Coverage(models.Model):
    """The coverage of a website by a source: the summary of its scopes (CoverageScope)."""

    class State(models.TextChoices):
        """The outcome of the last run; without a run there is no row."""

        OK = "ok", "Ok"
        PARTIAL = "partial", "Partial"
        FAILED = "failed", "Failed"

    website = models.ForeignKey(Website, on_delete=models.CASCADE, related_name="coverage")
    source = models.ForeignKey(
        Source, on_delete=models.CASCADE, related_name="coverage", verbose_name="scanner"
    )
    state = models.CharField(max_length=10, choices=State)
    last_run_at = models.DateTimeField()
    completed_at = models.DateTimeField(
        null=True, blank=True, help_text="When a run last completed; a grade needs one."
    )
    urls_checked = models.PositiveIntegerField(null=True, blank=True)
    version = models.CharField(max_length=50, blank=True)
    detail = models.CharField(max_length=500, blank=True)

    class Meta:
        verbose_name = "coverage"
        verbose_name_plural = "coverage"
        ordering: ClassVar = ["website", "source"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["website", "source"], name="dashboard_api_coverage_once"),
        ]

    def __str__(self) -> str:
        return f"{self.source} on {self.website}: {self.get_state_display()}"
