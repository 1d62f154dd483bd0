"""Find the account, secret, link or website that an operator names."""

from django.core.management.base import CommandError

from dashboard_api.models import Account, Secret, SiteLink, Website
from foundation.operator_command import host_of


def find_account(ref: str) -> Account:
    """Return the account of this reference; raise CommandError."""
    account = Account.objects.filter(ref=ref).first()
    if account is None:
        raise CommandError(f"There is no account {ref}: first run 'manage.py create_account {ref}'.")
    return account


def find_secret(ref: str, number: int) -> Secret:
    """Return the account's secret of this number; raise CommandError."""
    account = find_account(ref)
    secret = account.secrets.filter(pk=number).first()
    if secret is None:
        secrets = ", ".join(f"{row.pk} ({row.hint}, {row.state})" for row in account.secrets.all())
        raise CommandError(f"{ref} has no secret {number}; it has: {secrets or 'none'}.")
    return secret


def find_link(link_id: str) -> SiteLink:
    """Return the link of this id; raise CommandError."""
    link = SiteLink.objects.select_related("account", "website").filter(link_id=link_id.lower()).first()
    if link is None:
        raise CommandError(f"There is no link {link_id}: copy its id from the admin's list of site links.")
    return link


def find_website(text: str) -> Website:
    """Return the website of this host; raise CommandError."""
    host = host_of(text)
    website = Website.objects.filter(host=host).first()
    if website is None:
        raise CommandError(f"There is no website {host}: first run 'manage.py verify_site {host} --by NAME'.")
    return website
