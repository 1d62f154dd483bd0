"""Changes to the portal's list of websites that follow from claims; each is recorded."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from audit.recording import Acting, acting
from audit.recording import record as audit
from portal.answers import service
from portal.models import Account, ClaimState, HelperLink, Website
from portal.models.helpers import HELPER_LINK_LIFETIME
from portal.onboarding import claim_states
from signed_api.claims import WebsiteClaim
from signed_api.errors import CallError

LINKED = ("verified", "failing")  # states of a claim in which the website is linked


def settle(account: Account, claim: WebsiteClaim) -> Website | None:
    """Store the state of a claim, and the website of a linked one; return the website if its link is new.

    The service verifies claims by itself as well, so call this wherever the portal reads a claim. If the
    claim has ended since it was read, its website is removed again.
    """
    website = _store_claim(account, claim)
    with suppress(CallError):  # the next reading of all claims asks again
        if website is not None and service.get_claim_to(account, website.host) is None:
            _remove(website)
            return None
    return website


def settle_all(account: Account, claims: Sequence[WebsiteClaim]) -> int:
    """Settle all claims of an account, and remove websites without a claim; return the number of new links.

    Skip claims that the portal has stored already: an account may have hundreds of websites.
    """
    claim_states.delete_others(account, claims)
    stored_links = set(Website.objects.filter(account=account).values_list("host", "link_id"))
    states = ClaimState.objects.filter(website__account=account)
    with_state = set(states.values_list("website__host", flat=True))
    with_state |= {claim.host for claim in claims if claim_states.needs_action(claim)}
    unstored = [
        claim
        for claim in claims
        if claim.host in with_state
        or (claim.state in LINKED and (claim.host, claim.link_id) not in stored_links)
    ]
    count = sum(_store_claim(account, claim) is not None for claim in unstored)
    with suppress(CallError):
        if count:  # a claim may have ended since it was read
            claims = service.get_claims(account)
    for website in claim_states.note_ended_links(account, claims):
        _remove(website)
    return count


@contextmanager
def without_person() -> Iterator[None]:
    """Record events without a person, for a page that only reads: the service verified the website."""
    with acting(Acting()):
        yield


def _store_claim(account: Account, claim: WebsiteClaim) -> Website | None:
    """Store the website and the state of a claim; return the website if its link is new."""
    website = _store_website(account, claim)
    claim_states.store(account, claim)
    return website


def _store_website(account: Account, claim: WebsiteClaim) -> Website | None:
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
def _remove(website: Website) -> None:
    if _delete(Website.objects.filter(pk=website.pk)):
        audit("website.removed", website)


def _delete(websites: QuerySet[Website]) -> bool:
    """Delete the website, in a transaction; return whether there was one.

    Locks it first, as creating a share link or a badge does: one made at the same moment is either deleted as
    well, or finds no website.
    """
    # Reading the row locks it, but not its account, which others lock before the website.
    list(websites.select_for_update(of=("self",)))
    row_count, _ = websites.delete()
    return row_count > 0


@transaction.atomic
def remove_unlinked(account: Account, claim: WebsiteClaim, *, reason: str) -> bool:
    """Record a withdrawal, and remove the website if its link ended; return whether it was removed."""
    audit("website.claim_withdrawn", account, host=claim.host, reason=reason)
    if claim.link_id is not None:
        return False
    return _delete(Website.objects.filter(account=account, host=claim.host))


def record_check(account: Account, claim: WebsiteClaim) -> None:
    """Record that a helper had the claim checked, and settle the claim."""
    audit("website.claim_checked", account, host=claim.host)
    settle(account, claim)


def helper_link(account: Account, claim_id: str) -> HelperLink | None:
    """Return the working helper's link of a claim, if there is one."""
    live = HelperLink.objects.live(at=timezone.now())
    return live.filter(account=account, claim_id=claim_id).first()


@transaction.atomic
def create_helper_link(account: Account, claim: WebsiteClaim) -> HelperLink:
    """Create the helper's link of a claim, or return the existing one."""
    Account.objects.select_for_update().get(pk=account.pk)  # the lock: two forms create one link
    existing = helper_link(account, claim.claim_id)
    if existing is not None:
        return existing
    now = timezone.now()
    link = HelperLink.objects.create(
        account=account,
        claim_id=claim.claim_id,
        host=claim.host,
        created_at=now,
        expires_at=now + HELPER_LINK_LIFETIME,
    )
    audit("helper_link.created", account, host=claim.host)
    return link


@transaction.atomic
def end_helper_link(account: Account, claim_id: str) -> None:
    """End the helper's link of a claim."""
    link = helper_link(account, claim_id)
    if link is not None:
        link.revoked_at = timezone.now()
        link.save(update_fields=["revoked_at"])
        audit("helper_link.revoked", account, host=link.host)
