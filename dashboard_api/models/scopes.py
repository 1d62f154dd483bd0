"""The last run of each scope that a source checks on a website."""

from collections.abc import Collection, Sequence
from typing import ClassVar, Self

from django.db import models

from dashboard_api import limits
from dashboard_api.models.findings import Coverage
from foundation.addresses.hosts import MAX_HOST_LENGTH

_WORST_LAST: list[str] = [Coverage.State.OK, Coverage.State.PARTIAL, Coverage.State.FAILED]


class CoverageScope(models.Model):
    """The last run of one category at one target; ``coverage`` summarises all scopes of its source."""

    coverage = models.ForeignKey(  # the unique constraint indexes it
        Coverage, on_delete=models.CASCADE, related_name="scopes", db_index=False
    )
    category = models.CharField(max_length=limits.MAX_CATEGORY_LENGTH, blank=True)
    target = models.CharField(
        max_length=MAX_HOST_LENGTH + 10,
        blank=True,
        help_text="Host and port; empty where reports do not name all of their targets.",
    )
    state = models.CharField(max_length=10, choices=Coverage.State)
    last_run_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True, blank=True)
    urls_checked = models.PositiveIntegerField(null=True, blank=True)
    version = models.CharField(max_length=50, blank=True)
    detail = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering: ClassVar = ["coverage", "category", "target"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["coverage", "category", "target"], name="dashboard_api_coveragescope_once"
            ),
        ]

    def __str__(self) -> str:
        if self.category and self.target:
            return f"{self.category} at {self.target}"
        return self.category or self.target or "everything"

    @property
    def name(self) -> str:
        """The category and the target in English, for the stored details."""
        return " at ".join(filter(None, [self.category, self.target])) or "everything"

    @classmethod
    def of(cls, coverage: Coverage, category: str) -> Self:
        """Return a single scope for a coverage without scopes, such as one added in the admin."""
        return cls(
            category=category,
            target="",
            state=coverage.state,
            last_run_at=coverage.last_run_at,
            completed_at=coverage.completed_at,
            urls_checked=coverage.urls_checked,
            version=coverage.version,
            detail=coverage.detail,
        )


def summarise(coverage: Coverage, scopes: Collection[CoverageScope]) -> None:
    """Set and save the summary of the scopes: worst state, oldest run, number of URLs checked."""
    scopes = sorted(scopes, key=lambda scope: (scope.category, scope.target))
    coverage.state = max((scope.state for scope in scopes), key=_WORST_LAST.index)
    coverage.last_run_at = min(scope.last_run_at for scope in scopes)
    completed = [coverage.completed_at, *(scope.completed_at for scope in scopes)]
    coverage.completed_at = max(filter(None, completed), default=None)
    counted = [scope.urls_checked for scope in scopes if scope.urls_checked is not None]
    coverage.urls_checked = sum(counted) if counted else None
    coverage.version = max(scopes, key=lambda scope: scope.last_run_at).version
    coverage.detail = _details(scopes)[:500]
    coverage.save()


def _details(scopes: Sequence[CoverageScope]) -> str:
    if len(scopes) == 1:
        return scopes[0].detail
    return " ".join(f"{scope.name}: {scope.detail}" for scope in scopes if scope.detail)
