"""Spent nonces, and the time of the last use of each secret.

On SQLite both live in the file of short-lived data, so a call never waits for an import to commit.
"""

from datetime import datetime
from typing import ClassVar

from django.db import models

from dashboard_api import limits
from dashboard_api.backends.statements import backend_for, changed_rows

_CLAIM = """
INSERT INTO dashboard_api_nonce (account_id, nonce, expires_at)
VALUES (%s, %s, %s) ON CONFLICT DO NOTHING
"""
# By row id: by the composite key, SQLite would scan the whole table for each batch.
_PRUNE = (
    "DELETE FROM dashboard_api_nonce WHERE {row} IN (SELECT {row} "
    "FROM dashboard_api_nonce WHERE expires_at < %s ORDER BY expires_at LIMIT %s)"
)

_noted: dict[int, datetime] = {}  # time of the last note by this process, by secret id


class NonceQuerySet(models.QuerySet["Nonce"]):
    """Claiming and pruning."""

    def claim(self, account_id: int, nonce: str, *, expires_at: datetime) -> bool:
        """Spend ``nonce`` for the account: True for exactly one of several concurrent calls.

        One atomic statement in its own commit; raises DatabaseError when the store is down.
        """
        return changed_rows(Nonce, _CLAIM, [account_id, nonce, int(expires_at.timestamp())]) == 1

    def prune(self, *, now: datetime, batch: int) -> int:
        """Delete at most ``batch`` expired nonces and return their number."""
        return changed_rows(Nonce, _PRUNE.format(row=backend_for(Nonce).ROW), [int(now.timestamp()), batch])


class Nonce(models.Model):
    """A spent nonce. It is spent for the account, whichever of its secrets signed the call."""

    pk = models.CompositePrimaryKey("account_id", "nonce")
    # No foreign key: on SQLite nonces are in a file of their own.
    account_id = models.BigIntegerField()
    nonce = models.CharField(max_length=128)
    expires_at = models.BigIntegerField(help_text="Unix seconds.")

    objects = NonceQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["expires_at"]
        indexes: ClassVar = [
            models.Index(fields=["expires_at"], name="dashboard_api_nonce_expiry"),
        ]

    def __str__(self) -> str:
        return f"nonce of account {self.account_id}"


class SecretUse(models.Model):
    """The time a secret last signed a call; each process writes it at most once a minute."""

    secret_id = models.BigIntegerField(primary_key=True)
    last_used_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"secret {self.secret_id} at {self.last_used_at}"

    @classmethod
    def note(cls, secret_id: int, now: datetime) -> None:
        """Record a use of the secret, unless this process recorded one less than a minute ago."""
        noted = _noted.get(secret_id)
        if noted is None or abs(now - noted) >= limits.SECRET_USE_PRECISION:
            cls.record(secret_id, now)
            _noted[secret_id] = now

    @staticmethod
    def record(secret_id: int, now: datetime) -> None:
        """Store the time of the last use."""
        SecretUse.objects.bulk_create(
            [SecretUse(secret_id=secret_id, last_used_at=now)],
            update_conflicts=True,
            unique_fields=["secret_id"],
            update_fields=["last_used_at"],
        )


def forget_uses() -> None:
    """Forget all noted uses; for tests."""
    _noted.clear()
