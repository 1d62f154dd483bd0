"""Audit events, the names and addresses in them, and their seals.

Triggers refuse to change events and seals (migration 0002). No foreign key leads to an event or away from it,
so that nothing cascades. Names and addresses have tables of their own: deleting them changes no event.
"""

from datetime import timedelta
from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

RETENTION = timedelta(days=400)  # the triggers have this number, too
ORIGIN_RETENTION = timedelta(days=90)
MAX_TEXT_LENGTH = 200


class AuditActor(models.Model):
    """A person of events: the one who acts, or the one whom an action is about."""

    user_id = models.BigIntegerField(null=True, unique=True, editable=False)
    name = models.CharField(max_length=254, db_index=True, editable=False)  # empty once it is forgotten

    def __str__(self) -> str:
        return self.name or str(_("a deleted person"))

    @classmethod
    def number_of(cls, user_id: int | None, name: str) -> int | None:
        """Return the number of a person, who is stored under it from now on; None without a name."""
        if user_id is not None:
            actor, _is_new = cls.objects.get_or_create(user_id=user_id, defaults={"name": name})
            return actor.pk
        if not name:
            return None
        same = cls.objects.filter(name=name).order_by("pk").first()
        return (same or cls.objects.create(name=name)).pk


class AuditEvent(models.Model):
    """One action. ``actor``, and ``object_id`` of the type "person", are numbers of ``AuditActor``.

    An event without ``account`` concerns every account that has the website ``host``.
    """

    class Kind(models.TextChoices):
        """Kinds of actors."""

        PERSON = "person", _("Person")
        STAFF = "staff", _("Staff")
        COMMAND = "command", _("Command")
        PROVIDER = "provider", _("Provider")
        SYSTEM = "system", _("System")

    class Outcome(models.TextChoices):
        """Whether the action happened."""

        DONE = "done", _("Done")
        REFUSED = "refused", _("Refused")

    at = models.DateTimeField(_("time"))
    actor_kind = models.CharField(_("kind"), max_length=10, choices=Kind)
    actor = models.BigIntegerField(_("who"), null=True)
    account = models.CharField(_("account"), max_length=128, blank=True)
    host = models.CharField(_("website"), max_length=253, blank=True)
    action = models.CharField(_("action"), max_length=100)
    object_type = models.CharField(_("kind of object"), max_length=100, blank=True)
    object_id = models.CharField(_("number of the object"), max_length=128, blank=True)
    label = models.CharField(_("name of the object"), max_length=MAX_TEXT_LENGTH, blank=True)
    before = models.JSONField(_("before"), null=True)
    after = models.JSONField(_("after"), null=True)
    reason = models.CharField(_("reason"), max_length=MAX_TEXT_LENGTH, blank=True)
    request_id = models.CharField(_("request"), max_length=64, blank=True)
    outcome = models.CharField(_("outcome"), max_length=10, choices=Outcome, default=Outcome.DONE)

    class Meta:
        verbose_name = _("audit event")
        verbose_name_plural = _("audit events")
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
    """The digest over the previous one, the facts of this seal, and ``events_digest`` over its events.

    With two steps, the facts of a seal can be checked after its events were pruned.
    """

    at = models.DateTimeField()
    after_id = models.BigIntegerField(unique=True)  # two seals never cover the same events
    last_id = models.BigIntegerField()
    newest_at = models.DateTimeField(help_text=_("The latest time of its events."))
    previous = models.CharField(max_length=64, blank=True)
    events_digest = models.CharField(max_length=64, null=True)  # noqa: DJ001 - SQLite rebuilds no table for it
    digest = models.CharField(max_length=64)

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.digest}"


class WaitingEvent(models.Model):
    """An event that could not be stored at once, because an import holds SQLite's file of records."""

    content = models.JSONField()

    def __str__(self) -> str:
        return str(self.content.get("action"))
