"""What signed calls leave behind: spent nonces, and when each secret was last used.

On SQLite both live in the file of short-lived data, so a call never waits for an import to commit.
"""

from datetime import datetime
from typing import ClassVar

from django.db import models

from dashboard_api import limits
from dashboard_api.backends.statements import changed_rows, engine_for

_CLAIM = """
INSERT INTO dashboard_api_nonce (account_id, nonce, expires_at)
VALUES (%s, %s, %s) ON CONFLICT DO NOTHING
"""
# By where a row lies: by its key, SQLite would look through the whole table for each batch.
_PRUNE = (
    "DELETE FROM dashboard_api_nonce WHERE {row} IN (SELECT {row} "
    "FROM dashboard_api_nonce WHERE expires_at < %s ORDER BY expires_at LIMIT %s)"
)

_noted: dict[int, datetime] = {}  # by this process, of each secret


class NonceQuerySet(models.QuerySet["Nonce"]):
    """Claiming and forgetting."""

    def claim(self, account_id: int, nonce: str, *, expires_at: datetime) -> bool:
        """Spend ``nonce`` for the account: True for exactly one of several concurrent calls.

        One atomic statement in its own commit; raises DatabaseError when the store is down.
        """
        return changed_rows(Nonce, _CLAIM, [account_id, nonce, int(expires_at.timestamp())]) == 1

    def prune(self, *, now: datetime, batch: int) -> int:
        """Forget at most ``batch`` nonces whose timestamps can no longer be accepted; how many."""
        return changed_rows(Nonce, _PRUNE.format(row=engine_for(Nonce).ROW), [int(now.timestamp()), batch])


class Nonce(models.Model):
    """The pair is the key: a nonce is spent for the account, across its rotated secrets."""

    pk = models.CompositePrimaryKey("account_id", "nonce")
    # No foreign key: on SQLite the nonces live in a file of their own.
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
    """When a secret last signed a call; each process writes it at most once a minute."""

    secret_id = models.BigIntegerField(primary_key=True)
    last_used_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"secret {self.secret_id} at {self.last_used_at}"

    @classmethod
    def note(cls, secret_id: int, now: datetime) -> None:
        """Record the use, unless this process has recorded one within a minute."""
        noted = _noted.get(secret_id)
        if noted is None or abs(now - noted) >= limits.SECRET_USE_PRECISION:
            cls.record(secret_id, now)
            _noted[secret_id] = now

    @staticmethod
    def record(secret_id: int, now: datetime) -> None:
        """Write down the use."""
        SecretUse.objects.bulk_create(
            [SecretUse(secret_id=secret_id, last_used_at=now)],
            update_conflicts=True,
            unique_fields=["secret_id"],
            update_fields=["last_used_at"],
        )


def forget_uses() -> None:
    """Note the next use of every secret, for those who test that."""
    _noted.clear()
