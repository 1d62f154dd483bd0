"""Find the account or website that an operator names."""

from django.core.management.base import CommandError

from dashboard_api.models import Account, Website
from foundation.operations.operator_command import host_of


def find_account(ref: str) -> Account:
    """Return the account with this reference; raises CommandError."""
    account = Account.objects.filter(ref=ref).first()
    if account is None:
        raise CommandError(
            f"There is no account {ref}: create it in the admin or by 'manage.py onboard {ref}'."
        )
    return account


def find_website(typed_host: str) -> Website:
    """Return the website with this host; raises CommandError."""
    host = host_of(typed_host)
    website = Website.objects.filter(host=host).first()
    if website is None:
        raise CommandError(
            f"There is no website {host}: add it in the admin or by 'manage.py onboard REF {host}'."
        )
    return website
