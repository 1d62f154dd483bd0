"""Portal accounts and the secrets that sign their calls."""

import secrets
from datetime import datetime
from typing import ClassVar

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models, transaction
from django.db.models import F, Q
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from dashboard_api import limits
from dashboard_api.models.nonces import SecretUse
from foundation.sealing import CannotUnseal, seal, unseal


class Account(models.Model):
    """A portal account, named by the reference that signed calls carry."""

    ref = models.CharField(
        "reference",
        max_length=limits.MAX_ACCOUNT_REF_LENGTH,
        unique=True,
        validators=[RegexValidator(r"\A[!-~]+\Z", "Use printable ASCII characters without spaces.")],
        help_text="portal_account_ref in signed calls, such as acct_0001; it cannot change later.",
    )
    name = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering: ClassVar = ["ref"]

    def __str__(self) -> str:
        return self.ref


class TooManySecrets(ValidationError):
    """The account already has two usable secrets."""


class DuplicateSecret(ValidationError):
    """The account has or had the same secret."""


class NotActive(ValidationError):
    """The secret is not active, so it cannot retire."""


class AlreadyRevoked(ValidationError):
    """The secret or link was revoked earlier."""


class SecretQuerySet(models.QuerySet["Secret"]):
    """Queries and actions on secrets."""

    def usable(self, now: datetime) -> "SecretQuerySet":
        """Return active secrets, and retiring ones before their ``retires_at``."""
        return self.filter(Q(state=Secret.State.ACTIVE) | Q(state=Secret.State.RETIRING, retires_at__gt=now))

    @sensitive_variables("secret", "clear")
    @transaction.atomic
    def issue(self, account: Account, *, by: str, secret: str | None = None) -> tuple["Secret", str]:
        """Store a new secret, or the given ``secret``, and return it in clear, which happens only once.

        Raises TooManySecrets when two are usable, ValidationError or DuplicateSecret for a bad ``secret``.
        """
        account = Account.objects.select_for_update().get(pk=account.pk)
        self._check_room(account, timezone.now())
        if secret is None:
            clear = limits.SECRET_PREFIX + secrets.token_urlsafe(limits.SECRET_RANDOM_BYTES)
            hint = clear[: len(limits.SECRET_PREFIX) + 4]
        else:
            self._check_brought_in(account, secret)
            clear, hint = secret, "brought in"
        row = Secret(account=account, hint=hint, sealed=seal(clear), created_by=by.strip())
        row.full_clean()
        row.save()
        return row, clear

    def _check_room(self, account: Account, now: datetime) -> None:
        """Revoke secrets that retired before ``now``; raise TooManySecrets if two remain usable."""
        retired = self.filter(account=account, state=Secret.State.RETIRING, retires_at__lte=now)
        retired.update(state=Secret.State.REVOKED, revoked_at=F("retires_at"))
        usable = self.filter(account=account).usable(now)
        if len(usable) >= limits.MAX_USABLE_SECRETS:
            raise TooManySecrets(
                f"{account} already has {len(usable)} usable secrets "
                f"({', '.join(f'{row.pk}: {row.hint}' for row in usable)}). "
                "Revoke one of them first, or wait until a retiring one ends."
            )

    @sensitive_variables("secret")
    def _check_brought_in(self, account: Account, secret: str) -> None:
        """Raise DuplicateSecret if the account has or had ``secret``: a revoked secret must not return."""
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
                    f"{account} has had this secret before ({row.state}): bring in another."
                )


class Secret(models.Model):
    """A site API secret: shown once when issued, sealed at rest, at most two usable per account."""

    class State(models.TextChoices):
        """From issue to revocation; a retiring secret works until ``retires_at``."""

        ACTIVE = "active"
        RETIRING = "retiring"
        REVOKED = "revoked"

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="secrets")
    hint = models.CharField(max_length=32, editable=False, help_text="The beginning, to tell secrets apart.")
    sealed = models.TextField(editable=False)
    state = models.CharField(max_length=10, choices=State, default=State.ACTIVE)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = models.CharField(max_length=150)
    retires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = SecretQuerySet.as_manager()

    class Meta:
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
        """The time of the last call signed with the secret, to the minute; None if there was none."""
        use = SecretUse.objects.filter(secret_id=self.pk).first()
        return use.last_used_at if use else None

    def reveal(self) -> str:
        """Return the secret in clear, to verify a signature; raises CannotUnseal."""
        return unseal(self.sealed)

    @sensitive_variables("secret")
    def holds(self, secret: str) -> bool:
        """Return whether this row holds ``secret``; False if the row can no longer be opened."""
        try:
            return self.reveal() == secret
        except CannotUnseal:
            return False

    def is_usable(self, now: datetime) -> bool:
        """Return whether calls signed with the secret are accepted at ``now``."""
        if self.state == self.State.RETIRING:
            return self.retires_at is not None and self.retires_at > now
        return self.state == self.State.ACTIVE

    def retire(self, *, now: datetime) -> None:
        """Retire the secret: calls are accepted until the retiring period ends. Raises NotActive."""
        active = Secret.objects.filter(pk=self.pk, state=self.State.ACTIVE)
        changed = active.update(state=self.State.RETIRING, retires_at=now + limits.RETIRING_PERIOD)
        self.refresh_from_db(fields=["state", "retires_at"])
        if not changed:
            raise NotActive(f"Only an active secret can retire; {self} is {self.state}.")

    def revoke(self, *, now: datetime) -> None:
        """Revoke the secret at once; raises AlreadyRevoked."""
        others = Secret.objects.filter(pk=self.pk).exclude(state=self.State.REVOKED)
        changed = others.update(state=self.State.REVOKED, revoked_at=now)
        self.refresh_from_db(fields=["state", "revoked_at"])
        if not changed:
            raise AlreadyRevoked(f"Nothing to do: {self} is revoked already.")
