"""Delete people: their users, and their names and addresses in every record."""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db.models import F, Q, QuerySet

from audit.models import AuditActor, AuditEvent, AuditOrigin
from config.models import Session
from foundation.texts.people import reference_of

FORGOTTEN = "-"  # in place of a name


def names_of(users: Iterable[User]) -> set[str]:
    """Return the user names and e-mail addresses of these users."""
    return {name for user in users for name in (user.username, user.email)} - {""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """Numbers of deleted users and invitations, and of records that lost a name."""

    users: int
    invitations: int
    records: int


def forget_people(users: Collection[User], names: set[str]) -> Forgotten:
    """Delete the users and their invitations, and remove ``names`` from records and the audit."""
    numbers = [user.pk for user in users]
    invitations, renamed = _forget_in_portal(names) if settings.ENABLE_PORTAL else (0, 0)
    renamed += _forget_in_service(names) if settings.ENABLE_API else 0
    if settings.ENABLE_PORTAL and settings.ENABLE_API:
        renamed += _forget_in_answers([reference_of(number) for number in numbers])
    renamed += _forget_in_log(names)
    Session.objects.filter(user_id__in=numbers).delete()
    forget_log_entries(User.objects.filter(pk__in=numbers))
    actors = AuditActor.objects.filter(Q(user_id__in=numbers) | has_name(names)).exclude(name="")
    acted = AuditEvent.objects.filter(actor__in=list(actors.values_list("pk", flat=True)))
    AuditOrigin.objects.filter(event_id__in=acted.values("pk")).delete()
    renamed += actors.update(name="")
    for user in users:
        user.delete()
    return Forgotten(users=len(users), invitations=invitations, records=renamed)


def forget_log_entries(objects: QuerySet[Any]) -> None:
    """Remove the names of these objects from the admin's log."""
    entries = LogEntry.objects.filter(content_type=ContentType.objects.get_for_model(objects.model))
    keys = [str(key) for key in objects.values_list("pk", flat=True)]
    entries.filter(object_id__in=keys).update(object_repr=FORGOTTEN)


def _forget_in_log(names: Iterable[str]) -> int:
    """Remove names of users and members, also deleted ones, from the admin's log; return the row count."""
    count = 0
    for name in names:
        member = f"{name} "  # as in "ada in acct_0001: Owner"
        about = LogEntry.objects.filter(
            Q(content_type__model="membership", object_repr__istartswith=member)
            | Q(content_type__app_label="auth", object_repr__iexact=name)
        )
        count += about.update(object_repr=FORGOTTEN)
        row = f'"object": {json.dumps(member)[:-1]}'  # the role follows; for a change on an account's page
        rows = LogEntry.objects.filter(content_type__app_label="portal", change_message__icontains=row)
        count += rows.update(change_message="")
    return count


def _forget_in_service(names: set[str]) -> int:
    """Remove names of people who issued secrets and tokens, such as at sign-up; return the number of rows."""
    from dashboard_api.models import ReportToken, Secret

    issued = (Secret.objects.all(), ReportToken.objects.all())
    return sum(rows.filter(has_name(names, "created_by")).update(created_by=FORGOTTEN) for rows in issued)


def _forget_in_answers(references: Collection[str]) -> int:
    """Remove the portal's references of people from answers and messages; return the number of rows.

    Other accounts choose their references themselves, so an equal one names somebody else.
    """
    from dashboard_api.models import Answer, Case, Message, SiteLink
    from portal.models import Account

    own = Q(account__ref__in=list(Account.objects.values_list("ref", flat=True)))
    count = 0
    for rows, field, instead in (
        (Answer.objects.filter(own), "by", FORGOTTEN),
        (Answer.objects.filter(own), "second_by", FORGOTTEN),
        (Answer.objects.filter(own), "assignee", ""),
        (Case.objects.filter(own), "by", FORGOTTEN),
        (Message.objects.filter(own), "by", FORGOTTEN),
    ):
        found = rows.filter(**{f"{field}__in": references})
        places = found.values("account", "website").distinct().order_by()
        for place in list(places):
            SiteLink.objects.filter(**place).update(answers_version=F("answers_version") + 1)
        count += found.update(**{field: instead})
    return count


def has_name(names: Iterable[str], field: str = "name") -> Q:
    """Return the condition that ``field`` is one of these names, in any case."""
    condition = Q(pk__in=[])
    for name in names:
        condition |= Q(**{f"{field}__iexact": name})
    return condition


def _forget_in_portal(names: set[str]) -> tuple[int, int]:
    """Delete invitations, and remove names from the records of the portal; return both row counts."""
    from portal.models import Badge, Invitation, MembershipChange, ShareLink

    invitations, _models = Invitation.objects.filter(has_name(names, "email")).delete()
    count = 0
    for field in ("person", "by"):
        count += MembershipChange.objects.filter(has_name(names, field)).update(**{field: FORGOTTEN})
    for rows in (ShareLink.objects.all(), Badge.objects.all()):
        count += rows.filter(has_name(names, "created_by")).update(created_by=FORGOTTEN)
    return invitations, count
