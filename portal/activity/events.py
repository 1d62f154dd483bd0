"""The audit events that owners see: those of their accounts, and of the websites of these by our team.

The names of staff, their reasons, and the values that they changed are not shown.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from audit.models import AuditActor, AuditEvent
from portal.activity.labels import ACTIONS
from portal.models import Membership, Website
from portal.spreadsheets import BYTE_ORDER_MARK, inert, lines

OUR_TEAM = "team"
BATCH = 500
COLUMNS = ("time", "account", "who", "action", "about", "details", "outcome", "request")
_OURS = (AuditEvent.Kind.STAFF, AuditEvent.Kind.COMMAND)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityRow:
    """An event as owners see it."""

    pk: int
    at: datetime
    account: str
    who: str
    action: str
    about: str
    details: str
    is_refused: bool
    request_id: str


def owned_accounts(user: AbstractBaseUser | AnonymousUser) -> dict[str, str]:
    """Return the names of the accounts that the person owns, by their references."""
    owned = Membership.objects.of_user(user).owners().select_related("account")
    return {membership.account.ref: str(membership.account) for membership in owned}


def events_of(accounts: Iterable[str]) -> QuerySet[AuditEvent]:
    """Return the events that owners of these accounts see, the newest first."""
    accounts = list(accounts)
    hosts = list(Website.objects.filter(account__ref__in=accounts).values_list("host", flat=True))
    actions = [action for action in ACTIONS if not action.startswith("admin.")]
    about_websites = Q(account="", host__in=hosts, action__in=actions)
    return AuditEvent.objects.filter(Q(account__in=accounts) | about_websites)


def people_in(events: QuerySet[AuditEvent]) -> dict[str, str]:
    """Return the names of the people who acted, by their numbers; our team comes last."""
    numbers = events.exclude(actor_kind__in=_OURS).exclude(account="").order_by().values("actor").distinct()
    actors = AuditActor.objects.filter(pk__in=numbers).order_by("name")
    return {str(actor.pk): str(actor) for actor in actors} | {OUR_TEAM: _("Our team")}


def by_person(events: QuerySet[AuditEvent], person: str) -> QuerySet[AuditEvent]:
    """Return the events of one of ``people_in``."""
    if person == OUR_TEAM:
        return events.filter(actor_kind__in=_OURS)
    return events.exclude(actor_kind__in=_OURS).filter(actor=int(person))


def rows(events: Iterable[AuditEvent]) -> list[ActivityRow]:
    """Return the events in words; the names of all of them are one query."""
    events = list(events)
    people = [int(each.object_id) for each in events if each.object_type == "person" and each.object_id]
    names = AuditActor.objects.in_bulk({*people, *(each.actor for each in events if each.actor)})
    return [_row(each, names) for each in events]


def write_csv(events: QuerySet[AuditEvent]) -> Iterator[str]:
    """Yield the header, then the events batch by batch, the newest first."""
    yield BYTE_ORDER_MARK + lines([COLUMNS])
    batch = list(events[:BATCH])
    while batch:
        yield lines([inert(cell) for cell in _cells(row)] for row in rows(batch))
        batch = list(events.filter(pk__lt=batch[-1].pk)[:BATCH])


def _cells(row: ActivityRow) -> tuple[str, ...]:
    at = row.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    outcome = "refused" if row.is_refused else "done"
    return (at, row.account, row.who, row.action, row.about, row.details, outcome, row.request_id)


def _row(event: AuditEvent, names: dict[int, AuditActor]) -> ActivityRow:
    is_ours = event.actor_kind in _OURS
    values = {"before": event.before, "after": event.after}
    values = {name: value for name, value in values.items() if value and not is_ours}
    return ActivityRow(
        pk=event.pk,
        at=event.at,
        account=event.account,
        who=_("Our team") if is_ours else _name(event.actor if event.account else None, names),
        action=str(ACTIONS.get(event.action, _("Changed the account"))),
        about=_about(event, names),
        details=json.dumps(values, ensure_ascii=False) if values else "",
        is_refused=event.outcome == AuditEvent.Outcome.REFUSED,
        request_id=event.request_id,
    )


def _about(event: AuditEvent, names: dict[int, AuditActor]) -> str:
    if event.object_type == "person" and event.object_id:
        return _name(int(event.object_id), names)
    label = event.label
    for ending in (f" for {event.account}", f" of {event.account}"):  # the row names the account
        label = label.removesuffix(ending)
    return label if event.host in label else f"{event.host}: {label}".strip(": ")


def _name(number: int | None, names: dict[int, AuditActor]) -> str:
    return str(names.get(number) or AuditActor()) if number else _("The service")
