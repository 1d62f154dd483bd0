"""Scans of a website: a job in the queue, and the run of each engine. Decision record 0105."""

from typing import ClassVar, Self

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from audit.recording import record as audit
from dashboard_api.models.imports import ImportRun
from dashboard_api.models.sites import Website


class ScanJobQuerySet(models.QuerySet["ScanJob"]):
    """Queries on jobs."""

    def unended(self) -> Self:
        """Return jobs that wait or run."""
        return self.filter(ended_at=None)


class ScanJob(models.Model):
    """A scan of a website; a worker owns a running job until its lease is over, and renews the lease."""

    class State(models.TextChoices):
        QUEUED = "queued", _("waiting")
        RUNNING = "running", _("running")
        FINISHED = "finished", _("finished")
        FAILED = "failed", _("failed")
        CANCELLED = "cancelled", _("cancelled")

    class Priority(models.IntegerChoices):
        """The order of the queue; the highest first."""

        NORMAL = 1, _("normal")
        FIRST = 2, _("first")

    class Outcome(models.TextChoices):
        """The extent of a finished scan."""

        COMPLETE = "complete", _("complete")
        PARTIAL = "partial", _("partial")

    website = models.ForeignKey(Website, on_delete=models.CASCADE, related_name="scan_jobs")
    priority = models.PositiveSmallIntegerField(choices=Priority, default=Priority.NORMAL)
    by = models.CharField(max_length=150)
    created_at = models.DateTimeField(default=timezone.now)
    due_at = models.DateTimeField(default=timezone.now)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    worker = models.CharField(max_length=100, blank=True)
    attempt = models.PositiveSmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    cancel_requested_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=10, choices=Outcome, blank=True)
    reason = models.CharField(max_length=30, blank=True)

    objects = ScanJobQuerySet.as_manager()

    class Meta:
        verbose_name = _("scan")
        verbose_name_plural = _("scans")
        ordering: ClassVar = ["-created_at", "-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["website"],
                condition=Q(ended_at__isnull=True),
                name="dashboard_api_scanjob_one_a_website",
            ),
            models.CheckConstraint(
                name="dashboard_api_scanjob_end_is_whole",
                condition=Q(ended_at__isnull=True, state__in=["queued", "running"])
                | Q(ended_at__isnull=False, state__in=["finished", "failed", "cancelled"]),
            ),
            models.CheckConstraint(
                name="dashboard_api_scanjob_lease_is_whole",
                condition=~Q(state="running") | (Q(lease_until__isnull=False) & ~Q(worker="")),
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["-priority", "due_at", "id"],
                condition=Q(state="queued"),
                name="dashboard_api_scanjob_queue",
            ),
        ]

    def __str__(self) -> str:
        return _("scan %(id)s of %(website)s") % {"id": self.pk, "website": self.website}

    def cancel(self, *, by: str, reason: str = "") -> bool:
        """End a waiting job, or ask the worker of a running one to stop; return whether this changed it."""
        now = timezone.now()
        unended = ScanJob.objects.unended().filter(pk=self.pk, cancel_requested_at=None)
        changed = unended.filter(state=self.State.QUEUED).update(
            state=self.State.CANCELLED, cancel_requested_at=now, ended_at=now, reason="cancelled"
        ) or unended.filter(state=self.State.RUNNING).update(cancel_requested_at=now)
        if changed:
            audit("scan.cancelled", self, by=by, host=self.website.host, reason=reason)
        return bool(changed)


class EngineRun(models.Model):
    """One engine of a job: how it ended, the end of its log, and the import of its report."""

    class State(models.TextChoices):
        OK = "ok", _("report imported")
        FAILED = "failed", _("failed")
        TIMED_OUT = "timed_out", _("took too long")
        SKIPPED = "skipped", _("not installed")

    job = models.ForeignKey(ScanJob, on_delete=models.CASCADE, related_name="runs")
    engine = models.CharField(max_length=50)
    address = models.GenericIPAddressField()
    state = models.CharField(max_length=10, choices=State)
    reason = models.CharField(max_length=30, blank=True)
    exit_code = models.SmallIntegerField(null=True)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField()
    log = models.TextField(blank=True)
    import_run = models.ForeignKey(
        ImportRun, null=True, on_delete=models.SET_NULL, related_name="engine_runs", verbose_name=_("import")
    )

    class Meta:
        verbose_name = _("run of an engine")
        verbose_name_plural = _("runs of engines")
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.engine}: {self.get_state_display()}"
