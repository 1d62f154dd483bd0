"""Websites and their links to accounts."""

import uuid
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from typing import ClassVar, Self

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from audit.recording import record as audit
from dashboard_api.models.accounts import Account, AlreadyRevoked, Publicity
from dashboard_api.models.ownership import OwnershipClaim
from foundation.addresses.domains import is_public_suffix, registrable_domain
from foundation.addresses.hosts import MAX_HOST_LENGTH, InvalidHost, typed_host

_RETIRED_BY = "ownership check"  # the actor on record
_RETIRED = "Another owner has proven the website, and no account held it."
_LINKED_BY_HAND = "It was linked for another owner by hand, and no account held it."


class Archived(ValidationError):
    """The website is in the archive."""


class AlreadyArchived(ValidationError):
    """The website is in the archive already."""


class NotArchived(ValidationError):
    """The website is not in the archive, so it cannot be taken out of it."""


class NotVerified(ValidationError):
    """The website's ownership has not been verified."""


class NoWebsite(ValidationError):
    """The host belongs to no single owner, such as a public suffix."""


def check_has_one_owner(host: str) -> None:
    """Raise NoWebsite for a public suffix, and for a name that is not on the internet."""
    if settings.ALLOW_PRIVATE_HOSTS or registrable_domain(host):
        return
    text = "%(host)s is not a name on the internet, so its ownership cannot be proven."
    if is_public_suffix(host):
        text = (
            "Anyone can register a name below %(host)s, so it belongs to no customer: "
            "enter a website such as shop.%(host)s."
        )
    raise NoWebsite({"host": text % {"host": host}})


class WebsiteOfOthers(ValidationError):
    """Other accounts have the website, and sharing it was not confirmed."""


class InUse(ValidationError):
    """The website has findings or an active link, so it cannot be deleted."""


def _retired_prefix(host: str) -> str:
    """Return how the host of a retired website begins: with its original host and a space."""
    return f"{host[:200]} ("  # no other host has spaces


def original_host(host: str) -> str:
    """Return the original host of a website; retired websites have a suffix after it."""
    return host.partition(" ")[0]


class Website(models.Model):
    """A website with its findings. Several accounts can link the same website.

    An archived website keeps its findings, but accounts cannot link it, and reports about it are refused.
    """

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
    archived_at = models.DateTimeField(null=True, blank=True)
    archived_by = models.CharField(max_length=150, blank=True)
    archive_reason = models.CharField(max_length=500, blank=True)
    retired_at = models.DateTimeField(null=True, editable=False)  # when a new owner took the host

    class Meta:
        verbose_name = "website"
        verbose_name_plural = "websites"
        ordering: ClassVar = ["host"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="dashboard_api_website_archive_is_whole",
                condition=Q(archived_at__isnull=True, archived_by="", archive_reason="")
                | (Q(archived_at__isnull=False) & ~Q(archived_by="") & ~Q(archive_reason="")),
            ),
            models.CheckConstraint(
                name="dashboard_api_website_verification_is_whole",
                condition=Q(verified_at__isnull=True, verified_by="", verification_method="")
                | (Q(verified_at__isnull=False) & ~Q(verified_by="") & ~Q(verification_method="")),
            ),
        ]

    def __str__(self) -> str:
        return self.host

    def clean(self) -> None:
        """Normalise the host; raise ValidationError where a name or a reason is missing."""
        if self.host:
            try:
                self.host = typed_host(self.host)
            except InvalidHost as error:
                raise ValidationError({"host": f"The host {error}."}) from error
            if self._state.adding:  # not stored yet
                check_has_one_owner(self.host)
        if self.verified_at is not None and not self.verified_by:
            raise ValidationError({"verified_by": "Say who verified the website."})
        if self.archived_at is not None and not (self.archived_by and self.archive_reason):
            raise ValidationError("Say who archives the website, and why.")

    def verify(self, *, method: str, by: str, at: datetime) -> None:
        """Record that ownership is verified; raises Archived, NoWebsite or ValidationError."""
        self.check_not_archived()
        check_has_one_owner(self.host)
        self.verification_method, self.verified_by, self.verified_at = method, by.strip(), at
        self.full_clean(exclude=["host"])
        with transaction.atomic():
            self.save(update_fields=["verification_method", "verified_by", "verified_at"])
            audit("website.verified", self, by=by, after={"method": method})

    @transaction.atomic
    def unverify(self, *, by: str, reason: str, now: datetime) -> int:
        """Withdraw the verification with its claims, and revoke the active links; return their number.

        Raises NotVerified.
        """
        OwnershipClaim.objects.lock_all(self.host)
        self._lock()
        self.check_verified()
        if self.retired_at is not None:  # a new owner may have taken over meanwhile
            raise ValidationError(f"{self} belongs to former owners for good.")
        if not (by.strip() and reason.strip()):
            raise ValidationError("Say who withdraws the verification, and why.")
        event = LinkEvent(action=LinkEvent.Action.REVOKED, by=by.strip(), reason=reason.strip())
        event.clean_fields(exclude={"link"})  # claims store the same texts without a check
        before = {"method": self.verification_method, "at": self.verified_at}
        self.verification_method, self.verified_by, self.verified_at = "", "", None
        self.save(update_fields=["verification_method", "verified_by", "verified_at"])
        audit("website.unverified", self, by=by, before=before, reason=reason)
        OwnershipClaim.objects.withdraw_proofs(self.host, by=by, reason=reason, now=now)
        return self._revoke_links(by=by, reason=reason, now=now)

    def check_verified(self) -> None:
        """Raise NotVerified, with what to do."""
        if self.verified_at is None:
            raise NotVerified(f"{self} is not verified yet: verify its ownership in the admin first.")

    def check_not_archived(self) -> None:
        """Raise Archived, with what to do."""
        if self.archived_at is not None:
            raise Archived(
                f"{self} was archived on {self.archived_at:%Y-%m-%d}: "
                "take it out of the archive in the admin first."
            )

    @transaction.atomic
    def archive(self, *, by: str, reason: str, now: datetime) -> int:
        """Archive the website and revoke its active links; return their number. Raises AlreadyArchived."""
        self._lock()
        if self.archived_at is not None:
            raise AlreadyArchived(f"{self} was already archived on {self.archived_at:%Y-%m-%d}.")
        self.archived_at, self.archived_by, self.archive_reason = now, by.strip(), reason.strip()
        self.full_clean(exclude=["host"])
        self._save_archive()
        audit("website.archived", self, by=by, reason=reason)
        return self._revoke_links(by=by, reason=reason, now=now)

    @transaction.atomic
    def retire(self, *, now: datetime, reason: str = _RETIRED) -> None:
        """Archive the website of former owners for good, and free its host for a new owner's website.

        Raises AlreadyArchived.
        """
        self.archive(by=_RETIRED_BY, reason=reason, now=now)
        former, self.retired_at = self.host, now
        self.host = f"{_retired_prefix(former)}{self.pk}, until {now:%Y-%m-%d})"
        self.save(update_fields=["host", "retired_at"])
        audit("website.retired", self, by=_RETIRED_BY, host=former)

    def former_holders(self, account: Account) -> list[str]:
        """Return the references of other accounts that held the website last; empty if an account holds it.

        A link of ``account`` would show it the findings of these accounts.
        """
        links = self.links.exclude(account=account)
        own = self.links.filter(account=account).first()
        if links.not_revoked().exists() or (own and not own.revoked_at):
            return []
        if own:
            links = links.filter(revoked_at__gt=own.revoked_at)
        return list(links.order_by("account__ref").values_list("account__ref", flat=True))

    def other_holders(self, account: Account) -> str:
        """Return the references and names of the other accounts that hold the website, or an empty text."""
        links = self.links.not_revoked().exclude(account=account).select_related("account")
        others = [link.account for link in links.order_by("account__ref")]
        return ", ".join(f"{each} ({each.name})" if each.name else str(each) for each in others)

    def check_not_of_others(self, account: Account) -> None:
        """Raise WebsiteOfOthers: a slip in the host would show the findings of one customer to another."""
        if others := self.other_holders(account):
            text = (
                "%(website)s is also linked to %(accounts)s: all of them would see the same findings. If "
                "that is right, tick “Shared website”, or add --shared."
            )
            raise WebsiteOfOthers(text % {"website": self, "accounts": others})

    @transaction.atomic
    def begin_again(self, *, by: str, now: datetime) -> "Website":
        """Retire the website; return an empty one with its host, verified for a new owner.

        Raises Archived or NotVerified.
        """
        OwnershipClaim.objects.lock_all(self.host)
        self.check_not_archived()
        self.check_verified()
        host = self.host
        self.retire(now=now, reason=_LINKED_BY_HAND)
        website = Website.objects.create(host=host)
        website.verify(method=self.verification_method, by=by, at=now)
        return website

    def retired_ones(self) -> models.QuerySet["Website"]:
        """Return the retired websites of former owners that had the host of this one."""
        return Website.objects.filter(host__startswith=_retired_prefix(self.host), retired_at__isnull=False)

    def _revoke_links(self, *, by: str, reason: str, now: datetime) -> int:
        """Revoke the active links, and return their number."""
        revoked = 0
        for link in self.links.not_revoked():
            with suppress(AlreadyRevoked):  # someone else revoked it at the same time
                link.revoke(by=by, reason=reason, now=now)
                revoked += 1
        return revoked

    @transaction.atomic
    def restore(self) -> None:
        """Take the website out of the archive, without its links. Raises NotArchived."""
        self._lock()
        if self.retired_at is not None:
            raise NotArchived(f"{self} belongs to former owners for good.")
        if self.archived_at is None:
            raise NotArchived(f"{self} is not archived.")
        self.archived_at, self.archived_by, self.archive_reason = None, "", ""
        self._save_archive()
        audit("website.restored", self)

    @transaction.atomic
    def delete_unused(self) -> None:
        """Delete a website without findings and active links; raises InUse."""
        self._lock()
        if self.findings.exists():
            raise InUse(f"{self} has findings, which would be lost: archive it instead.")
        link = self.links.not_revoked().select_related("account").first()
        if link is not None:
            raise InUse(f"{self} is linked to {link.account}: revoke this link ({link.link_id}) first.")
        audit("website.deleted", self)
        Website.objects.filter(pk=self.pk).delete()

    @staticmethod
    def wait_for_imports(websites: Iterable[int]) -> None:
        """Lock the websites with these ids until the end of the transaction, as their imports do.

        Otherwise an import could overwrite a decision or apply one that has ended, or both could deadlock.
        """
        locked = Website.objects.select_for_update(no_key=True).filter(pk__in=set(websites)).order_by("pk")
        list(locked)  # runs the statement

    def _lock(self) -> None:
        """Lock the website until the end of the transaction, and reload its host, archive and verification.

        Code that also locks an account locks the website first. ``no_key`` lets others add rows that refer to
        the website.
        """
        locked = Website.objects.select_for_update(no_key=True).get(pk=self.pk)
        self.archived_at, self.archived_by = locked.archived_at, locked.archived_by
        self.archive_reason, self.verification_method = locked.archive_reason, locked.verification_method
        self.verified_at, self.verified_by = locked.verified_at, locked.verified_by
        self.host, self.retired_at = locked.host, locked.retired_at

    def _save_archive(self) -> None:
        self.save(update_fields=["archived_at", "archived_by", "archive_reason"])


class AlreadyLinked(ValidationError):
    """The account already has an active link to the website."""


class SitesLimitReached(ValidationError):
    """The entitlement of the account allows no further website."""


class PlanInactive(ValidationError):
    """The entitlement of the account does not allow anything new today."""


class NotRevoked(ValidationError):
    """The link is active, so it cannot be restored."""


class SiteLinkQuerySet(models.QuerySet["SiteLink"]):
    """Queries and actions on links."""

    def not_revoked(self) -> Self:
        """Return links that are not revoked."""
        return self.filter(revoked_at__isnull=True)

    @transaction.atomic
    def link(self, account: Account, website: Website, *, by: str) -> "SiteLink":
        """Link a verified website to ``account``; raises what ``check_linkable`` raises.

        An account without a proof of its own gets a claim that is confirmed by hand.
        """
        self.check_linkable(account, website)
        link = self.create(account=account, website=website, link_id=str(uuid.uuid4()))
        link.record(LinkEvent.Action.LINKED, by=by)
        OwnershipClaim.objects.confirm_by_hand(account, website.host, by=by, now=timezone.now())
        return link

    def check_linkable(self, account: Account, website: Website) -> None:
        """Raise Archived, NotVerified, AlreadyLinked, PlanInactive or SitesLimitReached.

        Call it in a transaction: it locks claims, website and account, so the result holds until the end.
        """
        OwnershipClaim.objects.lock_all(website.host)
        website = Website.objects.select_for_update(no_key=True).get(pk=website.pk)
        website.check_not_archived()
        account = Account.objects.select_for_update().get(pk=account.pk)
        website.check_verified()
        existing = self.filter(account=account, website=website).first()
        if existing is not None:
            text = "%(website)s is already linked to %(account)s by %(link)s."
            if existing.revoked_at:
                text = "%(website)s is already linked to %(account)s by %(link)s: restore that link instead."
            raise AlreadyLinked(text % {"website": website, "account": account, "link": existing.link_id})
        self.check_may_grow(account)
        self.check_sites_limit(account)

    def check_may_grow(self, account: Account) -> None:
        """Raise PlanInactive while a payment is missing, and while the plan is not usable."""
        entitlement = getattr(account, "entitlement", None)
        today = timezone.now().date()
        if entitlement is not None and not entitlement.may_grow_on(today):
            label = entitlement.Status(entitlement.status_on(today)).label
            text = "The plan of %(account)s is %(status)s: no website can be added until it is active."
            raise PlanInactive(text % {"account": account, "status": label})

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
    paused_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="Calls are refused, because the plan includes fewer websites.",
    )
    # When the owner chose to keep it while the plan includes fewer websites than the account has.
    chosen_at = models.DateTimeField(null=True, blank=True, editable=False)
    publicity = models.CharField(
        "publicity",
        max_length=7,
        choices=Publicity,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="Applies only if it is stricter than the account's; empty: the same as the account's.",
    )
    # Empty: the country of the website's own suffix, else the world.
    region = models.CharField("region", max_length=3, blank=True, default="", db_default="", editable=False)
    # Grows with every change of the account's answers and messages about the website.
    answers_version = models.PositiveIntegerField(default=0, db_default=0, editable=False)

    objects = SiteLinkQuerySet.as_manager()

    class Meta:
        verbose_name = "link"
        verbose_name_plural = "links"
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
        """Revoke the link: its calls are refused, and its scans end. Raises AlreadyRevoked."""
        self._lock()
        if self.revoked_at is not None:
            raise AlreadyRevoked(
                f"Nothing to do: {self.link_id} has been revoked since {self.revoked_at:%Y-%m-%d}."
            )
        self.record(LinkEvent.Action.REVOKED, by=by, reason=reason, at=now)
        self.revoked_at = now
        self.save(update_fields=["revoked_at"])
        # The worker itself ends running scans: it may hold their rows, and wait for the website.
        for job in self.website.scan_jobs.filter(account=self.account_id, state="queued"):
            job.cancel(by=by, reason=reason)

    @transaction.atomic
    def restore(self, *, by: str, reason: str, now: datetime) -> None:
        """Restore a revoked link; raises Archived, NotVerified, NotRevoked or SitesLimitReached."""
        OwnershipClaim.objects.lock_all(self.website.host)
        website = Website.objects.select_for_update(no_key=True).get(pk=self.website_id)
        website.check_not_archived()
        account = self._lock()
        if self.revoked_at is None:
            raise NotRevoked(f"Nothing to do: {self.link_id} is not revoked.")
        website.check_verified()
        SiteLink.objects.check_sites_limit(account)
        self.record(LinkEvent.Action.RESTORED, by=by, reason=reason, at=now)
        OwnershipClaim.objects.confirm_by_hand(account, self.website.host, by=by, now=now)
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
        audit(f"link.{action}", self, by=by, reason=reason)

    def _lock(self) -> Account:
        """Lock the account until the end of the transaction, and reload this link."""
        account = Account.objects.select_for_update().get(pk=self.account_id)
        self.refresh_from_db(fields=["revoked_at"])
        return account


class LinkEvent(models.Model):
    """An event of a link: who linked, revoked or restored it, when and why."""

    class Action(models.TextChoices):
        """Kinds of event."""

        LINKED = "linked", "Linked"
        REVOKED = "revoked", "Revoked"
        RESTORED = "restored", "Restored"

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
        return f"{self.get_action_display()} by {self.by}"

    def clean(self) -> None:
        """Require a reason to revoke or restore a link."""
        if self.action != self.Action.LINKED and not self.reason:
            raise ValidationError({"reason": "Say why."})
