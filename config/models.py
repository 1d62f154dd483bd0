"""Sessions, and recent attempts, such as to reset a password, counted for all processes.

Decision records 0045 and 0064.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models, router, transaction
from django.utils.crypto import salted_hmac


class Session(AbstractBaseSession):
    """A session; ``user_id`` is the person's, without a foreign key, as it may be in another database."""

    user_id = models.BigIntegerField(null=True, db_index=True)

    class Meta(AbstractBaseSession.Meta):
        abstract = False

    @classmethod
    def get_session_store_class(cls) -> Any:
        """Return the store of these sessions."""
        from config.sessions import SessionStore

        return SessionStore


class AttemptsManager(models.Manager["Attempts"]):
    """A manager that counts attempts and refuses those beyond a limit."""

    def allow(self, limits: Mapping[str, int], *, period: timedelta, now: datetime) -> bool:
        """Count an attempt for each name in ``limits``; return False if one has reached its limit.

        A refused attempt is not counted, so trying again does not prolong the wait.
        """
        since, rows = now - period, {_digest(name): limit for name, limit in limits.items()}
        with transaction.atomic(using=router.db_for_write(self.model)):
            self.filter(until__lt=now).delete()
            self.bulk_create([Attempts(key=key, until=now) for key in rows], ignore_conflicts=True)
            locked = list(self.select_for_update().filter(key__in=rows).order_by("key"))
            for row in locked:
                row.times = [at for at in row.times if at > since.timestamp()]
            if any(len(row.times) >= rows[row.key] for row in locked):
                return False
            for row in locked:
                row.times.append(now.timestamp())
                row.until = now + period
            self.bulk_update(locked, ["times", "until"])
        return True


class Attempts(models.Model):
    """The times of one name's attempts, in Unix seconds; the name itself is not stored."""

    key = models.CharField(max_length=64, primary_key=True)
    times = models.JSONField(default=list)
    until = models.DateTimeField(db_index=True)

    objects = AttemptsManager()

    class Meta:
        ordering: ClassVar = ["key"]

    def __str__(self) -> str:
        return f"{self.key}: {len(self.times)}"


def _digest(name: str) -> str:
    return salted_hmac("config.attempts", name, algorithm="sha256").hexdigest()
