"""Scans of a website: a job in the queue, and the run of each engine."""

from datetime import datetime
from typing import ClassVar, Self

from django.db import models
from django.db.models import Q, Value
from django.utils import timezone

from audit.recording import record as audit
from dashboard_api.models.accounts import Account
from dashboard_api.models.findings import Finding
from dashboard_api.models.imports import ImportRun
from dashboard_api.models.sites import Website

PAGE_CHANGED = "page_changed"  # the reason of a scan that met another home page than the known page


class ScanJobQuerySet(models.QuerySet["ScanJob"]):
    """Queries on jobs."""

    def unended(self) -> Self:
        """Return jobs that wait or run."""
        return self.filter(ended_at=None)

    def recent_retests(self, finding_id: int | None, since: datetime) -> Self:
        """Return retests of the finding that ended after ``since`` and were not cancelled."""
        retests = self.filter(trigger=ScanJob.Trigger.RETEST, finding=finding_id, ended_at__gt=since)
        return retests.counted().exclude(state=ScanJob.State.CANCELLED)

    def with_known_page(self) -> Self:
        """Return jobs with a home page that is the website's own: it looked the same, or was confirmed."""
        is_own = ~Q(reason=PAGE_CHANGED) | Q(page_confirmed_at__isnull=False)
        return self.filter(is_own, page__isnull=False)

    def counted(self) -> Self:
        """Return jobs that count: all except jobs cancelled before the start, or lost with a worker."""
        return self.exclude(Q(state=ScanJob.State.CANCELLED, started_at=None) | Q(reason="worker_lost"))


class ScanJob(models.Model):
    """A scan of a website; a worker owns a running job until its lease is over, and renews the lease."""

    class State(models.TextChoices):
        QUEUED = "queued", "waiting"
        RUNNING = "running", "running"
        FINISHED = "finished", "finished"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

    class Profile(models.TextChoices):
        """The extent of a scan; each profile adds engines to the one before."""

        QUICK = "quick", "quick"
        STANDARD = "standard", "standard"
        DEEP = "deep", "deep"

    class Trigger(models.TextChoices):
        """The cause of a scan."""

        FIRST = "first", "first scan"
        HAND = "hand", "by hand"
        RETEST = "retest", "retest of a finding"
        SCHEDULE = "schedule", "schedule"

    class Priority(models.IntegerChoices):
        """The order of the queue; the highest first."""

        SCHEDULED = 0, "scheduled"
        NORMAL = 1, "normal"
        RETEST = 2, "retest"
        FIRST = 3, "first"

    class Outcome(models.TextChoices):
        """The result of a finished scan, or of a retest of a finding."""

        COMPLETE = "complete", "complete"
        PARTIAL = "partial", "partial"
        BLOCKED = "blocked", "blocked by the website"
        DIFFERENT = "different", "the page looks different"
        GONE = "gone", "no longer there"
        STILL_THERE = "still_there", "still there"
        INCONCLUSIVE = "inconclusive", "inconclusive"

    website = models.ForeignKey(Website, on_delete=models.CASCADE, related_name="scan_jobs")
    account = models.ForeignKey(
        Account,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="scan_jobs",
        help_text="The account whose plan the scan counts for; empty for scans by staff.",
    )
    finding = models.ForeignKey(  # of retests; no constraint, so findings can be deleted
        Finding,
        null=True,
        blank=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="retests",
        help_text="The finding that a retest looks for.",
    )
    profile = models.CharField(
        max_length=10, choices=Profile, default=Profile.QUICK, db_default=Profile.QUICK
    )
    trigger = models.CharField(max_length=10, choices=Trigger, default=Trigger.HAND, db_default=Trigger.HAND)
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
    outcome = models.CharField(max_length=12, choices=Outcome, blank=True)
    reason = models.CharField(max_length=30, blank=True)
    protection = models.CharField(
        max_length=20,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="What seems to have blocked the scan, such as cloudflare; empty if unknown.",
    )
    address = models.GenericIPAddressField(
        null=True, help_text="The address at which the website is scanned."
    )
    progress = models.JSONField(
        default=list,
        db_default=Value([], models.JSONField()),
        editable=False,
        help_text="The engines of a running scan, in their order.",
    )
    page = models.JSONField(
        null=True,
        editable=False,
        help_text="What the home page looked like; empty if the scan says nothing about it.",
    )
    page_confirmed_at = models.DateTimeField(
        null=True,
        editable=False,
        help_text="When a member confirmed that the changed page is the website's own.",
    )

    objects = ScanJobQuerySet.as_manager()

    class Meta:
        verbose_name = "scan"
        verbose_name_plural = "scans"
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
            models.Index(fields=["website", "-created_at", "-id"], name="dashboard_api_scanjob_list"),
            models.Index(fields=["account", "created_at"], name="dashboard_api_scanjob_account"),
        ]

    def __str__(self) -> str:
        return f"scan {self.pk} of {self.website}"

    def may_be_cancelled_by(self, account_id: int) -> bool:
        """Return whether the job counts for this account, or for no account."""
        return self.account_id in (account_id, None)

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
        OK = "ok", "report imported"
        BLOCKED = "blocked", "blocked by the website"
        FAILED = "failed", "failed"
        TIMED_OUT = "timed_out", "took too long"
        SKIPPED = "skipped", "not run"  # its reason says why

    job = models.ForeignKey(ScanJob, on_delete=models.CASCADE, related_name="runs")
    engine = models.CharField(max_length=50)
    address = models.GenericIPAddressField(null=True)  # empty if the engine needs only the domain
    state = models.CharField(max_length=10, choices=State)
    reason = models.CharField(max_length=30, blank=True)
    exit_code = models.SmallIntegerField(null=True)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField()
    log = models.TextField(blank=True)
    import_run = models.ForeignKey(
        ImportRun, null=True, on_delete=models.SET_NULL, related_name="engine_runs", verbose_name="import"
    )

    class Meta:
        verbose_name = "run of an engine"
        verbose_name_plural = "runs of engines"
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [models.Index(fields=["engine", "-id"], name="dashboard_api_enginerun_usual")]

    def __str__(self) -> str:
        return f"{self.engine}: {self.get_state_display()}"
