"""Spent nonces: one row per accepted signature, until its timestamp can no longer be accepted."""

from datetime import datetime
from typing import ClassVar

from django.db import connections, models, router

_CLAIM = (
    "INSERT INTO dashboard_api_nonce (account_id, nonce, expires_at) VALUES (%s, %s, %s) "
    "ON CONFLICT DO NOTHING"
)


class NonceQuerySet(models.QuerySet["Nonce"]):
    """Claiming and forgetting."""

    def claim(self, account_id: int, nonce: str, *, expires_at: datetime) -> bool:
        """Spend ``nonce`` for the account: True exactly once, whoever races.

        One atomic statement in a commit of its own; raises DatabaseError when the store is down.
        """
        connection = connections[router.db_for_write(Nonce)]
        with connection.cursor() as cursor:
            cursor.execute(_CLAIM, [account_id, nonce, int(expires_at.timestamp())])
            return bool(cursor.rowcount == 1)

    def prune(self, *, now: datetime, batch: int) -> int:
        """Forget at most ``batch`` nonces whose timestamps can no longer be accepted; how many."""
        expired = self.filter(expires_at__lt=int(now.timestamp())).order_by("expires_at")
        keys = list(expired.values_list("pk", flat=True)[:batch])
        return self.filter(pk__in=keys).delete()[0]


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
