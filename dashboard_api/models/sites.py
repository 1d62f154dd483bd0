"""Websites and their links to accounts."""

import uuid
from datetime import datetime
from typing import ClassVar, Self

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from dashboard_api.models.accounts import Account, AlreadyRevoked
from foundation.hosts import MAX_HOST_LENGTH, InvalidHost, normalise_host


class Website(models.Model):
    """A website with its findings. Several accounts can link the same website."""

    class Method(models.TextChoices):
        """The method by which ownership was verified."""

        DNS = "dns", "DNS record"
        FILE = "file", "file on the website"
        META = "meta", "meta tag"
        MANUAL = "manual", "by hand"

    host = models.CharField(max_length=MAX_HOST_LENGTH, unique=True)
    verified_at = models.DateTimeField(null=True, blank=True)
    verified_by = models.CharField(max_length=150, blank=True)
    verification_method = models.CharField(max_length=10, choices=Method, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering: ClassVar = ["host"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="dashboard_api_website_verification_is_whole",
                condition=Q(verified_at__isnull=True, verified_by="", verification_method="")
                | (Q(verified_at__isnull=False) & ~Q(verified_by="") & ~Q(verification_method="")),
            ),
        ]

    def __str__(self) -> str:
        return self.host

    def clean(self) -> None:
        """Normalise the host; raise ValidationError without a host or a verifier."""
        if self.host:
            try:
                self.host = normalise_host(self.host)
            except InvalidHost as error:
                raise ValidationError({"host": f"The host {error}."}) from error
        if self.verified_at is not None and not self.verified_by:
            raise ValidationError({"verified_by": "Say who verified the website."})

    def verify(self, *, method: str, by: str, at: datetime) -> None:
        """Record that ownership is verified; raises ValidationError without a name."""
        self.verification_method, self.verified_by, self.verified_at = method, by.strip(), at
        self.full_clean(exclude=["host"])
        self.save(update_fields=["verification_method", "verified_by", "verified_at"])


class NotVerified(ValidationError):
    """The website's ownership has not been verified."""


class AlreadyLinked(ValidationError):
    """The account already has an active link to the website."""


class SitesLimitReached(ValidationError):
    """The entitlement of the account allows no further website."""


class NotRevoked(ValidationError):
    """The link is active, so it cannot be restored."""


class SiteLinkQuerySet(models.QuerySet["SiteLink"]):
    """Queries and actions on links."""

    def not_revoked(self) -> Self:
        """Return links that are not revoked."""
        return self.filter(revoked_at__isnull=True)

    @transaction.atomic
    def link(self, account: Account, website: Website, *, by: str) -> "SiteLink":
        """Link a verified website to ``account``; raises what ``check_linkable`` raises."""
        self.check_linkable(account, website)
        link = self.create(account=account, website=website, link_id=str(uuid.uuid4()))
        link.record(LinkEvent.Action.LINKED, by=by)
        return link

    def check_linkable(self, account: Account, website: Website) -> None:
        """Raise NotVerified, AlreadyLinked or SitesLimitReached.

        To be called in a transaction: the account is locked, so the answer holds until its end.
        """
        account = Account.objects.select_for_update().get(pk=account.pk)
        if website.verified_at is None:
            raise NotVerified(f"{website} is not verified yet: verify its ownership first (verify_site).")
        existing = self.filter(account=account, website=website).first()
        if existing is not None:
            raise AlreadyLinked(
                f"{website} is already linked to {account} by {existing.link_id}"
                + (": restore that link instead." if existing.revoked_at else ".")
            )
        self.check_sites_limit(account)

    def check_sites_limit(self, account: Account) -> None:
        """Raise SitesLimitReached if the account uses all websites of its entitlement."""
        entitlement = getattr(account, "entitlement", None)
        used = self.filter(account=account).not_revoked().count()
        if entitlement is not None and used >= entitlement.sites_limit:
            raise SitesLimitReached(
                f"{account} uses all {entitlement.sites_limit} websites of its entitlement: "
                "raise its limit of websites, or revoke another link first."
            )


class SiteLink(models.Model):
    """A link between a website and an account. Each signed call carries its ``link_id``."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="links")
    website = models.ForeignKey(Website, on_delete=models.CASCADE, related_name="links")
    link_id = models.CharField(max_length=36, unique=True, editable=False)  # a UUID in lower case
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = SiteLinkQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["account", "website"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["account", "website"], name="dashboard_api_sitelink_once_per_account"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.website} for {self.account}"

    @transaction.atomic
    def revoke(self, *, by: str, reason: str, now: datetime) -> None:
        """Revoke the link: its calls are refused. Raises AlreadyRevoked."""
        self._lock()
        if self.revoked_at is not None:
            raise AlreadyRevoked(
                f"Nothing to do: {self.link_id} is revoked since {self.revoked_at:%Y-%m-%d}."
            )
        self.record(LinkEvent.Action.REVOKED, by=by, reason=reason, at=now)
        self.revoked_at = now
        self.save(update_fields=["revoked_at"])

    @transaction.atomic
    def restore(self, *, by: str, reason: str, now: datetime) -> None:
        """Restore a revoked link; raises NotRevoked or SitesLimitReached."""
        account = self._lock()
        if self.revoked_at is None:
            raise NotRevoked(f"Nothing to do: {self.link_id} is not revoked.")
        SiteLink.objects.check_sites_limit(account)
        self.record(LinkEvent.Action.RESTORED, by=by, reason=reason, at=now)
        self.revoked_at = None
        self.save(update_fields=["revoked_at"])

    def record(
        self, action: "LinkEvent.Action", *, by: str, reason: str = "", at: datetime | None = None
    ) -> None:
        """Record an event of the link with its actor and reason; raises ValidationError."""
        event = LinkEvent(
            link=self, action=action, by=by.strip(), reason=reason.strip(), at=at or timezone.now()
        )
        event.full_clean()
        event.save()

    def _lock(self) -> Account:
        """Lock the account until the end of the transaction, and reload this link."""
        account = Account.objects.select_for_update().get(pk=self.account_id)
        self.refresh_from_db(fields=["revoked_at"])
        return account


class LinkEvent(models.Model):
    """An event of a link: who linked, revoked or restored it, when and why."""

    class Action(models.TextChoices):
        """Kinds of event."""

        LINKED = "linked"
        REVOKED = "revoked"
        RESTORED = "restored"

    link = models.ForeignKey(SiteLink, on_delete=models.CASCADE, related_name="events")
    action = models.CharField(max_length=10, choices=Action)
    by = models.CharField(max_length=150)
    reason = models.CharField(max_length=500, blank=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["-at", "-id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="dashboard_api_linkevent_says_why",
                condition=Q(action="linked") | ~Q(reason=""),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.action} by {self.by}"

    def clean(self) -> None:
        """Require a reason to revoke or restore a link."""
        if self.action != self.Action.LINKED and not self.reason:
            raise ValidationError({"reason": "Say why."})
