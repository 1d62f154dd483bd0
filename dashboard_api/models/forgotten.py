"""Accounts that were deleted for good, and the deletion of their calls."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import models

from dashboard_api.models.accounts import Account, Secret
from dashboard_api.models.calls import CallOutcome, CallRecord, Usage
from dashboard_api.models.nonces import Nonce, SecretUse

_KEPT = timedelta(days=1)  # longer than any deletion and any call takes


class ForgottenAccount(models.Model):
    """An account that is being deleted for good: triggers allow to delete its calls before 180 days.

    The row is written before the account is deleted, and deleted a day later.
    """

    account_id = models.BigIntegerField(primary_key=True)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"account {self.account_id}, deleted at {self.at}"

    @classmethod
    def note(cls, account_id: int, now: datetime) -> None:
        """Allow the deletion of the calls of an account from now on."""
        cls.objects.update_or_create(account_id=account_id, defaults={"at": now})

    @classmethod
    def finish(cls, now: datetime) -> int:
        """Delete the calls of noted accounts that no longer exist, and old notes; return the number of calls.

        An account that still exists, because its deletion failed or is not done yet, keeps its calls.
        """
        noted = set(cls.objects.values_list("account_id", flat=True))
        gone = noted - set(Account.objects.filter(pk__in=noted).values_list("pk", flat=True))
        deleted = _delete_calls(gone) if gone else 0
        cls.objects.filter(at__lt=now - _KEPT).delete()
        return deleted


def _delete_calls(account_ids: Iterable[int]) -> int:
    """Delete the calls of these accounts, and the uses of secrets that no longer exist."""
    deleted = 0
    for model in (CallOutcome, CallRecord, Nonce, Usage):
        number, _ = model._default_manager.filter(account_id__in=account_ids).delete()  # noqa: SLF001
        deleted += number if model in (CallRecord, Nonce) else 0
    used = set(SecretUse.objects.values_list("secret_id", flat=True))
    used.difference_update(Secret.objects.filter(pk__in=used).values_list("pk", flat=True))
    SecretUse.objects.filter(secret_id__in=used).delete()
    return deleted
