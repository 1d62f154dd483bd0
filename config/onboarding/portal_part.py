"""The portal's part of a new customer: its account with the secret, its website, and the invitation."""

from django.views.decorators.debug import sensitive_variables

from config.onboarding.customer import Customer, Onboarded
from dashboard_api.models import Secret
from portal.models import Account, Website
from portal.team.operators import invite


@sensitive_variables()
def add(customer: Customer, secret: Secret, result: Onboarded, *, by: str, origin: str) -> None:
    """Create what the portal lacks, and add it to ``result``; raises ValidationError."""
    account = _account(customer, secret, result)
    website = account.websites.filter(host=customer.host).first()
    if website is None or website.link_id != result.link.link_id:
        website = website or Website(account=account, host=customer.host)
        website.link_id = result.link.link_id
        website.full_clean()
        website.save()
        result.created.append("portal website")
    invited = invite(account, customer.owner, "owner", by=by, origin=origin)
    if invited is not None:
        result.is_invited, result.invitation_link = True, invited.link
        if invited.is_new:
            result.created.append("invitation")


@sensitive_variables()
def _account(customer: Customer, secret: Secret, result: Onboarded) -> Account:
    account = Account.objects.filter(ref=customer.ref).first()
    if account is None:
        account = Account(ref=customer.ref, name=customer.name)
        if not account.is_from_environment:
            account.set_secret(secret.reveal())
        account.full_clean(exclude={"sealed_secret"})
        account.save()
        result.created.append("portal access")
    return account
