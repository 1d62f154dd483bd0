"""Portal accounts and the secrets that sign their calls."""

import secrets
import uuid
from datetime import datetime
from typing import ClassVar

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models, transaction
from django.db.models import F, Q
from django.dispatch import Signal
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from audit.recording import record as audit
from dashboard_api import limits
from dashboard_api.models.nonces import SecretUse
from foundation.sealing import CannotUnseal, seal, unseal
from signed_api.limits import MAX_ACCOUNT_REF_LENGTH

# Sent with ``secret``, retired or revoked in the open transaction. Receivers refuse it by ValidationError.
secret_ends = Signal()


class Publicity(models.TextChoices):
    """Permission to publish data about websites, the strictest first."""

    NOTHING = "nothing", "nothing"
    COUNTED = "counted", "counted in the statistics"
    SHOWN = "shown", "counted, and shown in the live feed with a masked domain"


class Account(models.Model):
    """A portal account, named by the reference that signed calls carry."""

    ref = models.CharField(
        "reference",
        max_length=MAX_ACCOUNT_REF_LENGTH,
        unique=True,
        validators=[RegexValidator(r"\A[!-~]+\Z", "Use printable ASCII characters without spaces.")],
        help_text="portal_account_ref in signed calls, such as acct_0001; it cannot change later.",
    )
    name = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    calls_per_second = models.PositiveSmallIntegerField(
        "calls per second",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(limits.MAX_CALLS_PER_SECOND)],
        help_text="Calls per second that the customer may make; empty: the same as everyone.",
    )
    calls_burst = models.PositiveSmallIntegerField(
        "calls at once",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(limits.MAX_CALLS_BURST)],
        help_text="Calls that may come at once before the rate applies; empty: the same as everyone.",
    )

    publicity = models.CharField(
        "publicity",
        max_length=7,
        choices=Publicity,
        default=Publicity.COUNTED,
        db_default=Publicity.COUNTED,
        help_text="What may be published about its websites; owners choose it in the portal.",
    )

    # Rules about answers; zero days: no rule
    critical_days = models.PositiveSmallIntegerField("days to fix Critical", default=0, db_default=0)
    high_days = models.PositiveSmallIntegerField("days to fix High", default=0, db_default=0)
    medium_days = models.PositiveSmallIntegerField("days to fix Medium", default=0, db_default=0)
    low_days = models.PositiveSmallIntegerField("days to fix Low", default=0, db_default=0)
    second_person = models.BooleanField(
        default=False,
        db_default=False,
        help_text="A second person must confirm accepted risks of Critical and High findings.",
    )
    time_zone = models.CharField(
        max_length=50, default="UTC", db_default="UTC", help_text="The zone of all days of its answers."
    )

    billing_ref = models.UUIDField("reference for payments", unique=True, default=uuid.uuid4, editable=False)

    class Meta:
        verbose_name = "customer"
        verbose_name_plural = "customers"
        ordering: ClassVar = ["ref"]

    def __str__(self) -> str:
        return self.ref


def sealed_for(account_id: int) -> str:
    """Return the context in which the secrets of an account are sealed."""
    return f"secret of account {account_id}"


class TooManySecrets(ValidationError):
    """The account already has as many usable secrets as it may."""


class DuplicateSecret(ValidationError):
    """The account has or had the same secret."""


class NotActive(ValidationError):
    """The secret is not active, so it cannot retire."""


class AlreadyRetiring(NotActive):
    """The secret is retiring already."""


class AlreadyRevoked(ValidationError):
    """The secret or link was revoked earlier."""


class SecretQuerySet(models.QuerySet["Secret"]):
    """Queries and actions on secrets."""

    def usable(self, now: datetime) -> "SecretQuerySet":
        """Return active secrets, and retiring ones before their ``retires_at``."""
        return self.filter(Q(state=Secret.State.ACTIVE) | Q(state=Secret.State.RETIRING, retires_at__gt=now))

    @sensitive_variables("secret", "clear")
    @transaction.atomic
    def issue(
        self,
        account: Account,
        *,
        by: str,
        secret: str | None = None,
        is_test: bool = False,
        for_portal: bool = False,
        portal_secret: int | None = None,
    ) -> tuple["Secret", str]:
        """Store a new secret, or ``secret``, which was made elsewhere; return it in clear, for the only time.

        Raises TooManySecrets if two secrets, or one test secret, are usable. Secrets for the portal have
        their own count, and the secret with the id ``portal_secret`` does not count. Raises ValidationError
        or DuplicateSecret for a bad ``secret``.
        """
        account = Account.objects.select_for_update().get(pk=account.pk)
        self._check_room(
            account, timezone.now(), is_test=is_test, for_portal=for_portal, without_id=portal_secret
        )
        if secret is None:
            prefix = limits.TEST_SECRET_PREFIX if is_test else limits.SECRET_PREFIX
            clear = prefix + secrets.token_urlsafe(limits.SECRET_RANDOM_BYTES)
            hint = clear[: len(prefix) + 4]
        else:
            self._check_brought_in(account, secret)
            clear, hint = secret, "brought in"
        row = Secret(
            account=account,
            hint=hint,
            sealed=seal(clear, sealed_for(account.pk)),
            created_by=by.strip(),
            is_test=is_test,
            for_portal=for_portal,
        )
        row.full_clean()
        row.save()
        audit("secret.issued", row, by=by)
        return row, clear

    def _check_room(
        self, account: Account, now: datetime, *, is_test: bool, for_portal: bool, without_id: int | None
    ) -> None:
        """Revoke secrets that retired before ``now``; raise TooManySecrets if too many remain usable."""
        retired = self.filter(account=account, state=Secret.State.RETIRING, retires_at__lte=now)
        retired.update(state=Secret.State.REVOKED, revoked_at=F("retires_at"))
        usable = self.filter(account=account, is_test=is_test, for_portal=for_portal).usable(now)
        usable = usable.exclude(pk=without_id) if without_id else usable
        if is_test and len(usable) >= limits.MAX_TEST_SECRETS:
            raise TooManySecrets(
                f"{account} already has a test secret ({usable[0].pk}: {usable[0].hint}). Revoke it first."
            )
        if len(usable) >= limits.MAX_USABLE_SECRETS:
            shown = ", ".join(f"{row.pk}: {row.hint}" for row in usable)
            raise TooManySecrets(
                f"{account} already has {len(usable)} usable secrets ({shown}). "
                "Revoke one of them first, or wait until a retiring one ends."
            )

    @sensitive_variables("secret")
    def _check_brought_in(self, account: Account, secret: str) -> None:
        """Check a secret that was made elsewhere; raises ValidationError for its form.

        Raises DuplicateSecret if the account has or had it: a revoked secret must not return.
        """
        if (
            not limits.MIN_SECRET_LENGTH <= len(secret) <= limits.MAX_SECRET_LENGTH
            or not secret.isprintable()
            or secret != secret.strip()
        ):
            raise ValidationError(
                f"A secret has {limits.MIN_SECRET_LENGTH} to {limits.MAX_SECRET_LENGTH} printable "
                "characters, and no space at either end."
            )
        for row in self.filter(account=account):
            if row.holds(secret):
                raise DuplicateSecret(
                    f"{account} has had this secret before ({row.get_state_display().lower()}): bring "
                    "in another."
                )


class Secret(models.Model):
    """A site API secret: shown once when issued, sealed at rest, at most two usable per account.

    Calls signed with a test secret get an example website; an account has at most one.
    """

    class State(models.TextChoices):
        """From issue to revocation; a retiring secret works until ``retires_at``."""

        ACTIVE = "active", "Active"
        RETIRING = "retiring", "Retiring"
        REVOKED = "revoked", "Revoked"

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="secrets")
    hint = models.CharField(
        max_length=32, editable=False, help_text="The first characters, to tell secrets apart."
    )
    sealed = models.TextField(editable=False)
    is_test = models.BooleanField(
        "test",
        default=False,
        db_default=False,
        editable=False,
        help_text="Calls signed with it get the example website and are not counted.",
    )
    state = models.CharField(max_length=10, choices=State, default=State.ACTIVE)
    for_portal = models.BooleanField(
        "for the portal",
        default=False,
        db_default=False,
        editable=False,
        help_text="Used by the portal only: its calls are neither limited nor counted.",
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = models.CharField(max_length=150)
    retires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = SecretQuerySet.as_manager()

    class Meta:
        verbose_name = "secret"
        verbose_name_plural = "secrets"
        ordering: ClassVar = ["account", "-created_at", "-id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="dashboard_api_secret_retiring_has_end",
                condition=~Q(state="retiring") | Q(retires_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"secret {self.pk} ({self.hint}) of {self.account}"

    @property
    def last_used_at(self) -> datetime | None:
        """The time of the last call signed with the secret, to the minute; None before the first call."""
        use = SecretUse.objects.filter(secret_id=self.pk).first()
        return use.last_used_at if use else None

    def reveal(self) -> str:
        """Return the secret in clear, to verify a signature; raises CannotUnseal."""
        return unseal(self.sealed, sealed_for(self.account_id))

    @sensitive_variables("secret")
    def holds(self, secret: str) -> bool:
        """Return whether this row holds ``secret``; False if it can no longer be unsealed."""
        try:
            return self.reveal() == secret
        except CannotUnseal:
            return False

    def is_usable(self, now: datetime) -> bool:
        """Return whether calls signed with the secret are accepted at ``now``."""
        if self.state == self.State.RETIRING:
            return self.retires_at is not None and self.retires_at > now
        return self.state == self.State.ACTIVE

    @transaction.atomic
    def retire(self, *, now: datetime) -> None:
        """Retire the secret: calls are accepted until the retiring period ends. Raises NotActive."""
        active = Secret.objects.filter(pk=self.pk, state=self.State.ACTIVE)
        changed = active.update(state=self.State.RETIRING, retires_at=now + limits.RETIRING_PERIOD)
        self.refresh_from_db(fields=["state", "retires_at"])
        if not changed and self.state == self.State.RETIRING:
            raise AlreadyRetiring(
                f"Nothing to do: {self} is retiring, until {self.retires_at:%Y-%m-%d %H:%M} UTC."
            )
        if not changed:
            raise NotActive(
                f"Only an active secret can retire; {self} is {self.get_state_display().lower()}."
            )
        audit("secret.retired", self)
        secret_ends.send(type(self), secret=self)

    @transaction.atomic
    def revoke(self, *, now: datetime) -> None:
        """Revoke the secret at once; raises AlreadyRevoked."""
        not_revoked = Secret.objects.filter(pk=self.pk).exclude(state=self.State.REVOKED)
        changed = not_revoked.update(state=self.State.REVOKED, revoked_at=now)
        self.refresh_from_db(fields=["state", "revoked_at"])
        if not changed:
            raise AlreadyRevoked(f"Nothing to do: {self} is revoked already.")
        audit("secret.revoked", self)
        secret_ends.send(type(self), secret=self)
