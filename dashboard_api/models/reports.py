"""Tokens with which programs send reports over HTTP, and the jobs that import these reports."""

import hashlib
import secrets
import uuid
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, ClassVar, Self

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from audit.recording import record as audit
from dashboard_api import limits
from dashboard_api.models.accounts import Account, AlreadyRevoked
from dashboard_api.models.sites import Website


def _digest(clear: str) -> str:
    """Return the digest to store; tokens are random, so a digest without salt is safe."""
    return hashlib.sha256(clear.encode()).hexdigest()


class ReportTokenQuerySet(models.QuerySet["ReportToken"]):
    """Queries and actions on tokens."""

    def usable(self, now: datetime) -> Self:
        """Return tokens that are neither revoked nor past their end."""
        return self.filter(revoked_at=None, expires_at__gt=now)

    @sensitive_variables("clear")
    def with_value(self, clear: str) -> Self:
        """Filter by the clear text of a token."""
        return self.filter(digest=_digest(clear))

    @sensitive_variables("clear")
    @transaction.atomic
    def issue(
        self,
        account: Account,
        websites: Collection[Website],
        *,
        name: str,
        sources: Iterable[str],
        expires_at: datetime,
        by: str,
    ) -> tuple["ReportToken", str]:
        """Store a new token; return it in clear, for the only time. Raises ValidationError."""
        clear = limits.TOKEN_PREFIX + secrets.token_urlsafe(limits.SECRET_RANDOM_BYTES)
        token = ReportToken(
            account=account,
            name=name.strip(),
            hint=clear[: len(limits.TOKEN_PREFIX) + 4],
            digest=_digest(clear),
            sources=sorted(set(sources)),
            expires_at=expires_at,
            created_by=by.strip(),
        )
        token.full_clean()
        _check_linked(account, websites)
        token.save()
        token.websites.set(websites)
        audit("report_token.issued", token, by=by)
        return token, clear


def _check_linked(account: Account, websites: Collection[Website]) -> None:
    """Raise ValidationError unless ``account`` has an active link to each of the websites."""
    if not websites:
        raise ValidationError({"websites": "Name at least one website."})
    linked = set(account.links.filter(revoked_at=None).values_list("website", flat=True))
    if missing := [str(website) for website in websites if website.pk not in linked]:
        text = "%(account)s has no active link to %(websites)s."
        raise ValidationError({"websites": text % {"account": account, "websites": ", ".join(missing)}})


class ReportToken(models.Model):
    """A token of a program that sends reports: shown once, stored as a digest, for some websites only."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="report_tokens")
    name = models.CharField(max_length=100, help_text="Where it is used, such as GitHub Actions of the shop.")
    websites: "models.ManyToManyField[Website, Any]" = models.ManyToManyField(
        Website, related_name="report_tokens"
    )
    sources = models.JSONField(
        default=list, blank=True, help_text="Scanners whose reports it may send; empty: every scanner."
    )
    hint = models.CharField(
        max_length=32, editable=False, help_text="The first characters, to tell tokens apart."
    )
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = models.CharField(max_length=150)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = ReportTokenQuerySet.as_manager()

    class Meta:
        verbose_name = "token for reports"
        verbose_name_plural = "tokens for reports"
        ordering: ClassVar = ["account", "-created_at", "-id"]

    def __str__(self) -> str:
        return f"token {self.pk} ({self.name}) of {self.account}"

    def clean(self) -> None:
        """Check the end and the scanners."""
        now = timezone.now()
        errors: dict[str, Any] = {}
        if self.expires_at and not now < self.expires_at <= now + limits.MAX_TOKEN_LIFETIME:
            errors["expires_at"] = f"It must end within {limits.MAX_TOKEN_LIFETIME.days} days from now."
        if not isinstance(self.sources, list) or not all(
            isinstance(source, str) and source.strip() for source in self.sources
        ):
            errors["sources"] = 'Give a list of scanners, such as ["zap", "nuclei"].'
        if errors:
            raise ValidationError(errors)

    def is_usable(self, now: datetime) -> bool:
        """Return whether reports are accepted with the token at ``now``."""
        return self.revoked_at is None and self.expires_at > now

    def note_use(self, now: datetime) -> None:
        """Record a use of the token, at most once a minute."""
        recent = Q(last_used_at__gt=now - limits.SECRET_USE_PRECISION)
        ReportToken.objects.filter(pk=self.pk).exclude(recent).update(last_used_at=now)

    @transaction.atomic
    def revoke(self, *, now: datetime) -> None:
        """Revoke the token at once; raises AlreadyRevoked."""
        changed = ReportToken.objects.filter(pk=self.pk, revoked_at=None).update(revoked_at=now)
        self.refresh_from_db(fields=["revoked_at"])
        if not changed:
            raise AlreadyRevoked(f"Nothing to do: {self} is revoked already.")
        audit("report_token.revoked", self)


class ReportJobQuerySet(models.QuerySet["ReportJob"]):
    """Queries for jobs."""

    def unfinished(self) -> Self:
        """Return jobs with a report that is neither imported nor refused yet."""
        return self.filter(finished_at=None)


class ReportJob(models.Model):
    """A job to import a report that was sent over HTTP; the file waits until the job has finished.

    ``status`` and ``outcome`` are the status and the members of the HTTP response.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    token = models.ForeignKey(ReportToken, on_delete=models.CASCADE, related_name="jobs")
    website = models.ForeignKey(Website, on_delete=models.CASCADE, related_name="report_jobs")
    idempotency_key = models.CharField(max_length=limits.MAX_IDEMPOTENCY_KEY_LENGTH, blank=True)
    digest = models.CharField(max_length=64, help_text="SHA-256 of the body.")
    options = models.JSONField(help_text="The query parameters.")
    length = models.BigIntegerField(default=0, db_default=0, help_text="Bytes after unpacking.")
    created_at = models.DateTimeField(default=timezone.now)
    attempts = models.PositiveSmallIntegerField(default=0)
    finished_at = models.DateTimeField(null=True, db_index=True)
    status = models.PositiveSmallIntegerField(null=True)
    outcome = models.JSONField(null=True)

    objects = ReportJobQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["created_at", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["token", "idempotency_key"],
                condition=~Q(idempotency_key=""),
                name="dashboard_api_reportjob_once_a_key",
            ),
            models.CheckConstraint(
                name="dashboard_api_reportjob_is_whole",
                condition=Q(finished_at__isnull=True, status__isnull=True)
                | Q(finished_at__isnull=False, status__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"report {self.pk} about {self.website}"

    def finish(self, status: int, outcome: dict[str, Any]) -> None:
        """Record the outcome, and ``length``, which the import has set."""
        self.finished_at, self.status, self.outcome = timezone.now(), status, outcome
        self.save(update_fields=["finished_at", "status", "outcome", "length"])
