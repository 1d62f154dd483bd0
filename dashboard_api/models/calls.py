"""Calls on record, and the number of calls of each account.

On SQLite both live in the file of short-lived data, next to the nonces.
"""

from datetime import datetime
from typing import Any, ClassVar, NamedTuple

from django.db import models

from dashboard_api.backends.statements import changed_rows, to_column

UNLIMITED_ALLOWANCE = 2**31 - 1  # the most calls that a row can count


class Pause(NamedTuple):
    """Seconds until an account may call again; ``used`` is set if it has used up its calls of the day."""

    seconds: int
    used: int | None = None


class CallLimit(NamedTuple):
    """Limits of an account: calls a second, calls at once, and calls a day (UTC)."""

    per_second: int
    burst: int
    is_counted: bool = True  # test calls are limited, but not counted
    allowance: int | None = None  # calls a day

    def parameters(self, at: datetime) -> dict[str, Any]:
        """Return the parameters of the statement that counts a call, with times in microseconds."""
        now = int(at.timestamp() * 1_000_000)
        return {
            "day": at.date().isoformat(),
            "counted": int(self.is_counted),
            "now": now,
            "interval": 1_000_000 // self.per_second,
            "allowance": UNLIMITED_ALLOWANCE if self.allowance is None else self.allowance,
            "latest": self._latest(now),
        }

    def refuses(self, account_id: int, at: datetime) -> bool:
        """Return whether a call at ``at`` comes too early; further calls can only change a no to a yes."""
        usage = Usage.objects.filter(account_id=account_id, day=at.date()).first()
        if usage is None:
            return False
        return self._is_used_up(usage) or usage.arrival > self._latest(int(at.timestamp() * 1_000_000))

    def pause(self, account_id: int, at: datetime) -> Pause:
        """Return the pause after a refusal at ``at``: at least a second, and at most until midnight."""
        usage = Usage.objects.filter(account_id=account_id, day=at.date()).first()
        if usage is None:
            return Pause(1)
        until_midnight = 86_400 - int(at.timestamp()) % 86_400  # then a new row begins, with an empty count
        if self._is_used_up(usage):
            return Pause(until_midnight, usage.calls)
        excess = usage.arrival - self._latest(int(at.timestamp() * 1_000_000))
        return Pause(min(max(1, -(-excess // 1_000_000)), until_midnight))  # -(-a // b) rounds up

    def _is_used_up(self, usage: "Usage") -> bool:
        return self.allowance is not None and usage.calls >= self.allowance

    def _latest(self, now: int) -> int:
        """Return the largest ``Usage.arrival``, in microseconds, that still allows a call."""
        return now + 1_000_000 // self.per_second * (self.burst - 1)


class Usage(models.Model):
    """The calls of an account on a day (UTC), and its rate limit: counted and limited by one statement.

    ``arrival`` is the time in microseconds until which its calls use up the rate (generic cell rate
    algorithm): each call moves it by the interval of the rate. The portal's own calls
    are neither counted nor limited.
    """

    pk = models.CompositePrimaryKey("account_id", "day")
    # No foreign key: on SQLite these rows are in a file of their own.
    account_id = models.BigIntegerField()
    day = models.DateField()
    calls = models.IntegerField()
    arrival = models.BigIntegerField()

    class Meta:
        ordering: ClassVar = ["account_id", "day"]

    def __str__(self) -> str:
        return f"{self.calls} calls of account {self.account_id} on {self.day}"


class CallOutcome(models.Model):
    """Status and error code of a call with another status than 200, until its nonce expires."""

    pk = models.CompositePrimaryKey("account_id", "nonce")
    account_id = models.BigIntegerField()
    nonce = models.CharField(max_length=128)
    status = models.SmallIntegerField()
    code = models.CharField(max_length=40)

    def __str__(self) -> str:
        return f"{self.status} {self.code}"

    @staticmethod
    def note(account_id: int, nonce: str, *, status: int, code: str) -> None:
        """Store the outcome of a call; raises DatabaseError."""
        statement = (
            "INSERT INTO dashboard_api_calloutcome (account_id, nonce, status, code) VALUES (%s, %s, %s, %s) "
            "ON CONFLICT DO NOTHING"
        )
        changed_rows(CallOutcome, statement, [account_id, nonce, status, code])


class CallRecordQuerySet(models.QuerySet["CallRecord"]):
    """Deletion of old records."""

    def forget(self, *, before: datetime, batch: int) -> int:
        """Delete at most ``batch`` records from before a time, and return their number."""
        statement = (
            "DELETE FROM dashboard_api_callrecord WHERE id IN "
            "(SELECT id FROM dashboard_api_callrecord WHERE at < %s ORDER BY at LIMIT %s)"
        )
        return changed_rows(CallRecord, statement, [to_column(before), batch])


class CallRecord(models.Model):
    """A call with a verified signature, recorded when its nonce expires; without website and body.

    Triggers refuse changes, and deletion within 180 days (0001_callrecord). A call that a crash interrupted
    also has the status 200.
    """

    at = models.DateTimeField("time")
    account_id = models.BigIntegerField("account")
    secret_id = models.BigIntegerField("secret")
    link_id = models.BigIntegerField("link", null=True)
    route = models.CharField("route", max_length=32)
    request_id = models.CharField("request id", max_length=64, db_index=True)
    address = models.CharField("address", max_length=64)
    status = models.SmallIntegerField("status")
    code = models.CharField("error code", max_length=40)

    objects = CallRecordQuerySet.as_manager()

    class Meta:
        verbose_name = "call"
        verbose_name_plural = "calls"
        ordering: ClassVar = ["-at", "-id"]
        indexes: ClassVar = [
            models.Index(fields=["account_id", "at"], name="dashboard_api_call_of_account"),
            models.Index(fields=["at"], name="dashboard_api_call_at"),
            models.Index(
                fields=["account_id", "at"],
                condition=~models.Q(status=200),
                name="dashboard_api_call_refused",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.route} {self.request_id}"
