"""The one function that writes audit events, and the context that says who acts."""

import hashlib
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import OperationalError, connections, models, router, transaction
from django.utils import timezone, translation
from django.utils.dateparse import parse_datetime

from audit.models import MAX_TEXT_LENGTH, AuditActor, AuditEvent, AuditOrigin, WaitingEvent
from foundation.operations.request_ids import current_request_id

logger = logging.getLogger("audit")
Values = Mapping[str, Any]


class Person(NamedTuple):
    """A person, perhaps without a user; the name is stored apart from the event."""

    user_id: int | None
    name: str


class Subject(NamedTuple):
    """An object of an action that is not a model; ``id`` and ``label`` never contain a person's name."""

    type: str
    id: str
    label: str = ""


@dataclass(slots=True, kw_only=True)
class Acting:
    """The actor of this request or command; ``recorded`` has the objects of the events so far."""

    kind: str | Callable[[], str] = AuditEvent.Kind.SYSTEM
    person: Callable[[], Person | None] = lambda: None
    account: str = ""
    reason: str = ""
    address: str = ""
    browser: str = ""
    recorded: set[tuple[str, str]] = field(default_factory=set)


_acting: ContextVar[Acting | None] = ContextVar("audit_acting", default=None)


@contextmanager
def acting(acts: Acting) -> Iterator[Acting]:
    """Attribute the events of this block to ``acts``."""
    token = _acting.set(acts)
    try:
        yield acts
    finally:
        _acting.reset(token)


def has_recorded(subject: models.Model) -> bool:
    """Return whether this request or command has an event about ``subject``."""
    acts = _acting.get()
    return acts is not None and (subject._meta.label_lower, str(subject.pk)) in acts.recorded


def record(
    action: str,
    subject: models.Model | Person | Subject | None = None,
    *,
    by: AbstractBaseUser | str | None = None,
    account: str = "",
    host: str = "",
    before: Values | None = None,
    after: Values | None = None,
    reason: str = "",
    outcome: str = AuditEvent.Outcome.DONE,
    may_wait: bool = False,
) -> None:
    """Record ``action`` in the transaction of the caller.

    ``account`` and ``host`` default to the model's own. ``by`` names the actor if no person is signed in.
    Never pass a secret. ``may_wait`` is for actions that change no records: during an import on SQLite they
    continue at once, and the event is stored later.
    """
    acts = _acting.get() or Acting()
    with translation.override("en"):
        content = {
            "at": timezone.now().isoformat(),
            "actor_kind": str(acts.kind() if callable(acts.kind) else acts.kind),
            "action": action,
            "account": account or _account_of(subject) or acts.account,
            "host": host or _host_of(subject),
            **_described(subject),
            "before": _short_values(before),
            "after": _short_values(after),
            "reason": _short(reason.strip() or acts.reason),
            "request_id": current_request_id(),
            "outcome": str(outcome),
            "actor": acts.person() or _person(by),
            "origin": [acts.address, acts.browser] if acts.address else None,
        }
    acts.recorded.add((content["object_type"], content["object_id"]))
    if may_wait and not connections[router.db_for_write(AuditEvent)].in_atomic_block:
        _store_or_wait(content)
    else:
        store(content)


def store(content: dict[str, Any]) -> None:
    """Store an event of ``record``, and log it as one line of JSON once it is committed."""
    values = {name: value for name, value in content.items() if name not in ("actor", "person", "origin")}
    alias = router.db_for_write(AuditEvent)
    with transaction.atomic(using=alias):
        if content["actor"]:
            values["actor"] = AuditActor.number_of(*content["actor"])
        if content["person"]:
            values["object_id"] = str(AuditActor.number_of(*content["person"]))
        at = parse_datetime(content["at"])
        event = AuditEvent.objects.create(**values | {"at": at})
        if content["origin"]:
            address, browser = content["origin"]
            AuditOrigin.objects.create(event_id=event.pk, at=event.at, address=address, browser=browser)
        line = json.dumps(as_json(event))
        transaction.on_commit(lambda: logger.info("%s", line), using=alias)


def as_json(event: AuditEvent) -> dict[str, Any]:
    """Return the columns of an event as JSON values, equal on every database."""
    fields = {field.attname: getattr(event, field.attname) for field in event._meta.concrete_fields}
    at: datetime = fields["at"]
    return fields | {"at": at.astimezone(timezone.get_default_timezone()).isoformat(timespec="microseconds")}


def deliver_waiting() -> int:
    """Store the events that wait, and return their number."""
    waiting = list(WaitingEvent.objects.order_by("pk"))
    for row in waiting:
        with transaction.atomic(using=router.db_for_write(WaitingEvent)):
            if WaitingEvent.objects.filter(pk=row.pk).delete()[0]:  # no other process has stored it
                store(row.content)
    return len(waiting)


def _store_or_wait(content: dict[str, Any]) -> None:
    """Store the event, or keep it for later if another writer locks SQLite's file of records."""
    connection = connections[router.db_for_write(AuditEvent)]
    if router.db_for_write(WaitingEvent) == connection.alias:  # PostgreSQL: an import locks no other rows
        store(content)
        return
    with connection.cursor() as cursor:
        timeout = cursor.execute("PRAGMA busy_timeout").fetchone()[0]
        cursor.execute("PRAGMA busy_timeout = 0")
    try:
        store(content)
    except OperationalError:
        WaitingEvent.objects.create(content=content)
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA busy_timeout = {timeout}")


def _described(subject: models.Model | Person | Subject | None) -> dict[str, Any]:
    match subject:
        case None:
            return {"object_type": "", "object_id": "", "label": "", "person": None}
        case Subject():
            values = {"object_type": subject.type, "object_id": subject.id, "label": _short(subject.label)}
            return {**values, "person": None}
        case AbstractBaseUser() | Person():
            return {"object_type": "person", "object_id": "", "label": "", "person": _person(subject)}
    # The text of such a model may contain a person's name or part of a secret.
    private = {"user", "email", "author", "sealed"}
    has_label = private.isdisjoint(field.name for field in subject._meta.concrete_fields)
    return {
        "object_type": subject._meta.label_lower,
        "object_id": str(subject.pk),
        "label": _short(str(subject)) if has_label else "",
        "person": None,
    }


def _person(by: AbstractBaseUser | Person | str | None) -> Person | None:
    if isinstance(by, AbstractBaseUser):
        return Person(by.pk, by.get_username())
    if isinstance(by, Person):
        return by
    return Person(None, by.strip()) if by and by.strip() else None


def _account_of(subject: Any) -> str:
    """Return the reference of the subject's account, or of its website's, or its own; empty without one."""
    for each in (subject, getattr(subject, "website", None)):
        account = getattr(each, "account", None)
        if ref := getattr(account, "ref", ""):
            return str(ref)
    return str(getattr(subject, "ref", "") or "")


def _host_of(subject: Any) -> str:
    """Return the host of the subject's website; a finding's own host may be a subdomain of it."""
    website = getattr(subject, "website", None) or subject
    return str(getattr(website, "host", ""))


def _short_values(values: Values | None) -> dict[str, Any] | None:
    if values is None:
        return None
    return {
        name: value if value is None or isinstance(value, bool | int) else _short(str(value))
        for name, value in values.items()
    }


def _short(text: str) -> str:
    """Return ``text`` without characters that a database refuses; a long text becomes its digest."""
    text = str(text).encode("utf-8", "replace").decode().replace("\0", "")
    if len(text) <= MAX_TEXT_LENGTH:
        return text
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
