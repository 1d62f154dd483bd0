"""Seals: a chain of digests over audit events, which reveals changed, removed and added events.

Each seal covers all events since the last one, so writing an event needs no lock.
"""

import hashlib
import json
import logging
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import IntegrityError, connections, router, transaction
from django.db.models import CharField, Exists, OuterRef, QuerySet
from django.db.models.functions import Cast
from django.utils import timezone

from audit.models import ORIGIN_RETENTION, RETENTION, AuditActor, AuditEvent, AuditOrigin, AuditSeal
from audit.recording import Acting, Subject, acting, as_json, record

logger = logging.getLogger("audit")
_CLOCK_SKEW = timedelta(minutes=5)  # the clock of the database may be behind
_PRUNED = "audit.pruned"


def seal(now: datetime) -> AuditSeal | None:
    """Seal the events since the last seal; return None without new events, or if another process was faster.

    Raise OperationalError if writers do not pause within two seconds.
    """
    last = AuditSeal.objects.last()
    after_id, previous = (last.last_id, last.digest) if last else (0, "")
    last_id = _newest_id()
    events = AuditEvent.objects.filter(pk__gt=after_id, pk__lte=last_id)
    newest = events.order_by("-at").first()
    if newest is None:
        return None
    new = AuditSeal(at=now, after_id=after_id, last_id=last_id, newest_at=newest.at, previous=previous)
    new.events_digest = _events_digest(events)
    new.digest = _seal_digest(new)
    try:
        with transaction.atomic(using=router.db_for_write(AuditSeal)):
            new.save(force_insert=True)
    except IntegrityError:
        return None
    logger.info("%s", json.dumps({"seal": new.pk, **facts_of(new), "digest": new.digest}))
    return new


def first_difference() -> AuditSeal | None:
    """Return the first seal that does not match its events or the previous seal; None if all match.

    The events of a seal may be missing if all are older than the retention and a recorded prune deleted them.
    """
    last_id, digest = 0, ""  # of the previous seal
    pruned_up_to, oldest_kept_at = _pruned_up_to(), timezone.now() - RETENTION
    for each in AuditSeal.objects.iterator():
        if (each.after_id, each.previous, _seal_digest(each)) != (last_id, digest, each.digest):
            return each
        events = AuditEvent.objects.filter(pk__gt=each.after_id, pk__lte=each.last_id)
        is_pruned = each.last_id <= pruned_up_to and each.newest_at < oldest_kept_at and not events.exists()
        if not is_pruned and _events_digest(events) != each.events_digest:
            return each
        last_id, digest = each.last_id, each.digest
    return None


def facts_of(seal: AuditSeal) -> dict[str, Any]:
    """Return the facts that a seal's digest covers, as JSON values."""
    newest_at = seal.newest_at.astimezone(UTC).isoformat(timespec="microseconds")
    return {
        "after_id": seal.after_id,
        "last_id": seal.last_id,
        "newest_at": newest_at,
        "previous": seal.previous,
        "events_digest": seal.events_digest,
    }


def unsealed() -> int:
    """Return the number of events since the last seal."""
    last = AuditSeal.objects.last()
    return AuditEvent.objects.filter(pk__gt=last.last_id if last else 0).count()


def prune(now: datetime) -> int:
    """Delete sealed events after 400 days, addresses after 90, and names without events.

    Return the number of events. The prune is an event of its own, so the next seal covers it.
    """
    AuditOrigin.objects.filter(at__lt=now - ORIGIN_RETENTION).delete()
    first_kept = AuditSeal.objects.filter(newest_at__gte=now - RETENTION - _CLOCK_SKEW).first()
    seals = AuditSeal.objects.filter(pk__lt=first_kept.pk) if first_kept else AuditSeal.objects.all()
    last_old = seals.last()
    if last_old is None:
        return 0
    with transaction.atomic(using=router.db_for_write(AuditEvent)):
        count, _models = AuditEvent.objects.filter(pk__lte=last_old.last_id).delete()
        if count:
            with acting(Acting()):  # a system event; the command records its own
                record(_PRUNED, Subject("audit events", str(last_old.last_id)), after={"events": count})
    if count:
        by_actor = AuditEvent.objects.filter(actor=OuterRef("pk"))
        number = Cast(OuterRef("pk"), CharField())  # object_id is a text
        about_actor = AuditEvent.objects.filter(object_type="person", object_id=number)
        AuditActor.objects.filter(~Exists(by_actor), ~Exists(about_actor)).delete()
    return count


def _newest_id() -> int:
    """Return the highest id up to which all events are committed; lock writers out for a moment."""
    alias = router.db_for_write(AuditEvent)
    with transaction.atomic(using=alias):
        connection = connections[alias]
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = 2000")
                cursor.execute(f"LOCK TABLE {AuditEvent._meta.db_table} IN SHARE MODE")
        newest = AuditEvent.objects.order_by("-pk").values_list("pk", flat=True).first()
    return newest or 0


def _pruned_up_to() -> int:
    """Return the highest event id that a recorded prune deleted; 0 without a prune."""
    ids = AuditEvent.objects.filter(action=_PRUNED).values_list("object_id", flat=True)
    return max((int(each) for each in ids if each.isascii() and each.isdecimal()), default=0)


def _events_digest(events: QuerySet[AuditEvent]) -> str:
    """Return the SHA-256 over the events in canonical JSON, one line each."""
    digest = hashlib.sha256()
    for event in events.order_by("pk").iterator():
        digest.update(_canonical(as_json(event)) + b"\n")
    return digest.hexdigest()


def _seal_digest(seal: AuditSeal) -> str:
    """Return the SHA-256 over the facts of a seal."""
    return hashlib.sha256(_canonical(facts_of(seal))).hexdigest()


def _canonical(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()
