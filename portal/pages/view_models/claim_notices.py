"""Notices about missing or lost proofs of ownership, for the list of websites and their pages."""

from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from foundation.addresses.hosts import readable_host
from portal.models import ClaimState, Membership
from portal.texts import labels

MAX_NOTICES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimNotice:
    """A sentence about the proof of one website, with the URL of its claim."""

    text: str
    url: str
    is_urgent: bool


def claim_notices(user: AbstractBaseUser | AnonymousUser, host: str = "") -> list[ClaimNotice]:
    """Return at most 5 notices about the websites that the person manages, or about ``host`` only."""
    accounts = Membership.objects.of_user(user).managing().values("account")
    claims = ClaimState.objects.filter(website__account__in=accounts).select_related("website")
    claims = claims.filter(website__host=host) if host else claims
    return [_notice(claim) for claim in claims.order_by("lapses_at", "website__host")[:MAX_NOTICES]]


def _notice(claim: ClaimState) -> ClaimNotice:
    host, ends_at = claim.website.host, claim.lapses_at
    is_urgent = claim.state != "failing" or (
        ends_at is not None and ends_at - timezone.now() < timedelta(days=7)
    )
    if claim.state == "taken_over":
        text = _("%(host)s: another organization verified this website and owns it now.")
    elif claim.state == "lapsed":
        text = _("%(host)s: the proof was missing for 14 days, so the website was removed.")
    elif ends_at:
        text = _("%(host)s: the proof is missing. Publish it again, or the website is removed on %(date)s.")
    else:
        text = _("%(host)s: the proof is missing. Publish it again.")
    date = labels.day(ends_at) if ends_at else ""
    url = reverse("portal:claim", args=[claim.website.account_id, claim.claim_id])
    return ClaimNotice(text=text % {"host": readable_host(host), "date": date}, url=url, is_urgent=is_urgent)
