"""Audit events for owners: of their accounts, and of our team about the accounts' websites.

Owners do not see names of staff, their reasons, or the values that they changed.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Q, QuerySet
from django.utils.formats import localize
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from audit.models import AuditActor, AuditEvent
from foundation.texts.people import reference_of, user_id_of
from portal.activity.labels import ACTIONS
from portal.files.spreadsheets import BYTE_ORDER_MARK, csv_lines, without_formula
from portal.models import Membership, Website, WebsiteSummary

OUR_TEAM = "team"
BATCH = 500  # events of the file in one query
COLUMNS = ("time", "account", "who", "action", "about", "details", "outcome", "request")
MAX_PERIODS = 500  # databases limit the length of a condition
# Recorded actions that begin or end the time in which an account is linked to a website
_LINKED, _REVOKED = ("link.linked", "link.restored"), "link.revoked"
_MAX_ID = 2**63 - 1
# The link of a website is in force if the service does not refuse a call, or refuses it for this reason.
# After another refusal, such as an ended plan, the link may have ended.
_PROVING_LINK = ("", "websites_limit")
_TEAM_KINDS = (AuditEvent.Kind.STAFF, AuditEvent.Kind.COMMAND)
_ABOUT_FINDINGS = ("answer.", "answer_rules.", "case.", "message.")
Members = Mapping[tuple[str, str], str]  # names by account and reference


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityRow:
    """An event in the form for owners."""

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
    """Return the events that owners of these accounts may see, the newest first.

    A new account may reuse the reference of a deleted one; the events of the deleted account are hidden.
    """
    accounts = list(accounts)
    actions = [action for action in ACTIONS if not action.startswith("admin.")]
    about_websites = Q(account="", action__in=actions) & _while_linked(accounts)
    found = AuditEvent.objects.filter(Q(account__in=accounts) | about_websites)
    deleted = AuditEvent.objects.filter(
        object_type="account", object_id__in=accounts, action="account.forgotten"
    )
    for ref, event_id in deleted.order_by("pk").values_list("account", "pk"):
        found = found.exclude(account=ref, pk__lte=event_id)
    return found


def _while_linked(accounts: Sequence[str]) -> Q:
    """Return the condition for events about the accounts' websites while these were linked.

    Other accounts may have had a website before or after; decisions from then belong to them.
    """
    websites = Website.objects.filter(account__ref__in=accounts).values_list("pk", "account__ref", "host")
    website_ids = {(account, host): pk for pk, account, host in websites}
    hosts = {host for _account, host in website_ids}
    links = AuditEvent.objects.filter(host__in=hosts, action__in=(*_LINKED, _REVOKED)).order_by("pk")
    own_links = list(links.filter(account__in=accounts))
    # Events about old links are pruned: of these hosts, the stored refusal says whether the link has ended.
    on_record = {(link.account, link.host) for link in own_links}
    without_events = {
        pk: host for (account, host), pk in website_ids.items() if (account, host) not in on_record
    }
    refused = WebsiteSummary.objects.filter(website_id__in=without_events).exclude(refusal__in=_PROVING_LINK)
    ended_ids = set(refused.values_list("website_id", flat=True))
    ended_hosts = {without_events[pk] for pk in ended_ids}
    still_linked = {without_events[pk] for pk in without_events.keys() - ended_ids}
    others = set(links.exclude(account__in=accounts).order_by().values_list("host", flat=True))
    revoked = {link.host for link in own_links if link.action == _REVOKED}
    partly_linked = others | revoked | ended_hosts
    condition = Q(host__in=(hosts - partly_linked) | still_linked)
    own_links = [link for link in own_links if link.host in partly_linked]
    for host, first, last in _periods(own_links)[-MAX_PERIODS:]:
        condition |= Q(host=host, pk__range=(first, last))
    return condition


def _periods(links: Iterable[AuditEvent]) -> list[tuple[str, int, int]]:
    """Return each period in which an account was linked to a host: host, first and last event id."""
    open_since: dict[tuple[str, str], int] = {}
    periods = []
    for link in links:
        key = (link.account, link.host)
        if link.action == _REVOKED:
            periods.append((link.host, open_since.pop(key, 0), link.pk))  # 0: the first event was pruned
        else:
            open_since.setdefault(key, link.pk)
    return periods + [(host, first, _MAX_ID) for (_account, host), first in open_since.items()]


def people_in(events: QuerySet[AuditEvent]) -> dict[str, str]:
    """Return the names of the people who acted, by the id of their AuditActor; our team comes last."""
    acted = events.exclude(actor_kind__in=_TEAM_KINDS).exclude(account="").order_by()
    actors = AuditActor.objects.filter(pk__in=acted.values("actor").distinct()).order_by("name")
    members = _members(acted.values_list("account", flat=True).distinct(), actors)
    names = {reference: name for (_account, reference), name in members.items()}
    with_user = {reference_of(actor.user_id) for actor in actors if actor.user_id}
    people = {str(actor.pk): _in_words(actor, names) for actor in actors if actor.name not in with_user}
    return people | {OUR_TEAM: _("Our team")}


def by_person(events: QuerySet[AuditEvent], person: str) -> QuerySet[AuditEvent]:
    """Return the events of one person; ``person`` is a key of ``people_in``."""
    if person == OUR_TEAM:
        return events.filter(actor_kind__in=_TEAM_KINDS)
    actors = AuditActor.objects.filter(pk=int(person))
    users = [reference_of(user_id) for user_id in actors.values_list("user_id", flat=True) if user_id]
    numbers = [*AuditActor.objects.filter(user_id=None, name__in=users).values_list("pk", flat=True)]
    return events.exclude(actor_kind__in=_TEAM_KINDS).filter(actor__in=[int(person), *numbers])


def rows(events: Iterable[AuditEvent]) -> list[ActivityRow]:
    """Return the events in words; one query reads all names."""
    events = list(events)
    people = [int(each.object_id) for each in events if each.object_type == "person" and each.object_id]
    names = AuditActor.objects.in_bulk({*people, *(each.actor for each in events if each.actor)})
    members = _members({each.account for each in events}, names.values())
    return [_row(each, names, members) for each in events]


def write_csv(events: QuerySet[AuditEvent]) -> Iterator[str]:
    """Yield the header, then the events batch by batch, the newest first."""
    yield BYTE_ORDER_MARK + csv_lines([COLUMNS])
    batch = list(events[:BATCH])
    while batch:
        yield csv_lines([without_formula(cell) for cell in _cells(row)] for row in rows(batch))
        batch = list(events.filter(pk__lt=batch[-1].pk)[:BATCH])


def _cells(row: ActivityRow) -> tuple[str, ...]:
    at = row.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    outcome = "refused" if row.is_refused else "done"
    return (at, row.account, row.who, row.action, row.about, row.details, outcome, row.request_id)


def _members(accounts: Iterable[str], actors: Iterable[AuditActor]) -> Members:
    """Return the names of the accounts' members, if one of ``actors`` is a reference of a person."""
    if all(user_id_of(actor.name) is None for actor in actors):
        return {}
    members = Membership.objects.filter(account__ref__in=list(accounts)).select_related("account", "user")
    return {
        (member.account.ref, reference_of(member.user_id)): member.user.get_username() for member in members
    }


def _row(event: AuditEvent, names: dict[int, AuditActor], members: Members) -> ActivityRow:
    is_ours = event.actor_kind in _TEAM_KINDS
    values = {"before": event.before, "after": event.after}
    values = {name: value for name, value in values.items() if value and not is_ours}
    own = {reference: name for (account, reference), name in members.items() if account == event.account}
    return ActivityRow(
        pk=event.pk,
        at=event.at,
        account=event.account,
        who=_("Our team") if is_ours else _name(event.actor if event.account else None, names, own),
        action=str(ACTIONS.get(event.action, _("Changed the organization"))),
        about=_about(event, names),
        details=json.dumps(values, ensure_ascii=False) if values else "",
        is_refused=event.outcome == AuditEvent.Outcome.REFUSED,
        request_id=event.request_id,
    )


def _about(event: AuditEvent, names: dict[int, AuditActor]) -> str:
    if event.object_type == "person" and event.object_id:
        return _name(int(event.object_id), names, {})
    if event.action.startswith(_ABOUT_FINDINGS):
        return _about_findings(event)
    label = event.label
    for ending in (f" for {event.account}", f" of {event.account}"):  # the row names the account
        label = label.removesuffix(ending)
    return label if event.host in label else f"{event.host}: {label}".strip(": ")


def _about_findings(event: AuditEvent) -> str:
    """Return the website, and how many findings an act is about."""
    count = (event.after or {}).get("findings", 1)
    if count == 1:
        return event.host
    text = ngettext("%(host)s: %(count)s finding", "%(host)s: %(count)s findings", count)
    return text % {"host": event.host, "count": localize(count)}


def _name(number: int | None, names: dict[int, AuditActor], members: Mapping[str, str]) -> str:
    if not number:
        return _("The service")
    # One without a name is shown as a deleted person.
    return _in_words(names.get(number) or AuditActor(), members)


def _in_words(actor: AuditActor, members: Mapping[str, str]) -> str:
    """Return the actor's name; for a reference of a person, the member's name in ``members``."""
    if actor.user_id is None and user_id_of(actor.name) is not None:
        return members.get(actor.name, _("A former member"))
    return str(actor)
