"""Creation, use and end of share links."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from portal.models import Account, ShareLink, ShareOpening, Website
from portal.models.sharing import MAX_TITLE_LENGTH, hash_of_token, new_token

MAX_LIVE_LINKS = 200  # of one account
KEPT_AFTER_END = timedelta(days=30)


class TooManyLinks(Exception):
    """The account has as many working share links as it may have."""


class LinkEnded(Exception):
    """No share link with this token works: unknown, expired, revoked, or the website has another link."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The subject of a share link: one finding, or the list of findings under ``filters``."""

    title: str
    finding_id: str = ""
    filters: str = ""
    includes_evidence: bool = False


@transaction.atomic
def create(website: Website, subject: Subject, *, by: User, days: int) -> tuple[ShareLink, str]:
    """Create a share link, and return it with its token, which is not stored; raises TooManyLinks."""
    now = timezone.now()
    account = Account.objects.select_for_update().get(pk=website.account_id)  # one at a time counts
    if ShareLink.objects.of_account(account).live(at=now).count() >= MAX_LIVE_LINKS:
        raise TooManyLinks
    token = new_token()
    share_link = ShareLink.objects.create(
        website=website,
        link_id=website.link_id,
        finding_id=subject.finding_id,
        filters=subject.filters,
        title=subject.title[:MAX_TITLE_LENGTH],
        includes_evidence=subject.includes_evidence,
        token_hash=hash_of_token(token),
        created_by=by.get_username(),
        created_at=now,
        expires_at=now + timedelta(days=days),
    )
    return share_link, token


def find(token: str) -> ShareLink:
    """Return the working share link with this token; raises LinkEnded."""
    links = ShareLink.objects.with_token(token).live(at=timezone.now())
    share_link = links.select_related("website__account").first()
    if share_link is None or share_link.link_id != share_link.website.link_id:
        raise LinkEnded
    return share_link


def record_opening(share_link: ShareLink) -> None:
    """Record a visit of the page."""
    ShareOpening.record(share_link.pk, at=timezone.now())


def revoke(share_link: ShareLink) -> bool:
    """End the link now; return False if it had ended already."""
    now = timezone.now()
    links = ShareLink.objects.live(at=now).filter(pk=share_link.pk)
    return bool(links.update(revoked_at=now))


def delete_ended(*, now: datetime) -> int:
    """Delete the share links that ended 30 days ago, and return their number."""
    count, _ = ShareLink.objects.ended(at=now - KEPT_AFTER_END).delete()
    return count
