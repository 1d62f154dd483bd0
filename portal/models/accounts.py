"""Accounts of the service with their secrets, and websites with their links."""

from datetime import datetime
from typing import ClassVar, Self

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.dispatch import Signal
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

from foundation.sealing import seal, unseal
from portal.models.members import Membership

# One purpose for all accounts: a sealed secret copied to another account's row fails at the service.
SEALED_FOR = "secret of the portal"
MIN_SECRET_LENGTH = 16
MAX_SECRET_LENGTH = 512

check_secret = Signal()  # sent with ``account``; receivers return a problem with its secret, or ""


@sensitive_variables("secret")
def validate_secret(secret: str) -> None:
    """Raise ValidationError if ``secret`` does not have the form of the service's secrets."""
    if (
        not MIN_SECRET_LENGTH <= len(secret) <= MAX_SECRET_LENGTH
        or not secret.isprintable()
        or secret != secret.strip()
    ):
        raise ValidationError(
            _("A secret has %(least)s to %(most)s printable characters, and no space at either end.")
            % {"least": MIN_SECRET_LENGTH, "most": MAX_SECRET_LENGTH}
        )


class Account(models.Model):
    """An account of the dashboard service, and the secret that signs its calls."""

    ref = models.CharField(
        "reference",
        max_length=128,
        unique=True,
        validators=[RegexValidator(r"\A[!-~]+\Z", _("Use printable ASCII characters without spaces."))],
        help_text=_("The portal_account_ref that the service gave."),
    )
    name = models.CharField(max_length=200, blank=True)
    sealed_secret = models.TextField(editable=False)
    members: "models.ManyToManyField[AbstractBaseUser, Membership]" = models.ManyToManyField(
        settings.AUTH_USER_MODEL, through="Membership", related_name="portal_accounts"
    )

    class Meta:
        verbose_name = _("portal access")
        verbose_name_plural = _("portal access")
        ordering: ClassVar = ["ref"]

    def __str__(self) -> str:
        return self.name or self.ref

    @property
    def is_from_environment(self) -> bool:
        """Whether PORTAL_ACCOUNT_REF and SITE_API_SECRET belong to this account."""
        return bool(settings.SITE_API_SECRET) and self.ref == settings.PORTAL_ACCOUNT_REF

    def seats_taken(self, at: datetime, *, without: str = "") -> int:
        """Return the number of members plus invitations open at ``at``, except to the address ``without``."""
        return self.memberships.count() + self.invitations.open(at=at).exclude(email=without).count()

    @sensitive_variables("secret")
    def set_secret(self, secret: str) -> None:
        """Seal ``secret``; the caller saves. Raises ValidationError."""
        validate_secret(secret)
        self.sealed_secret = seal(secret, SEALED_FOR)

    def reveal_secret(self) -> str:
        """Return the unsealed secret, for the gateway only; raises CannotUnseal."""
        if self.is_from_environment:
            return str(settings.SITE_API_SECRET)
        return unseal(self.sealed_secret, SEALED_FOR)


class WebsiteQuerySet(models.QuerySet["Website"]):
    """Queries for websites."""

    def visible_to(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """Return the websites of all accounts of ``user``; empty for anonymous visitors."""
        if not user.is_authenticated:
            return self.none()
        return self.filter(account__memberships__user=user).select_related("account")

    def with_host(self, host: str) -> Self:
        """Return the websites with this host, in any account."""
        return self.filter(host=host)


class Website(models.Model):
    """A website of an account, and the link id that the service returned for it."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="websites")
    host = models.CharField(max_length=253)
    link_id = models.CharField(
        "link id",
        max_length=100,
        validators=[
            RegexValidator(
                r"\A[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z",
                _("Copy it as the service shows it, such as 6f1c2f0e-8f7e-4f57-9a3b-0d4a5b6c7d8e."),
            )
        ],
        help_text=_("The id that the service returned when the website was linked to the account."),
    )

    objects = WebsiteQuerySet.as_manager()

    class Meta:
        verbose_name = _("portal website")
        verbose_name_plural = _("portal websites")
        ordering: ClassVar = ["host", "account"]
        permissions: ClassVar = [("see_as_customer", "Can see websites as their customers do")]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "host"], name="portal_website_once_per_account"),
        ]

    def __str__(self) -> str:
        return self.host
