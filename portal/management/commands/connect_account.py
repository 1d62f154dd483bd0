"""Connect an account of the service: its reference, and its sealed secret."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.views.decorators.debug import sensitive_variables

from foundation.operator_command import OperatorCommand, Result, read_secret
from foundation.sealing import CannotUnseal
from portal.models import Account
from portal.models.accounts import check_secret


class Command(OperatorCommand):
    """manage.py connect_account acct_0001 < secret.txt."""

    help = (
        "Connect an account of the service, or change the secret of a connected one. The secret is read from "
        "standard input (16 characters or more) and stored sealed; it is never shown. For the account of "
        "PORTAL_ACCOUNT_REF nothing is read: SITE_API_SECRET signs its calls."
    )
    commits_itself = True

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the account; the secret is not an argument, because other users can see arguments."""
        parser.add_argument("ref", metavar="REF", help="the portal_account_ref from the service")
        parser.add_argument("--name", help="the name of its owner, which members see")

    @sensitive_variables("secret")
    def perform(self, *, ref: str, name: str | None, **options: Any) -> Result:
        """Store the account with its secret, or nothing; the transaction begins after the input."""
        needs_secret = not Account(ref=ref).is_from_environment
        secret = read_secret() if needs_secret else ""
        if needs_secret and not secret:
            raise CommandError(
                "Give the secret on standard input, such as: manage.py connect_account REF < FILE"
            )
        with transaction.atomic():
            account = Account.objects.select_for_update().filter(ref=ref).first() or Account(ref=ref)
            is_new = account.pk is None
            changed = is_new or _differs(account, name, secret)
            if name is not None:
                account.name = name
            if needs_secret:
                account.set_secret(secret)
            account.full_clean(exclude={"sealed_secret"})
            account.save()
        source = "its secret is sealed" if needs_secret else "SITE_API_SECRET signs its calls"
        done = "Connected" if is_new else "Updated" if changed else "Nothing to do for"
        text = f"{done} the account {ref}: {source}."
        if is_new:
            text += f"\nNext: manage.py add_website {ref} HOST LINK_ID"
        fields = {"changed": changed, "account": ref, "name": account.name, "created": is_new}
        problems = [problem for _, problem in check_secret.send(Account, account=account) if problem]
        if problems:
            text, fields = "\n".join([text, *problems]), fields | {"warning": problems[0]}
        return Result(text=text, fields=fields)


@sensitive_variables("secret")
def _differs(account: Account, name: str | None, secret: str) -> bool:
    """Return whether the name or the secret of an existing account would change."""
    try:
        stored = account.reveal_secret()
    except CannotUnseal:
        return True
    return (name is not None and name != account.name) or (bool(secret) and secret != stored)
