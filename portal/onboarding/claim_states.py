"""States of claims that need an action, stored for the list of websites whenever claims are read."""

from collections.abc import Iterable, Sequence
from contextlib import suppress

from django.db import transaction
from django.db.models import Q

from portal.answers import service
from portal.models import Account, ClaimState, Website, WebsiteSummary
from signed_api.claims import WebsiteClaim
from signed_api.errors import CallError

_REVOKED = "revoked_link"  # a refusal of the service
_MAX_CONFIRMED = 20  # ended links to confirm in one reading, because a page may wait for it


def delete_others(account: Account, claims: Iterable[WebsiteClaim]) -> None:
    """Delete the states of websites without a claim; ``claims`` are all claims of the account."""
    hosts = [claim.host for claim in claims]
    ClaimState.objects.filter(website__account=account).exclude(website__host__in=hosts).delete()


def note_ended_links(account: Account, claims: Sequence[WebsiteClaim]) -> list[Website]:
    """Mark links as ended if no claim has them; ``claims`` are all claims of the account.

    Return the websites without a claim that can be removed: they have no share links and no badge, which
    would be lost if an operator ended the claim by mistake.

    The audit log shows decisions about a website only until its link ended, so the end must be stored. Each
    end is confirmed with the service: a claim that ends while ``claims`` are read moves others to a page that
    was read already, and a website may be newer than ``claims``.
    """
    if len(claims) >= service.MAX_CLAIMS:  # there may be more
        return []
    websites = Website.objects.filter(account=account).select_related("account").in_bulk()
    claimed_links, claimed_hosts = {claim.link_id for claim in claims}, {claim.host for claim in claims}
    ended = {pk for pk, website in websites.items() if website.link_id not in claimed_links}
    marked_summaries = WebsiteSummary.objects.filter(website_id__in=websites, refusal=_REVOKED)
    marked = set(marked_summaries.values_list("website_id", flat=True))
    linked_again = marked - ended
    if linked_again:
        WebsiteSummary.objects.filter(website_id__in=linked_again).delete()
    removable = []
    is_shared = Q(share_links__isnull=False) | Q(badge__isnull=False)
    shared = set(Website.objects.filter(is_shared, account=account).values_list("pk", flat=True))
    confirmed = {pk for pk in marked if pk in shared or websites[pk].host in claimed_hosts}
    with suppress(CallError):  # the next reading asks again
        for website in [websites[pk] for pk in sorted(ended - confirmed)[:_MAX_CONFIRMED]]:
            claim = service.get_claim_to(account, website.host)
            if claim is None and website.pk not in shared:
                removable.append(website)
            elif claim is None or claim.link_id != website.link_id:
                WebsiteSummary.objects.store(website, refusal=_REVOKED)
    return removable


def store(account: Account, claim: WebsiteClaim) -> None:
    """Store the state of a claim if its proof needs an action; else delete the stored state."""
    website = Website.objects.filter(account=account, host=claim.host).first()
    if website is None:
        return
    if not needs_action(claim):
        ClaimState.objects.filter(website=website).delete()
        return
    values = {
        "claim_id": int(claim.claim_id),
        "state": claim.ended_reason or claim.state,
        "lapses_at": claim.lapses_at,
    }
    if ClaimState.objects.filter(website=website, **values).exists():
        return
    with transaction.atomic():
        if Website.objects.select_for_update().filter(pk=website.pk).exists():  # not removed meanwhile
            ClaimState.objects.update_or_create(website=website, defaults=values)


def needs_action(claim: WebsiteClaim) -> bool:
    """Return whether the state of the claim needs an action."""
    return claim.state == "failing" or claim.ended_reason in ("lapsed", "taken_over")
