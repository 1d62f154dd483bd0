"""The portal's part of a new customer: its account with a secret, its website, and the invitation."""

from config.onboarding.values import Customer, Onboarded
from config.operations.portal_secrets import give_secret, problem
from portal.models import Account, Website
from portal.team.operators import invite


def add(customer: Customer, result: Onboarded, *, by: str, origin: str) -> None:
    """Create what is missing in the portal, and add it to ``result``; raises ValidationError."""
    account = _account(customer, result, by)
    if result.link is not None:
        website = account.websites.filter(host=customer.host).first()
        if website is None or website.link_id != result.link.link_id:
            website = website or Website(account=account, host=customer.host)
            website.link_id = result.link.link_id
            website.full_clean()
            website.save()
            result.created.append("portal website")
    if not customer.owner:
        return
    invited = invite(account, customer.owner, "owner", by=by, origin=origin)
    if invited is not None:
        result.is_invited, result.invitation_link = True, invited.link
        if invited.is_new:
            result.created.append("invitation")


def _account(customer: Customer, result: Onboarded, by: str) -> Account:
    account = Account.objects.filter(ref=customer.ref).first()
    is_new = account is None
    if account is None:
        account = Account(ref=customer.ref, name=customer.name)
        account.full_clean(exclude={"sealed_secret"})
        result.created.append("portal access")
    elif not problem(account):
        return account
    if give_secret(account, result.account, by=by) and not is_new:
        result.created.append("the portal's secret")
    return account
