"""Creation, use and end of share links and badges."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max
from django.utils import timezone, translation

from audit.recording import record as audit
from portal.answers import service
from portal.models import Account, Badge, ShareLink, ShareOpening, Website
from portal.models.sharing import MAX_TITLE_LENGTH, hash_of_token, new_token
from signed_api.answering import AnswerRequest
from signed_api.answers import FIXED
from signed_api.errors import CallError

MAX_LIVE_SHARE_LINKS = 200  # of one account
KEPT_AFTER_END = timedelta(days=30)
SAID_ONCE_IN = timedelta(hours=1)  # "I fixed it", by any link to the finding


class TooManyShareLinks(Exception):
    """The account has reached its limit of working share links."""


class NoLongerShared(Exception):
    """The token of a share link or badge is unknown, expired or revoked, or the website's link id changed."""


class SaidRecently(Exception):
    """Someone said "I fixed it" of the finding within the last hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The subject of a share link: one finding, or the list of findings under ``filters``."""

    title: str
    finding_id: str = ""
    filters: str = ""
    includes_evidence: bool = False
    allows_fixed: bool = False


@transaction.atomic
def create(website: Website, subject: Subject, *, by: User, days: int) -> tuple[ShareLink, str]:
    """Create a share link; return it with its token, which is not stored.

    Raises TooManyShareLinks, and DoesNotExist if the website was just removed.
    """
    now = timezone.now()
    account = Account.objects.select_for_update().get(pk=website.account_id)  # so the count below is exact
    Website.objects.select_for_update().get(pk=website.pk)  # so that it is not removed meanwhile
    if ShareLink.objects.of_account(account).live(at=now).count() >= MAX_LIVE_SHARE_LINKS:
        raise TooManyShareLinks
    token = new_token()
    share_link = ShareLink.objects.create(
        website=website,
        link_id=website.link_id,
        finding_id=subject.finding_id,
        filters=subject.filters,
        title=subject.title[:MAX_TITLE_LENGTH],
        includes_evidence=subject.includes_evidence,
        allows_fixed=subject.allows_fixed,
        token_hash=hash_of_token(token),
        created_by=by.get_username(),
        creator=by,
        created_at=now,
        expires_at=now + timedelta(days=days),
    )
    audit("share_link.created", share_link, by=by, after={"days": days})
    return share_link, token


def find(token: str) -> ShareLink:
    """Return the working share link with this token; raises NoLongerShared."""
    share_links = ShareLink.objects.with_token(token).live(at=timezone.now())
    share_link = share_links.select_related("website__account").first()
    if share_link is None or share_link.link_id != share_link.website.link_id:
        raise NoLongerShared
    return share_link


def find_allowing_fixed(token: str) -> ShareLink:
    """Return the working share link whose readers may say "I fixed it"; raises NoLongerShared."""
    share_link = find(token)
    if not share_link.allows_fixed:
        raise NoLongerShared
    return share_link


def record_opening(share_link: ShareLink) -> None:
    """Record that the page of the share link was opened."""
    ShareOpening.record(share_link.pk, at=timezone.now())


def fixed_again_at(share_link: ShareLink, *, now: datetime) -> datetime | None:
    """Return when "I fixed it" may be said again of the finding; None: now."""
    links = ShareLink.objects.filter(website=share_link.website_id, finding_id=share_link.finding_id)
    last = links.aggregate(last=Max("said_fixed_at"))["last"]
    return last + SAID_ONCE_IN if last and last + SAID_ONCE_IN > now else None


def say_fixed(share_link: ShareLink, *, name: str) -> None:
    """Answer for the account that the finding is fixed, as a reader of the share link said.

    Raises SaidRecently, NoLongerShared and CallError: AlreadyAnswered if there is an open answer.
    """
    _reserve(share_link)
    request = AnswerRequest(act=FIXED, finding_ids=share_link.finding_id, name=name, only_unanswered=True)
    try:
        service.answer(share_link.website, request)
    except CallError:
        ShareLink.objects.filter(pk=share_link.pk).update(said_fixed_at=None)
        raise
    audit("share_link.said_fixed", share_link)


@transaction.atomic
def _reserve(share_link: ShareLink) -> None:
    """Note that "I fixed it" is said now; raises SaidRecently, and NoLongerShared if the link has ended."""
    now = timezone.now()
    Website.objects.select_for_update().filter(pk=share_link.website_id).first()  # one reader at a time
    if fixed_again_at(share_link, now=now):
        raise SaidRecently
    live = ShareLink.objects.live(at=now).filter(pk=share_link.pk, allows_fixed=True)
    if not live.update(said_fixed_at=now):
        raise NoLongerShared


@transaction.atomic
def revoke(share_link: ShareLink) -> bool:
    """End the share link now; return False if it had ended already."""
    now = timezone.now()
    still_live = ShareLink.objects.live(at=now).filter(pk=share_link.pk)
    is_revoked = bool(still_live.update(revoked_at=now))
    if is_revoked:
        audit("share_link.revoked", share_link)  # by the person who is signed in, a member or an operator
    return is_revoked


def delete_ended(*, now: datetime) -> int:
    """Delete the share links that ended more than 30 days ago, and return their number."""
    count, _ = ShareLink.objects.ended(at=now - KEPT_AFTER_END).delete()
    return count


@transaction.atomic
def switch_badge_on(website: Website, *, by: User) -> Badge:
    """Give the website a badge in the language of the page; an existing badge gets a new address.

    Raises DoesNotExist if the website was just removed.
    """
    Website.objects.select_for_update().get(pk=website.pk)  # so that it is not removed meanwhile
    fields = {
        "link_id": website.link_id,
        "token": new_token(),
        "language": translation.get_language() or "en",
        "created_by": by.get_username(),
        "created_at": timezone.now(),
    }
    badge, _ = Badge.objects.update_or_create(website=website, defaults=fields)
    audit("badge.switched_on", website, by=by)
    return badge


@transaction.atomic
def switch_badge_off(website: Website) -> None:
    """End the website's badge; its address no longer works."""
    Badge.objects.filter(website=website).delete()
    audit("badge.switched_off", website)


def find_badge(token: str) -> Badge:
    """Return the badge with this token; raises NoLongerShared."""
    badge = Badge.objects.select_related("website__account").filter(token=token).first()
    if badge is None or badge.link_id != badge.website.link_id:
        raise NoLongerShared
    return badge
