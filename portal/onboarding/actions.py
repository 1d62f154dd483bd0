"""Changes to the portal's list of websites that follow from claims; each is recorded."""

from django.db import transaction

from audit.recording import record as audit
from portal.gateway import WebsiteClaim
from portal.models import Account, Website

LINKED = ("verified", "failing")  # the states of a claim whose website is linked


def settle(account: Account, claim: WebsiteClaim) -> Website | None:
    """Store the website of a linked claim; return it if the portal did not have this link.

    Claims are also verified by the service alone, so this is done wherever the portal reads them.
    """
    if claim.state not in LINKED or claim.link_id is None:
        return None
    if Website.objects.filter(account=account, host=claim.host, link_id=claim.link_id).exists():
        return None
    with transaction.atomic():
        website, _is_new = Website.objects.update_or_create(
            account=account, host=claim.host, defaults={"link_id": claim.link_id}
        )
        audit("website.added", website)
    return website


@transaction.atomic
def remove_unlinked(account: Account, claim: WebsiteClaim, *, reason: str) -> bool:
    """Record a withdrawal, and remove the website if its link ended; return whether it was removed."""
    audit("website.claim_withdrawn", account, host=claim.host, reason=reason)
    if claim.link_id is not None:
        return False
    return bool(Website.objects.filter(account=account, host=claim.host).delete()[0])
