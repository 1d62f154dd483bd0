"""Forget a person: delete the user, and every name and address of them on record."""

from typing import Any

from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.core.management.base import CommandError, CommandParser
from django.db.models import Q

from audit.models import AuditActor, AuditEvent, AuditOrigin
from config.models import Session
from foundation.operator_command import OperatorCommand, Result

FORGOTTEN = "-"


class Command(OperatorCommand):
    """manage.py forget_person ada@example.com."""

    help = (
        "Delete the user with this e-mail address or user name, their sessions, memberships and invitations, "
        "and their name and addresses in the audit. The audit events stay, without a name, and so do their "
        "seals. Decisions and notes keep their author, and texts the names that someone wrote into them."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("person", metavar="EMAIL", help="the e-mail address, or the user name")

    def perform(self, *, person: str, **options: Any) -> Result:
        """Delete and rename in one transaction; raise CommandError for the last owner of an account."""
        users = list(User.objects.filter(Q(email__iexact=person) | Q(username__iexact=person)))
        names = {person, *(user.username for user in users), *(user.email for user in users)} - {""}
        numbers = [user.pk for user in users]
        changed = _forget_in_portal(users, names) if settings.ENABLE_PORTAL else 0
        Session.objects.filter(user_id__in=numbers).delete()
        of_users = ContentType.objects.get_for_model(User)
        objects = [str(number) for number in numbers]
        LogEntry.objects.filter(content_type=of_users, object_id__in=objects).update(object_repr=FORGOTTEN)
        actors = AuditActor.objects.filter(Q(user_id__in=numbers) | _named(names)).exclude(name="")
        acted = AuditEvent.objects.filter(actor__in=list(actors.values_list("pk", flat=True)))
        AuditOrigin.objects.filter(event_id__in=acted.values("pk")).delete()
        changed += actors.update(name="") + len(users)
        for user in users:
            user.delete()
        text = f"Forgotten: {len(users)} users." if changed else "There is no such person on record."
        return Result(text=text, fields={"changed": bool(changed), "users": len(users)})


def _forget_in_portal(users: list[User], names: set[str]) -> int:
    """Delete invitations, and the names of the person in records of members, share links and badges."""
    from portal.models import Badge, Invitation, Membership, MembershipChange, ShareLink
    from portal.team.actions import is_last_owner

    for membership in Membership.objects.filter(user__in=users).select_related("account"):
        if is_last_owner(membership):
            raise CommandError(
                f"The person is the last owner of {membership.account.ref}: make another member an owner "
                "first, or delete the account in the admin."
            )
    invitations, _models = Invitation.objects.filter(_named(names, "email")).delete()
    changes = MembershipChange.objects
    count = invitations
    count += changes.filter(_named(names, "person")).update(person=FORGOTTEN)
    count += changes.filter(_named(names, "by")).update(by=FORGOTTEN)
    for model in (ShareLink, Badge):
        count += model.objects.filter(_named(names, "created_by")).update(created_by=FORGOTTEN)
    return count


def _named(names: set[str], field: str = "name") -> Q:
    """Return the condition that ``field`` is one of these names, in capitals or not."""
    condition = Q()
    for name in names:
        condition |= Q(**{f"{field}__iexact": name})
    return condition
