"""Create everything that a new customer needs, in one transaction; a repetition has no effect."""

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from audit.recording import record
from config.onboarding.values import Customer, Onboarded
from dashboard_api.billing import entitlements
from dashboard_api.models import Account, Entitlement, OwnershipClaim, Secret, SiteLink, Website

OUR_TEAM = "Our team"  # the inviting person, unless an operator is named


def onboard(customer: Customer, *, by: str, origin: str) -> Onboarded:
    """Create what the customer lacks in one transaction; raises ValidationError.

    The invitation's link begins with ``origin`` unless PORTAL_BASE_URL is set.
    """
    try:
        return _onboard(customer, by=by, origin=origin)
    except IntegrityError:  # another call created the customer at the same time
        return _onboard(customer, by=by, origin=origin)


@sensitive_variables()
@transaction.atomic
def _onboard(customer: Customer, *, by: str, origin: str) -> Onboarded:
    created: list[str] = []  # what is missing and created here; the functions below add to it
    if customer.host:
        OwnershipClaim.objects.lock_all(customer.host)  # before the account, in the order of claim checks
    account = _account(customer, created)
    entitlement = _entitlement(account, customer, by, created)
    link = _link(account, customer, by, created) if customer.host else None
    result = Onboarded(account=account, entitlement=entitlement, link=link, created=created)
    own_secrets = account.secrets.filter(is_test=False, for_portal=False)
    if not own_secrets.usable(timezone.now()).exists():
        _, result.secret = Secret.objects.issue(account, by=by)
        created.append("secret")
        if not account.secrets.filter(is_test=True).exists():
            _, result.test_secret = Secret.objects.issue(account, by=by, is_test=True)
            created.append("test secret")
    if settings.ENABLE_PORTAL:
        from config.onboarding import portal_part  # the portal may be another deployment

        portal_part.add(customer, result, by=by, origin=origin)
    if created:
        record(
            "customer.onboarded", account, by=by, host=customer.host, after={"created": ", ".join(created)}
        )
    return result


def _account(customer: Customer, created: list[str]) -> Account:
    account = Account.objects.select_for_update().filter(ref=customer.ref).first()
    if account is None:
        account = Account(ref=customer.ref, name=customer.name)
        account.full_clean(validate_unique=False)  # if it exists by now, onboard() tries again
        account.save()
        created.append("account")
    if customer.name and account.name != customer.name:
        text = "%(account)s exists already, without a name."
        if account.name:
            text = "%(account)s exists already, with the name %(name)s."
        raise ValidationError(text % {"account": account, "name": account.name})
    return account


def _entitlement(account: Account, customer: Customer, by: str, created: list[str]) -> Entitlement:
    entitlement = Entitlement.objects.filter(account=account).first()
    if entitlement is None:
        entitlement = entitlements.change(account, customer.plan, by=by)
        created.append("plan")
    for name, value in customer.plan.items():
        if getattr(entitlement, name) != value:
            raise ValidationError(
                f"{account} already has a plan whose {name} is {getattr(entitlement, name)}: "
                "change it with "
                "'manage.py set_entitlement' or in the admin."
            )
    return entitlement


def _retire_website_of_others(account: Account, host: str) -> None:
    """Retire the website of former holders, so that the customer begins without their findings."""
    website = Website.objects.filter(host=host, archived_at=None).first()
    if website is None or website.links.filter(account=account).exists():
        return
    if website.former_holders(account):
        website.retire(now=timezone.now())


def _link(account: Account, customer: Customer, by: str, created: list[str]) -> SiteLink:
    _retire_website_of_others(account, customer.host)
    website, is_new = Website.objects.get_or_create(host=customer.host)
    if website.verified_at is None:
        website.verify(method=customer.method, by=by, at=timezone.now())
    if is_new:
        created.append("website")
    link = SiteLink.objects.filter(account=account, website=website).first()
    if link is None:
        link = SiteLink.objects.link(account, website, by=by)
        if not customer.shared:
            website.check_not_of_others(account)  # after linking, so that two accounts at once see each other
        created.append("link")
    if link.revoked_at is not None:
        raise ValidationError(
            f"The link of {account} to {website} was revoked: restore it in the admin first."
        )
    return link
