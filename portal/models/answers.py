"""Last good answers of the service, shown while the service cannot be reached.

Answers contain customers' findings, so they are sealed, and deleted after a day. On SQLite this table is in
the database of short-lived data, so that no page waits for an import; hence no foreign key.
"""

import hashlib
from datetime import datetime, timedelta
from functools import partial
from typing import Any, ClassVar, NamedTuple

import msgspec
from django.db import models, transaction
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver
from django.utils import timezone

from foundation.sealing import CannotUnseal, seal, unseal_once
from portal.models.accounts import Website

MAX_AGE = timedelta(hours=24)
MIN_INTERVAL = timedelta(minutes=1)  # between two answers to the same request
MAX_PER_WEBSITE = 20  # answers; the newest are kept


class StoredAnswer(NamedTuple):
    """An answer as JSON, and the time at which the portal received it."""

    received_at: datetime
    body: bytes


class LastAnswerQuerySet(models.QuerySet["LastAnswer"]):
    """Queries that store, read and delete answers."""

    def store(self, website: Website, request: msgspec.Struct, body: bytes) -> None:
        """Store the answer to ``request``, unless one was stored in the last minute; delete old answers."""
        now, digest = timezone.now(), _digest(website, request)
        if self.filter(pk=digest, received_at__gt=now - MIN_INTERVAL).exists():
            return
        self.update_or_create(
            pk=digest,
            defaults={"website_id": website.pk, "received_at": now, "sealed": seal(body.decode(), digest)},
        )
        newest = self.filter(website_id=website.pk).order_by("-received_at")
        superfluous = list(newest.values_list("pk", flat=True)[MAX_PER_WEBSITE:])
        self.filter(pk__in=superfluous).delete()
        self.expire(now)

    def read(self, website: Website, request: msgspec.Struct) -> StoredAnswer | None:
        """Return the answer to ``request``, if one from the last 24 hours is stored and can be unsealed."""
        answers = self.filter(pk=_digest(website, request), received_at__gt=timezone.now() - MAX_AGE)
        answer = answers.first()
        if answer is None:
            return None
        try:
            body = unseal_once(answer.sealed, answer.pk)  # without the cache of unsealed secrets
            return StoredAnswer(answer.received_at, body.encode())
        except CannotUnseal:  # its master key was removed
            return None

    def discard(self, website_id: int) -> None:
        """Delete all answers about this website."""
        self.filter(website_id=website_id).delete()

    def expire(self, now: datetime) -> None:
        """Delete answers older than MAX_AGE."""
        self.filter(received_at__lte=now - MAX_AGE).delete()


class LastAnswer(models.Model):
    """The sealed answer to one request about one website."""

    digest = models.CharField(max_length=64, primary_key=True)
    website_id = models.BigIntegerField()
    received_at = models.DateTimeField()
    sealed = models.TextField()

    objects = LastAnswerQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-received_at"]
        indexes: ClassVar = [
            models.Index(fields=["website_id", "received_at"], name="portal_lastanswer_website"),
            models.Index(fields=["received_at"], name="portal_lastanswer_received"),
        ]

    def __str__(self) -> str:
        return f"answer about website {self.website_id} at {self.received_at}"


def _digest(website: Website, request: msgspec.Struct) -> str:
    """Return the digest of website, link and request: a new link never gets the old link's answers."""
    identity = (website.account_id, website.pk, website.host, website.link_id, type(request).__name__)
    return hashlib.sha256(msgspec.json.encode((*identity, request))).hexdigest()


@receiver([post_save, post_delete], sender=Website)
def _discard(instance: Website, **_: Any) -> None:
    """Discard the website's answers after the commit, because its link may have changed."""
    transaction.on_commit(partial(LastAnswer.objects.discard, instance.pk))
