"""Connect an account of the service: its reference, its sealed secret, and its first owner."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.views.decorators.debug import sensitive_variables

from foundation.operations.operator_command import AuditOptions, OperatorCommand, Result, read_secret
from foundation.sealing import CannotUnseal
from portal.models import Account
from portal.models.accounts import check_secret
from portal.team import operators

LOCAL_ORIGIN = "http://localhost:8000"  # PORTAL_BASE_URL is required everywhere else


class Command(OperatorCommand):
    """manage.py connect_account acct_0001 < secret.txt."""

    help = (
        "Connect an account of the service, or change the secret of a connected one. The secret is read from "
        "standard input (16 characters or more) and stored sealed; it is never shown. For the account of "
        "PORTAL_ACCOUNT_REF nothing is read: SITE_API_SECRET signs its calls. --owner invites an owner; "
        "for a connected account, this works without the secret."
    )
    audit_options = AuditOptions(by_help="who invites; in the e-mail", default_by="Our team")
    in_one_transaction = False

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options; the secret is not one, because other users can see arguments."""
        parser.add_argument("ref", metavar="REF", help="the portal_account_ref from the service")
        parser.add_argument("--name", help="the name of its owner, which members see")
        parser.add_argument(
            "--owner",
            metavar="EMAIL",
            help="who is invited as an owner; without a mail server, the link is printed",
        )

    @sensitive_variables("secret")
    def perform(self, *, ref: str, name: str | None, owner: str | None, by: str, **options: Any) -> Result:
        """Store the account with its secret in one transaction, which begins after the input was read."""
        needs_secret = not Account(ref=ref).is_from_environment
        secret = read_secret() if needs_secret else ""
        is_known = Account.objects.filter(ref=ref).exists()
        if needs_secret and not secret and not (owner and is_known):
            raise CommandError(
                "Give the secret on standard input, such as: manage.py connect_account REF < FILE"
            )
        with transaction.atomic():
            account = Account.objects.select_for_update().filter(ref=ref).first() or Account(ref=ref)
            is_new = account.pk is None
            changed = is_new or _differs(account, name, secret)
            if name is not None:
                account.name = name
            if secret:
                account.set_secret(secret)
            account.full_clean(exclude={"sealed_secret"})
            account.save()
            invited = operators.invite(account, owner, "owner", by=by, origin=LOCAL_ORIGIN) if owner else None
        source = "its secret is sealed" if needs_secret else "SITE_API_SECRET signs its calls"
        done = "Connected" if is_new else "Updated" if changed else "Nothing to do for"
        text = f"{done} the account {ref}: {source}."
        if is_new:
            text += "\nNext: add its websites, with their link ids, in the admin."
        changed = changed or bool(invited and invited.is_new)
        json_output: dict[str, Any] = {
            "changed": changed,
            "account": ref,
            "name": account.name,
            "created": is_new,
        }
        if invited:
            json_output["invitation_link"] = invited.link or None
            text += f"\nInvited as an owner: {invited.invitation.email}."
            text += f"\nPass this link on, which works once: {invited.link}" if invited.link else ""
        answers = check_secret.send(Account, account=account)
        problems = [problem for _receiver, problem in answers if problem]
        if problems:
            text, json_output = "\n".join([text, *problems]), json_output | {"warning": problems[0]}
        return Result(text=text, json_output=json_output)


@sensitive_variables("secret")
def _differs(account: Account, name: str | None, secret: str) -> bool:
    """Return whether the name or the secret of an existing account would change."""
    try:
        stored = account.reveal_secret()
    except CannotUnseal:
        return True
    return (name is not None and name != account.name) or (bool(secret) and secret != stored)
