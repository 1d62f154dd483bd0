"""Standing decisions: analysts' decisions about a scanner, which also count for later imports."""

from typing import ClassVar, Self

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from dashboard_api.models.findings import Severity, Source
from dashboard_api.models.sites import Website

_ONCE = "There is a decision about this already: end it first."


class StandingDecisionQuerySet(models.QuerySet["StandingDecision"]):
    """Queries on standing decisions."""

    def active(self) -> Self:
        """Return decisions that have not ended."""
        return self.filter(ended_at__isnull=True)

    def in_force(self, source: Source, website: Website) -> Self:
        """Return active decisions about ``source`` on ``website``; decisions for all websites come first."""
        concerned = self.active().filter(Q(website=website) | Q(website__isnull=True), source=source)
        return concerned.select_related("source").order_by(F("website").asc(nulls_first=True))


class StandingDecision(models.Model):
    """A severity for all findings of a scanner's rule or, without a rule, the scanner's minimum severity.

    Open findings below the minimum are accepted risks. A decision for one website wins over a decision for
    all. ``dashboard_api.decisions.standing`` applies them.
    """

    source = models.ForeignKey(
        Source, on_delete=models.PROTECT, related_name="standing_decisions", verbose_name="scanner"
    )
    rule = models.CharField(
        max_length=300, blank=True, help_text="Empty: a minimum severity for all findings of the scanner."
    )
    website = models.ForeignKey(
        Website,
        on_delete=models.CASCADE,
        related_name="standing_decisions",
        null=True,
        blank=True,
        help_text="Empty: all websites.",
    )
    severity = models.PositiveSmallIntegerField(choices=Severity)
    reason = models.CharField(max_length=450, help_text="Customers read it in the timeline of each finding.")
    by = models.CharField(max_length=150)
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    ended_by = models.CharField(max_length=150, blank=True)
    end_reason = models.CharField(max_length=450, blank=True)

    objects = StandingDecisionQuerySet.as_manager()

    class Meta:
        verbose_name = "suppression rule"
        verbose_name_plural = "suppression rules"
        ordering: ClassVar = ["-created_at", "-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["source", "rule", "website"],
                condition=Q(ended_at__isnull=True),
                name="dashboard_api_standing_once",
                violation_error_message=_ONCE,
            ),
            models.UniqueConstraint(
                fields=["source", "rule"],
                condition=Q(ended_at__isnull=True, website__isnull=True),
                name="dashboard_api_standing_once_for_all",
                violation_error_message=_ONCE,
            ),
            models.CheckConstraint(
                name="dashboard_api_standing_end_is_whole",
                condition=Q(ended_at__isnull=True, ended_by="", end_reason="")
                | (Q(ended_at__isnull=False) & ~Q(ended_by="") & ~Q(end_reason="")),
            ),
            models.CheckConstraint(
                name="dashboard_api_standing_says_why", condition=~Q(reason="") & ~Q(by="")
            ),
        ]

    def __str__(self) -> str:
        text = "%(scanner)s, %(rule)s on %(websites)s: %(severity)s"
        if not self.rule:
            text = "%(scanner)s on %(websites)s: below %(severity)s is an accepted risk"
        return text % {
            "scanner": self.source,
            "rule": self.rule,
            "websites": self.website or "all websites",
            "severity": self.get_severity_display(),
        }

    def clean(self) -> None:
        """Remove white space around the texts, and require a reason."""
        self.rule, self.reason, self.by = self.rule.strip(), self.reason.strip(), self.by.strip()
        if not self.reason:
            raise ValidationError({"reason": "Say why: customers and colleagues will read it."})
