"""Delete an account for good, after showing what will be deleted."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from audit.recording import Subject, record
from config.operations.forgetting.asking import ask_for
from config.operations.forgetting.people import forget_people
from foundation.operations.operator_command import AuditOptions, OperatorCommand, Result

_MAX_SHOWN = 20  # of each kind, by name


class Command(OperatorCommand):
    """manage.py forget_account acct_0001 --reason "They asked" --by Robin."""

    help = (
        "Delete an account for good: secrets, links, answers, messages, calls on record, portal access, "
        "members and share links; the websites that no other account ever linked, with their findings; and "
        "the people who are in no other account. Audit events stay, without the names of these people. "
        "Everything that other accounts share is kept. Backups and logs are not changed. It shows what it "
        "will delete, and asks for the reference unless --yes is given. If service and portal are separate, "
        "run it in both."
    )
    audit_options = AuditOptions(requires_by=True, requires_reason=True)
    in_one_transaction = False  # nothing is locked while the operator reads

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ref", metavar="REF", help="the account's reference")
        parser.add_argument("--yes", action="store_true", help="delete without asking")

    def perform(self, *, ref: str, reason: str, by: str, yes: bool, **options: Any) -> Result:
        """Show what will be deleted, ask, and delete it in one transaction."""
        if not (reason.strip() and by.strip()):
            raise CommandError("Say who deletes the account, and why.")
        if ref == settings.PORTAL_ACCOUNT_REF:
            raise CommandError("Take PORTAL_ACCOUNT_REF and SITE_API_SECRET out of the settings first.")
        parts = _parts(ref)
        if not parts:
            return Result(text=f"There is no account {ref}.", json_output={"changed": False, "account": ref})
        self.stderr.write("\n".join([f"This deletes {ref} for good:", *_lines(parts)]), style_func=str)
        if not yes:
            ask_for(ref, name="the reference")
        for part in parts:
            part.announce()
        with transaction.atomic():
            parts = _parts(ref)  # others may have changed it while the operator read
            counts = {name: number for part in parts for name, number in part.counts().items()}
            names = {name for part in parts for name in part.delete()}
            forget_people([user for part in parts for user in getattr(part, "people", ())], names)
            record("account.forgotten", Subject("account", ref), account=ref, by=by, after=counts)
        done = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in counts.items() if number)
        return Result(
            text=f"{ref} is deleted ({done}). Backups contain it until they are deleted.",
            json_output={"changed": True, "account": ref, **counts},
        )


def _parts(ref: str) -> list[Any]:
    """Return the parts of the account in this deployment: the service's, the portal's, both or neither."""
    parts: list[Any] = []
    if settings.ENABLE_API:
        from config.operations.forgetting.service_part import ServicePart
        from dashboard_api.models import Account

        parts += map(ServicePart, Account.objects.filter(ref=ref))
    if settings.ENABLE_PORTAL:
        from config.operations.forgetting.portal_part import PortalPart
        from portal.models import Account as PortalAccount

        parts += map(PortalPart, PortalAccount.objects.filter(ref=ref))
    return parts


def _lines(parts: list[Any]) -> list[str]:
    lines = []
    for part in parts:
        lines += [f"  {name.replace('_', ' ')}: {number}" for name, number in part.counts().items()]
        # Websites are of the service's part only, people of the portal's.
        for what, objects in (
            ("websites that only it has", getattr(part, "own", ())),
            ("people who are in no other account", getattr(part, "people", ())),
            ("kept, because others have it, too", getattr(part, "shared", ())),
            ("kept, because they are staff or in another account", getattr(part, "kept", ())),
        ):
            names = [str(each) for each in objects[: _MAX_SHOWN + 1]]
            more = [" and more"] if len(names) > _MAX_SHOWN else []
            if names:
                lines.append(f"  {what}: {', '.join(names[:_MAX_SHOWN])}{''.join(more)}")
    return lines
