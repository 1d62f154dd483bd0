"""Helper links: people who run a website publish its proof of ownership without an account."""

from datetime import datetime, timedelta
from typing import ClassVar, Self
from uuid import uuid4

from django.core.signing import BadSignature, Signer
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from foundation.addresses.hosts import MAX_HOST_LENGTH
from portal.models.accounts import Account

HELPER_LINK_LIFETIME = timedelta(days=14)
_signer = Signer(salt="portal.helper_link")


class HelperLinkQuerySet(models.QuerySet["HelperLink"]):
    """Queries for helper links."""

    def live(self, *, at: datetime) -> Self:
        """Return the links that are neither revoked nor expired at ``at``."""
        return self.filter(revoked_at=None, expires_at__gt=at)

    def with_token(self, token: str) -> Self:
        """Return the link with this token; empty if the token's signature is not ours."""
        try:
            return self.filter(pk=_signer.unsign(token))
        except BadSignature:
            return self.none()


class HelperLink(models.Model):
    """A link to the instructions of one claim and to its check, and to no other page."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="helper_links")
    claim_id = models.CharField(max_length=18)
    host = models.CharField(max_length=MAX_HOST_LENGTH)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    objects = HelperLinkQuerySet.as_manager()

    class Meta:
        verbose_name = _("helper link")
        verbose_name_plural = _("helper links")
        ordering: ClassVar = ["-created_at"]
        indexes: ClassVar = [
            models.Index(fields=["account", "claim_id"], name="portal_helper_links_of_claim"),
        ]

    def __str__(self) -> str:
        return self.host

    @property
    def token(self) -> str:
        """The link's signed token; computing it needs the secret key as well as the database."""
        return _signer.sign(str(self.pk))
