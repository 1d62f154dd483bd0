"""Spent nonces with the facts of their calls, and the time of the last use of each secret.

On SQLite both are in the file of short-lived data, so a call never waits for an import to commit.
"""

from datetime import UTC, datetime, timedelta
from enum import Enum
from threading import Lock
from typing import Any, ClassVar, NamedTuple

from cachetools import TTLCache
from django.db import connections, models, transaction

from dashboard_api import limits
from dashboard_api.backends import calls as sql
from dashboard_api.backends.statements import (
    alias_of,
    changed_rows,
    rows_changed_by_triggers,
    select,
    to_column,
)
from dashboard_api.models.calls import CallLimit

NONCE_LIFETIME = timedelta(seconds=limits.TIMESTAMP_WINDOW_SECONDS + limits.NONCE_MARGIN_SECONDS)
# The fence: a row without an account, because spent nonces may be missing after a restore. Nonces that expire
# no later than it are refused.
_FENCE: dict[str, Any] = {"account_id": 0, "nonce": "fence"}

_noted: dict[int, datetime] = {}  # by secret id: the last use that this process stored
# The secrets and addresses that read the calls of their account in the last minute.
_readers: TTLCache[tuple[int, str], bool] = TTLCache(maxsize=1_000, ttl=60)
# The accounts with a refused call on record in the last second.
_limited: TTLCache[int, bool] = TTLCache(maxsize=1_000, ttl=1)
_lock = Lock()


class NonceClaim(Enum):
    """The result of claiming a nonce; it is spent in each case."""

    ACCEPTED = "accepted"
    REPLAYED = "replayed"  # it was spent before, or the fence refuses it
    LIMITED = "limited"  # the account calls too often


# By the number of rows that CLAIM_AND_COUNT_SQLITE changed: 0, 1 (nonce) or 2 (nonce and count).
_CLAIMS = (NonceClaim.REPLAYED, NonceClaim.LIMITED, NonceClaim.ACCEPTED)


class CallFacts(NamedTuple):
    """The facts of a call that the row of its nonce keeps."""

    at: datetime
    secret_id: int
    link_id: int | None
    route: str
    request_id: str
    address: str
    is_recorded: bool = True


class NonceQuerySet(models.QuerySet["Nonce"]):
    """Claiming and pruning."""

    def claim(
        self,
        account_id: int,
        nonce: str,
        *,
        expires_at: datetime,
        facts: CallFacts,
        limit: CallLimit | None = None,
    ) -> NonceClaim:
        """Spend ``nonce`` and count the call; of concurrent calls, exactly one is ACCEPTED.

        This is one atomic statement with its own commit. Calls without a limit are not counted. Raises
        DatabaseError if the database is down.
        """
        row = {
            **facts._asdict(),
            "at": to_column(facts.at) if facts.is_recorded else None,
            "account_id": account_id,
            "nonce": nonce,
            "expires_at": int(expires_at.timestamp()),
        }
        if limit is None:
            return NonceClaim.ACCEPTED if changed_rows(Nonce, sql.CLAIM, row) else NonceClaim.REPLAYED
        if _is_repeated_refusal(account_id, limit, facts.at):
            row["at"] = None
        claim = self._claim_and_count(row | limit.parameters(facts.at))
        if claim is NonceClaim.LIMITED and row["at"]:
            with _lock:
                _limited[account_id] = True
        return claim

    def _claim_and_count(self, row: dict[str, Any]) -> NonceClaim:
        if _is_sqlite():
            return _CLAIMS[rows_changed_by_triggers(Nonce, sql.CLAIM_AND_COUNT_SQLITE, row)]
        if changed_rows(Nonce, sql.CLAIM_AND_COUNT_POSTGRESQL, row):
            return NonceClaim.ACCEPTED
        # A limited call spends its nonce as well; a replay has another request id.
        spent_by_it = self.filter(
            account_id=row["account_id"], nonce=row["nonce"], request_id=row["request_id"]
        )
        return NonceClaim.LIMITED if spent_by_it.exists() else NonceClaim.REPLAYED

    def raise_fence(self, now: datetime) -> datetime:
        """Refuse every call that may have been accepted before ``now``; return the last refused timestamp.

        The caller's clock may have been ahead by the whole window. ``prune`` deletes the fence when it
        expires.
        """
        last = now + timedelta(seconds=limits.TIMESTAMP_WINDOW_SECONDS)
        expiry = int((last + NONCE_LIFETIME).timestamp())
        self.update_or_create(**_FENCE, defaults={"expires_at": expiry})
        return last

    def fenced_until(self, expires_at: datetime) -> datetime | None:
        """Return the end of the fence, if it refuses a nonce that expires at ``expires_at``."""
        fence = self.filter(**_FENCE, expires_at__gte=int(expires_at.timestamp())).first()
        return datetime.fromtimestamp(fence.expires_at, tz=UTC) - NONCE_LIFETIME if fence else None

    def prune(self, *, now: datetime, batch: int) -> int:
        """Move at most ``batch`` expired nonces to the calls on record, and return their number."""
        parameters = {"now": int(now.timestamp()), "batch": batch}
        if _is_sqlite():
            with transaction.atomic(using=alias_of(Nonce)):
                counts = [changed_rows(Nonce, statement, parameters) for statement in sql.PRUNE_SQLITE]
            return counts[-1]  # of the nonces, which the last statement deletes
        ((count,),) = select(Nonce, sql.PRUNE_POSTGRESQL, parameters)
        return int(count)


def _is_sqlite() -> bool:
    return connections[alias_of(Nonce)].vendor == "sqlite"


class Nonce(models.Model):
    """A spent nonce of an account, for all its secrets, with the facts of the call.

    ``at`` is NULL for calls that do not go on record.
    """

    pk = models.CompositePrimaryKey("account_id", "nonce")
    # No foreign key: on SQLite nonces are in a file of their own.
    account_id = models.BigIntegerField()
    nonce = models.CharField(max_length=128)
    expires_at = models.BigIntegerField(help_text="Unix seconds.")
    at = models.DateTimeField(null=True)
    secret_id = models.BigIntegerField(default=0, db_default=0)
    link_id = models.BigIntegerField(null=True)
    route = models.CharField(max_length=32, default="", db_default="")
    request_id = models.CharField(max_length=64, default="", db_default="")
    address = models.CharField(max_length=64, default="", db_default="")

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


def is_first_reading(secret_id: int, address: str) -> bool:
    """Return whether the reader has not read the calls in the last minute, as far as this process knows.

    Later readings are not recorded: the list omits the reader's own ones, and each makes the list slower.
    """
    with _lock:
        return (secret_id, address) not in _readers


def note_reading(secret_id: int, address: str) -> None:
    """Remember a recorded reading for a minute; later readings do not extend it."""
    with _lock:
        _readers.setdefault((secret_id, address), True)


def _is_repeated_refusal(account_id: int, limit: CallLimit, at: datetime) -> bool:
    """Return whether the rate refuses the call, and this process just recorded a refused call.

    Such calls are not recorded: a record is kept for 180 days, and their number is unlimited.
    """
    with _lock:
        is_known = account_id in _limited
    return is_known and limit.refuses(account_id, at)


def forget_uses() -> None:
    """Forget all noted uses, readings and limited calls; for tests."""
    _noted.clear()
    _readers.clear()
    _limited.clear()
