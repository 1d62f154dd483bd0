"""The inventory of a website: certificates, its registered domain, and the scripts of its home page.

Like findings, these facts belong to the website, and all its accounts see them.
"""

from typing import ClassVar

from django.db import models
from django.db.models import Value

from dashboard_api.models.sites import Website
from foundation.addresses.hosts import MAX_HOST_LENGTH
from signed_api import limits as contract_limits

_SHA256_LENGTH = 64
_NAME_LENGTH = 200  # of an issuer or a registrar


class SeenCertificate(models.Model):
    """A certificate that a host showed to scans."""

    website = models.ForeignKey(  # the unique constraint indexes it
        Website, on_delete=models.CASCADE, related_name="certificates", db_index=False
    )
    host = models.CharField(max_length=MAX_HOST_LENGTH)
    port = models.PositiveIntegerField()
    fingerprint = models.CharField(max_length=_SHA256_LENGTH, help_text="SHA-256 of the certificate.")
    issuer = models.CharField(max_length=_NAME_LENGTH)
    valid_until = models.DateTimeField()
    details = models.JSONField(help_text="Subject, names, key, signature, first day, chain and problem.")
    is_current = models.BooleanField(
        default=True, help_text="Its host showed it in the last scan that reached this host."
    )
    first_seen_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        verbose_name = "certificate"
        verbose_name_plural = "certificates"
        ordering: ClassVar = ["-is_current", "valid_until", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["website", "host", "port", "fingerprint"], name="dashboard_api_certificate_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.host}: {self.fingerprint[:8]}"


class RegisteredDomain(models.Model):
    """The registrable domain of a website at its registry."""

    website = models.OneToOneField(
        Website, on_delete=models.CASCADE, primary_key=True, related_name="registered_domain"
    )
    name = models.CharField(max_length=MAX_HOST_LENGTH)
    valid_until = models.DateTimeField(null=True)
    registrar = models.CharField(max_length=_NAME_LENGTH, blank=True)
    reason = models.CharField(max_length=30, blank=True, help_text="Why the last scan could not read it.")
    read_at = models.DateTimeField(help_text="When its last day was read; without one, the last try.")

    def __str__(self) -> str:
        return self.name


class ScriptInventory(models.Model):
    """The last complete inventory of scripts of a home page, and the hosts that are expected there."""

    website = models.OneToOneField(
        Website, on_delete=models.CASCADE, primary_key=True, related_name="script_inventory"
    )
    page = models.CharField(max_length=contract_limits.MAX_SCRIPT_URL)
    at = models.DateTimeField()
    expected_hosts = models.JSONField(default=list, help_text="At first, the hosts of the first inventory.")

    def __str__(self) -> str:
        return self.page


class SeenScript(models.Model):
    """A script that scans saw on the home page; a pinned one must keep its content."""

    website = models.ForeignKey(  # the unique constraint indexes it
        Website, on_delete=models.CASCADE, related_name="scripts", db_index=False
    )
    url = models.CharField(max_length=contract_limits.MAX_SCRIPT_URL)
    host = models.CharField(max_length=MAX_HOST_LENGTH)
    sha256 = models.CharField(max_length=_SHA256_LENGTH, blank=True, help_text="Last read; empty: never.")
    size = models.PositiveBigIntegerField(null=True, help_text="In bytes.")
    has_integrity = models.BooleanField()
    libraries = models.JSONField(default=list, db_default=Value([], models.JSONField()))
    pinned_sha256 = models.CharField(max_length=_SHA256_LENGTH, blank=True, help_text="Empty: not pinned.")
    first_seen_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    changed_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "script"
        verbose_name_plural = "scripts"
        ordering: ClassVar = ["-seen_at", "url"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["website", "url"], name="dashboard_api_script_once"),
        ]

    def __str__(self) -> str:
        return self.url
