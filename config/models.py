"""Sessions, recent attempts (such as password resets), cache entries and the runs of commands."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models, router, transaction
from django.utils.crypto import salted_hmac
from django.utils.module_loading import import_string

from foundation.operations.heartbeats import MAX_SUMMARY_LENGTH


class Session(AbstractBaseSession):
    """Session; ``user_id`` is no foreign key, because the user may be in another database.

    The primary key is a digest of the key in the person's cookie.
    """

    user_id = models.BigIntegerField(null=True, db_index=True)
    last_page_at = models.DateTimeField(null=True)

    class Meta(AbstractBaseSession.Meta):
        abstract = False

    @classmethod
    def get_session_store_class(cls) -> Any:
        """Return the store of these sessions."""
        return import_string(f"{settings.SESSION_ENGINE}.SessionStore")


class AttemptsManager(models.Manager["Attempts"]):
    """Manager that counts attempts, and refuses an attempt beyond a limit."""

    def allow(self, limits: Mapping[str, int], *, period: timedelta, now: datetime) -> bool:
        """Count an attempt for each name in ``limits``, or return False if a name has reached its limit.

        A refused attempt does not count, so trying again does not prolong the wait.
        """
        since = (now - period).timestamp()
        limit_of_key = {digest(name): limit for name, limit in limits.items()}
        with transaction.atomic(using=router.db_for_write(self.model)):
            self.filter(until__lt=now).delete()
            self.bulk_create([Attempts(key=key, until=now) for key in limit_of_key], ignore_conflicts=True)
            locked = list(self.select_for_update().filter(key__in=limit_of_key).order_by("key"))
            for row in locked:
                row.times = [at for at in row.times if at > since]
            if any(len(row.times) >= limit_of_key[row.key] for row in locked):
                return False
            for row in locked:
                row.times.append(now.timestamp())
                row.until = now + period
            self.bulk_update(locked, ["times", "until"])
        return True


class CacheEntry(models.Model):
    """Cache entry in the database, under a digest of its key; ``expires_at`` is in Unix seconds."""

    key = models.CharField(max_length=64, primary_key=True)
    value = models.TextField()
    expires_at = models.FloatField(db_index=True)

    def __str__(self) -> str:
        return self.key


class Attempts(models.Model):
    """Times of the attempts of one name, in Unix seconds; only a digest of the name is stored."""

    key = models.CharField(max_length=64, primary_key=True)
    times = models.JSONField(default=list)
    until = models.DateTimeField(db_index=True)

    objects = AttemptsManager()

    class Meta:
        ordering: ClassVar = ["key"]

    def __str__(self) -> str:
        return f"{self.key}: {len(self.times)}"


class GivenPermission(models.Model):
    """Permission that a group of staff got once; staff may have removed it since."""

    group = models.CharField(max_length=150)
    permission = models.CharField(max_length=200)

    class Meta:
        ordering: ClassVar = ["group", "permission"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["group", "permission"], name="config_givenpermission_once")
        ]

    def __str__(self) -> str:
        return f"{self.group}: {self.permission}"


class Run(models.Model):
    """Run of a scheduled command."""

    command = models.CharField("command", max_length=64)
    interval = models.DurationField("interval")
    began = models.DateTimeField("began")
    ended = models.DateTimeField("ended")
    ok = models.BooleanField("successful")
    summary = models.CharField("summary", max_length=MAX_SUMMARY_LENGTH, blank=True)
    # Number of things that need a person; null if the command looks for none, or failed.
    found = models.PositiveIntegerField("found", null=True)

    class Meta:
        verbose_name = "run of a command"
        verbose_name_plural = "runs of commands"
        ordering: ClassVar = ["-pk"]
        indexes: ClassVar = [models.Index(fields=["command", "ended"], name="config_run_command")]

    def __str__(self) -> str:
        return f"{self.command}, {self.began:%Y-%m-%d %H:%M} UTC"


def digest(name: str) -> str:
    """Return a keyed digest, under which a name is stored."""
    return salted_hmac("config.attempts", name, algorithm="sha256").hexdigest()
