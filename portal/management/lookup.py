"""Find the account that an operator names."""

from django.core.management.base import CommandError

from portal.models import Account


def find_account(ref: str) -> Account:
    """Return the portal's account with this reference; raise CommandError."""
    account = Account.objects.filter(ref=ref).first()
    if account is None:
        raise CommandError(
            f"The portal does not know the account {ref}: first run 'manage.py connect_account {ref}'."
        )
    return account
