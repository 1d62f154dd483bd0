"""Share links and badges for people without an account, and the issue tracker of an account."""

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import ClassVar, Self

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import models
from django.db.models.signals import post_delete
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from portal.models.accounts import Account, Website
from portal.models.members import Membership
from portal.texts import issue_trackers

TOKEN_BYTES = 32
MAX_TITLE_LENGTH = 300
OPENING_PRECISION = timedelta(minutes=1)  # at most one write for a share link in this time


def new_token() -> str:
    """Return a random token of 256 bits for use in a URL."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def hash_of_token(token: str) -> str:
    """Return the hash to store for a token: a stolen database then opens no page."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


class ShareLinkQuerySet(models.QuerySet["ShareLink"]):
    """Queries for share links."""

    def manageable_by(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """Return the share links of every account that ``user`` owns or manages."""
        own_accounts = Membership.objects.of_user(user).managing().values("account")
        return self.filter(website__account__in=own_accounts)

    def of_account(self, account: Account) -> Self:
        """Return the share links about the account's websites."""
        return self.filter(website__account=account)

    def live(self, *, at: datetime) -> Self:
        """Return the share links that are neither revoked nor expired at ``at``."""
        return self.filter(revoked_at=None, expires_at__gt=at)

    def ended(self, *, at: datetime) -> Self:
        """Return the share links that are revoked or expired at ``at``."""
        return self.filter(models.Q(revoked_at__lte=at) | models.Q(expires_at__lte=at))

    def with_token(self, token: str) -> Self:
        """Return the share link with this token."""
        return self.filter(token_hash=hash_of_token(token))


class ShareLink(models.Model):
    """A read-only page about one finding, or about a list of findings, for anyone who has its address."""

    website = models.ForeignKey(Website, on_delete=models.CASCADE, related_name="share_links")
    link_id = models.CharField(
        max_length=100,
        help_text=_("The website's link when this was shared; nothing is shown if the link has changed."),
    )
    finding_id = models.CharField(max_length=128, blank=True, help_text=_("Empty for a list."))
    filters = models.TextField(blank=True, help_text=_("The filters of a list, as a query string."))
    title = models.CharField(max_length=MAX_TITLE_LENGTH)
    includes_evidence = models.BooleanField(default=False)
    allows_fixed = models.BooleanField(
        default=False, db_default=False, help_text=_("Its readers may say that the finding is fixed.")
    )
    said_fixed_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text=_("When a reader last said that it is fixed.")
    )
    token_hash = models.CharField(max_length=64, unique=True, editable=False)
    created_by = models.CharField(max_length=150, help_text=_("The user name at the time."))
    creator = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        db_constraint=False,  # so that older code can delete users
        related_name="+",
        editable=False,
    )
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = ShareLinkQuerySet.as_manager()

    class Meta:
        verbose_name = _("share link")
        verbose_name_plural = _("share links")
        ordering: ClassVar = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.website}: {self.title}"

    def is_live(self, *, at: datetime) -> bool:
        """Return whether the share link is neither revoked nor expired at ``at``."""
        return self.revoked_at is None and self.expires_at > at


class ShareOpening(models.Model):
    """The time at which a share link was last opened.

    On SQLite this table is in the database of short-lived data, so that no page waits for an import; hence
    no foreign key.
    """

    share_link_id = models.BigIntegerField(primary_key=True)
    last_opened_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["share_link_id"]

    def __str__(self) -> str:
        return f"share link {self.share_link_id} at {self.last_opened_at}"

    @classmethod
    def record(cls, share_link_id: int, *, at: datetime) -> None:
        """Store the time, unless an opening was stored in the last minute."""
        recent = cls.objects.filter(pk=share_link_id, last_opened_at__gt=at - OPENING_PRECISION)
        if not recent.exists():
            cls.objects.update_or_create(pk=share_link_id, defaults={"last_opened_at": at})


class Badge(models.Model):
    """A picture with the grade of a website, for anyone who has its address.

    The token is stored unhashed: it opens only a grade, and members copy it repeatedly.
    """

    website = models.OneToOneField(Website, on_delete=models.CASCADE, primary_key=True, related_name="badge")
    link_id = models.CharField(
        max_length=100,
        help_text=_("The website's link at the time; there is no badge if the link has changed."),
    )
    token = models.CharField(max_length=64, unique=True, editable=False)
    language = models.CharField(max_length=10)
    created_by = models.CharField(max_length=150, help_text=_("The user name at the time."))
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["website"]

    def __str__(self) -> str:
        return str(self.website)


class IssueTracker(models.Model):
    """The issue tracker in which an account's members create issues about findings."""

    account = models.OneToOneField(
        Account, on_delete=models.CASCADE, primary_key=True, related_name="issue_tracker"
    )
    kind = models.CharField(max_length=10, choices=list(issue_trackers.NAMES.items()))
    url = models.URLField(max_length=issue_trackers.MAX_ADDRESS_LENGTH)

    class Meta:
        ordering: ClassVar = ["account"]

    def __str__(self) -> str:
        return f"{self.account}: {self.url}"


@receiver(post_delete, sender=ShareLink)
def _delete_opening(instance: ShareLink, **_: object) -> None:
    ShareOpening.objects.filter(pk=instance.pk).delete()
