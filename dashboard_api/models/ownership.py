"""Claims: an account's proof that a website is its own."""

import base64
import secrets
from datetime import datetime, timedelta
from typing import ClassVar, Self

from django.db import models
from django.db.models import Exists, OuterRef, Q, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from audit.recording import record as audit
from dashboard_api import limits
from dashboard_api.models.accounts import Account
from foundation.addresses.hosts import MAX_HOST_LENGTH

TOKEN_PREFIX = "tdv1-"  # noqa: S105 - public by nature
_TOKEN_BYTES = 20
_HOUR = timedelta(hours=1)
SCANNED_WITHOUT_PROOF = timedelta(days=3)  # so long after the first miss, the website is still scanned
LATEST_CHECK = timedelta(days=8)  # from now; the calendar plans at most a week ahead


def new_token() -> str:
    """Return a random token: the prefix and 32 characters of base32 in lower case."""
    return TOKEN_PREFIX + base64.b32encode(secrets.token_bytes(_TOKEN_BYTES)).decode().lower()


class OwnershipClaimQuerySet(models.QuerySet["OwnershipClaim"]):
    """Queries and actions on claims."""

    def open(self) -> Self:
        """Return claims that have not ended."""
        return self.filter(ended_at=None)

    def listed(self, ended_after: datetime) -> Self:
        """Return open claims, and claims ended after a time unless withdrawn or followed by a newer one."""
        later = OwnershipClaim.objects.filter(account=OuterRef("account"), host=OuterRef("host"))
        ended = Q(ended_at__gt=ended_after) & ~Q(ended_reason=OwnershipClaim.EndedReason.WITHDRAWN)
        return self.filter(Q(ended_at=None) | (ended & ~Exists(later.filter(pk__gt=OuterRef("pk")))))

    def due(self, now: datetime) -> Self:
        """Return claims that are due for a check: accounts take turns, each with its oldest claim first.

        So slow websites of one account do not delay other accounts. A check later than LATEST_CHECK is due,
        because it was planned while the clock was ahead.
        """
        is_due = Q(next_check_at__lte=now) | Q(next_check_at__gt=now + LATEST_CHECK)
        oldest = ("next_check_at", "pk")
        turn = Window(RowNumber(), partition_by="account", order_by=oldest)
        return self.open().filter(is_due).annotate(turn=turn).order_by("turn", *oldest)

    def lock_all(self, host: str) -> list["OwnershipClaim"]:
        """Lock all claims to ``host`` until the end of the transaction, and return them with their accounts.

        Code that also locks the website locks the claims first.
        """
        locked = self.filter(host=host).select_for_update(of=("self",)).order_by("pk")
        return list(locked.select_related("account"))

    def current(self, now: datetime) -> Self:
        """Return proven claims, unless the proof is missing for days: only their websites are scanned."""
        lost = Q(state=OwnershipClaim.State.FAILING, missed_at__lte=now - SCANNED_WITHOUT_PROOF)
        return self.open().filter(state__in=OwnershipClaim.HOLDING).exclude(lost)

    def proven_by_dns(self) -> Self:
        """Return claims proven by a DNS record, as deep scans require."""
        return self.filter(strength=OwnershipClaim.Strength.DNS)

    def confirm_by_hand(self, account: Account, host: str, *, by: str, now: datetime) -> "OwnershipClaim":
        """Verify the account's claim on the word of an operator, and create it if needed; return it.

        A claim that is already proven is unchanged.
        """
        claim = self.open().filter(account=account, host=host).first()
        if claim is None:
            claim = OwnershipClaim(account=account, host=host, token=new_token(), by=by, created_at=now)
        if claim.state not in OwnershipClaim.HOLDING:
            claim.method, claim.strength = OwnershipClaim.Method.MANUAL, OwnershipClaim.Strength.MANUAL
            claim.next_check_at = None
            claim.mark_verified(by=by, now=now)
        return claim

    def withdraw_proofs(self, host: str, *, by: str, reason: str, now: datetime) -> None:
        """End all proven claims to ``host``."""
        for claim in self.open().filter(host=host, state__in=OwnershipClaim.HOLDING):
            claim.state, claim.ended_reason = OwnershipClaim.State.ENDED, OwnershipClaim.EndedReason.WITHDRAWN
            claim.reason, claim.ended_at, claim.next_check_at = reason, now, None
            claim.save()
            audit("ownership.withdrawn", claim, by=by, host=host, reason=reason)


class OwnershipClaim(models.Model):
    """A claim of an account to a website: a token to publish, and what the checks found.

    An account has at most one claim to a host that has not ended.
    """

    class State(models.TextChoices):
        PENDING = "pending", "waiting for the proof"
        CONTESTED = "contested", "contested"
        VERIFIED = "verified", "verified"
        FAILING = "failing", "proof missing"
        ENDED = "ended", "ended"

    class EndedReason(models.TextChoices):
        """The reason why a claim has ended."""

        WITHDRAWN = "withdrawn", "withdrawn"
        EXPIRED = "expired", "expired"  # no proof for 30 days
        REFUSED = "refused", "refused"  # by staff
        LAPSED = "lapsed", "lapsed"  # the proof was missing for 14 days
        TAKEN_OVER = "taken_over", "taken over"  # by an account that has proven the website

    class Method(models.TextChoices):
        DNS = "dns", "DNS record"
        FILE = "file", "file on the website"
        META = "meta", "meta tag"
        MANUAL = "manual", "by hand"

    class Strength(models.TextChoices):
        """The weight of a proof, the strongest first."""

        DNS = "dns", "DNS"
        HTTPS = "https", "https"
        HTTP = "http", "http"
        MANUAL = "manual", "by hand"

    class LinkProblem(models.TextChoices):
        """The reason why a verified website is not linked."""

        NO_ROOM = "no_room", "no room in the plan"
        ARCHIVED = "archived", "archived"
        OTHER = "other", "another reason"

    HOLDING: ClassVar = (State.VERIFIED, State.FAILING)  # proven: the account may be linked

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="ownership_claims")
    host = models.CharField(max_length=MAX_HOST_LENGTH)
    token = models.CharField(max_length=50, unique=True, editable=False)
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    method = models.CharField(max_length=10, choices=Method, blank=True)
    strength = models.CharField(max_length=10, choices=Strength, blank=True)
    by = models.CharField(max_length=150)
    reason = models.CharField(max_length=500, blank=True)  # of the end, or of staff's decision
    link_problem = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    verified_at = models.DateTimeField(null=True)
    contested_at = models.DateTimeField(null=True)
    misses = models.PositiveSmallIntegerField(default=0)
    missed_at = models.DateTimeField(null=True)  # the first miss
    unasked_at = models.DateTimeField(null=True)  # the first check that could not ask
    checks = models.JSONField(default=list)  # the last check of each method, as responses have it
    checked_at = models.DateTimeField(null=True)
    found_at = models.DateTimeField(null=True)  # the last check that found the token; NULL after a miss
    asked_at = models.DateTimeField(null=True)  # start of the last check by hand
    asked_since = models.DateTimeField(null=True)  # start of the hour that asked_count is about
    asked_count = models.PositiveSmallIntegerField(default=0, db_default=0)  # checks by hand in this hour
    next_check_at = models.DateTimeField(null=True, default=timezone.now)
    ended_at = models.DateTimeField(null=True)
    ended_reason = models.CharField(max_length=10, choices=EndedReason, blank=True)

    objects = OwnershipClaimQuerySet.as_manager()

    class Meta:
        verbose_name = "claim"
        verbose_name_plural = "claims"
        ordering: ClassVar = ["account", "host", "-created_at"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["account", "host"],
                condition=Q(ended_at__isnull=True),
                name="dashboard_api_ownershipclaim_one_open",
            ),
            models.CheckConstraint(
                name="dashboard_api_ownershipclaim_end_is_whole",
                condition=Q(
                    ended_at__isnull=True,
                    ended_reason="",
                    state__in=["pending", "contested", "verified", "failing"],
                )
                | Q(~Q(ended_reason=""), ended_at__isnull=False, state="ended"),
            ),
            models.CheckConstraint(
                name="dashboard_api_ownershipclaim_verified_has_method",
                condition=~Q(state__in=["verified", "failing"])
                | (~Q(method="") & Q(verified_at__isnull=False)),
            ),
            models.CheckConstraint(
                name="dashboard_api_ownershipclaim_contested_has_time",
                condition=~Q(state="contested") | Q(contested_at__isnull=False),
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["next_check_at"],
                condition=Q(ended_at__isnull=True),
                name="dashboard_api_claim_due",
            ),
            models.Index(fields=["host"], name="dashboard_api_claim_host"),
        ]

    def __str__(self) -> str:
        return f"{self.host} of {self.account}"

    @property
    def check_allowed_at(self) -> datetime | None:
        """The earliest time of the next check by hand; None before the first one."""
        if self.asked_at is None:
            return None
        pause_ends = self.asked_at + limits.CHECK_PAUSE
        if self.asked_since is None or self.asked_count < limits.CHECKS_AN_HOUR:
            return pause_ends
        return max(pause_ends, self.asked_since + _HOUR)

    def has_lapsed_since(self, at: datetime) -> bool:
        """Return whether the claim ended after ``at`` because its proof was missing."""
        is_lapsed = self.ended_reason == self.EndedReason.LAPSED
        return is_lapsed and self.ended_at is not None and self.ended_at > at

    def is_missed_at(self, at: datetime) -> bool:
        """Return whether a check at this time or later missed the token.

        A check that could not ask does not count. A claim confirmed by staff has no token to miss.
        """
        is_missed = self.found_at is None and self.unasked_at is None and self.method != self.Method.MANUAL
        return is_missed and self.checked_at is not None and self.checked_at >= at

    def count_check(self, now: datetime) -> None:
        """Store that a check by hand begins."""
        if self.asked_since is None or now >= self.asked_since + _HOUR:
            self.asked_since, self.asked_count = now, 0
        self.asked_at = now
        self.asked_count += 1
        self.save(update_fields=["asked_at", "asked_since", "asked_count"])

    def mark_verified(self, *, now: datetime, by: str | None = None) -> None:
        """Store the claim as verified by its method, without misses; ``by`` names an operator."""
        self.state, self.verified_at = self.State.VERIFIED, now
        self.misses, self.missed_at, self.unasked_at = 0, None, None
        self.save()
        audit("ownership.verified", self, by=by, host=self.host, after={"method": self.method})
