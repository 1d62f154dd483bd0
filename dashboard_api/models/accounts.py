"""Who may ask: portal accounts, the secrets they sign with, and what they are entitled to."""

import secrets
from datetime import date, datetime
from typing import ClassVar

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from dashboard_api import policy
from dashboard_api.models.nonces import SecretUse
from dashboard_api.sealing import seal, unseal


class Account(models.Model):
    """A portal account, named by the reference that signed calls carry."""

    ref = models.CharField(
        "reference",
        max_length=policy.MAX_ACCOUNT_REF_LENGTH,
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


class SecretQuerySet(models.QuerySet["Secret"]):
    """Questions about secrets."""

    def usable(self, now: datetime) -> "SecretQuerySet":
        """Active ones, and retiring ones whose time has not come."""
        return self.filter(Q(state=Secret.State.ACTIVE) | Q(state=Secret.State.RETIRING, retires_at__gt=now))

    def usable_by(self, account_ref: str, now: datetime) -> "SecretQuerySet":
        """The secrets that may have signed a call of this account, with the account."""
        return self.usable(now).filter(account__ref=account_ref).select_related("account")

    @transaction.atomic
    def issue(self, account: Account, *, by: str, secret: str | None = None) -> tuple["Secret", str]:
        """Store a new secret, or ``secret`` brought in, and return it once in clear.

        Raises TooManySecrets when two are usable, ValidationError when ``secret`` is too short.
        """
        Account.objects.select_for_update().get(pk=account.pk)
        now = timezone.now()
        self.filter(account=account, state=Secret.State.RETIRING, retires_at__lte=now).update(
            state=Secret.State.REVOKED, revoked_at=now
        )
        if self.filter(account=account).usable(now).count() >= policy.MAX_USABLE_SECRETS:
            raise TooManySecrets(
                f"{account} already has {policy.MAX_USABLE_SECRETS} usable secrets: "
                "revoke one, or let the retiring one end, before issuing another."
            )
        clear = secret if secret is not None else _new_secret()
        if not policy.MIN_SECRET_LENGTH <= len(clear) <= policy.MAX_SECRET_LENGTH:
            raise ValidationError(
                f"A secret has {policy.MIN_SECRET_LENGTH} to {policy.MAX_SECRET_LENGTH} characters."
            )
        row = self.create(
            account=account,
            hint=clear[: len(policy.SECRET_PREFIX) + 4] if secret is None else "brought in",
            sealed=seal(clear),
            created_by=by,
        )
        return row, clear


def _new_secret() -> str:
    return policy.SECRET_PREFIX + secrets.token_urlsafe(policy.SECRET_RANDOM_BYTES)


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
        return f"{self.hint}… of {self.account}"

    @property
    def last_used_at(self) -> datetime | None:
        """When a call was last signed with it, to the minute."""
        use = SecretUse.objects.filter(secret_id=self.pk).first()
        return use.last_used_at if use else None

    def reveal(self) -> str:
        """The secret in clear, to verify a signature with; raises CannotUnseal."""
        return unseal(self.sealed)

    def is_usable(self, now: datetime) -> bool:
        """Whether calls signed with it are accepted at ``now``."""
        if self.state == self.State.RETIRING:
            return self.retires_at is not None and self.retires_at > now
        return self.state == self.State.ACTIVE

    def retire(self, *, now: datetime) -> None:
        """Let it work for the retiring period, then no more."""
        self.state, self.retires_at = self.State.RETIRING, now + policy.RETIRING_PERIOD
        self.save(update_fields=["state", "retires_at"])

    def revoke(self, *, now: datetime) -> None:
        """Refuse it from now on."""
        self.state, self.revoked_at = self.State.REVOKED, now
        self.save(update_fields=["state", "revoked_at"])


class Entitlement(models.Model):
    """What an account has paid for; calls are answered only while it is usable."""

    class Status(models.TextChoices):
        """As set by operators or billing; the dates decide as well."""

        TRIALING = "trialing"
        ACTIVE = "active"
        PAST_DUE = "past_due"
        SUSPENDED = "suspended"
        EXPIRED = "expired"

    account = models.OneToOneField(Account, on_delete=models.CASCADE, related_name="entitlement")
    plan = models.CharField(max_length=50, default="standard")
    status = models.CharField(max_length=10, choices=Status, default=Status.ACTIVE)
    starts_on = models.DateField()
    ends_on = models.DateField(help_text="The last day on which the dashboard is shown.")
    past_due_since = models.DateField(
        null=True, blank=True, help_text="Starts the seven days of grace of a past due account."
    )
    sites_limit = models.PositiveIntegerField(default=5)
    features = models.JSONField(default=list, blank=True, help_text='Such as ["export", "notes"].')

    class Meta:
        ordering: ClassVar = ["account"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="dashboard_api_entitlement_ends_after_start",
                condition=Q(ends_on__gte=models.F("starts_on")),
            ),
            models.CheckConstraint(
                name="dashboard_api_entitlement_past_due_has_start",
                condition=~Q(status="past_due") | Q(past_due_since__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.plan} of {self.account}"

    def status_on(self, day: date) -> str:
        """The status that holds on ``day``: an entitlement past its end has expired, whatever is stored."""
        if self.status in (self.Status.SUSPENDED, self.Status.EXPIRED):
            return self.status
        return self.Status.EXPIRED if day > self.ends_on else self.status

    def is_usable_on(self, day: date) -> bool:
        """Trialing, active, or past due within its grace; and within the dates."""
        status = self.status_on(day)
        if day < self.starts_on or status in (self.Status.SUSPENDED, self.Status.EXPIRED):
            return False
        if status == self.Status.PAST_DUE:
            return self.past_due_since is not None and day <= self.past_due_since + policy.PAST_DUE_GRACE
        return True
