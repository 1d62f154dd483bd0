"""Audit events, the names and addresses in them, and their seals.

Triggers refuse changes to events and seals (migrations/0001_auditevent.*.sql). Events have no foreign keys in
either direction, so deletions never cascade. Names and addresses have tables of their own: deleting them
changes no event.
"""

from datetime import timedelta
from typing import ClassVar

from django.db import models

RETENTION = timedelta(days=400)  # the triggers use the same number
ORIGIN_RETENTION = timedelta(days=90)
MAX_TEXT_LENGTH = 200


class AuditActor(models.Model):
    """A person in events: the actor, or the object of an action."""

    user_id = models.BigIntegerField(null=True, unique=True, editable=False)
    name = models.CharField(max_length=254, db_index=True, editable=False)  # empty once it is forgotten

    def __str__(self) -> str:
        return self.name or "a deleted person"

    @classmethod
    def number_of(cls, user_id: int | None, name: str) -> int | None:
        """Return the number of a person, stored if new; None for an empty name without a user."""
        if user_id is not None:
            actor, _is_new = cls.objects.get_or_create(user_id=user_id, defaults={"name": name})
            return actor.pk
        if not name:
            return None
        actor = cls.objects.filter(name=name).order_by("pk").first() or cls.objects.create(name=name)
        return actor.pk


class AuditEvent(models.Model):
    """One action; ``actor`` is the number of an ``AuditActor``, as is ``object_id`` for the type "person".

    An event without ``account`` concerns every account that has the website ``host``.
    """

    class Kind(models.TextChoices):
        """Kinds of actors."""

        PERSON = "person", "Person"
        STAFF = "staff", "Staff"
        COMMAND = "command", "Command"
        PROVIDER = "provider", "Provider"
        SYSTEM = "system", "System"

    class Outcome(models.TextChoices):
        """Whether the action happened."""

        DONE = "done", "Done"
        REFUSED = "refused", "Refused"

    at = models.DateTimeField("time")
    actor_kind = models.CharField("kind", max_length=10, choices=Kind)
    actor = models.BigIntegerField("who", null=True)
    account = models.CharField("account", max_length=128, blank=True)
    host = models.CharField("website", max_length=253, blank=True)
    action = models.CharField("action", max_length=100)
    object_type = models.CharField("kind of object", max_length=100, blank=True)
    object_id = models.CharField("number of the object", max_length=128, blank=True)
    label = models.CharField("name of the object", max_length=MAX_TEXT_LENGTH, blank=True)
    before = models.JSONField("before", null=True)
    after = models.JSONField("after", null=True)
    reason = models.CharField("reason", max_length=MAX_TEXT_LENGTH, blank=True)
    request_id = models.CharField("request", max_length=64, blank=True)
    outcome = models.CharField("outcome", max_length=10, choices=Outcome, default=Outcome.DONE)

    class Meta:
        verbose_name = "audit event"
        verbose_name_plural = "audit events"
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            models.Index(fields=["account", "id"], name="audit_event_account"),
            models.Index(fields=["host", "id"], name="audit_event_host"),
            models.Index(fields=["actor"], name="audit_event_actor"),
            models.Index(fields=["object_type", "object_id"], name="audit_event_object"),
            models.Index(fields=["request_id"], name="audit_event_request"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.label or self.object_id}".strip()


class AuditOrigin(models.Model):
    """The address and the browser from which a person acted."""

    event_id = models.BigIntegerField(primary_key=True)
    at = models.DateTimeField(db_index=True)
    address = models.CharField(max_length=45)
    browser = models.CharField(max_length=100, blank=True)

    def __str__(self) -> str:
        return self.address


class AuditSeal(models.Model):
    """A seal: ``digest`` covers its facts, which include ``previous`` and ``events_digest`` over its events.

    With two digests, the facts of a seal can be checked after its events were pruned.
    """

    at = models.DateTimeField()
    after_id = models.BigIntegerField(unique=True)  # two seals never cover the same events
    last_id = models.BigIntegerField()
    newest_at = models.DateTimeField(help_text="The latest time of its events.")
    previous = models.CharField(max_length=64, blank=True)
    events_digest = models.CharField(max_length=64, null=True)  # noqa: DJ001 - SQLite rebuilds no table for it
    digest = models.CharField(max_length=64)

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.digest}"


class WaitingEvent(models.Model):
    """An event to store later, because an import was locking SQLite's file of records."""

    content = models.JSONField()

    def __str__(self) -> str:
        return str(self.content.get("action"))
