"""Rules about scans: the stop of all scans, opt-outs and consents."""

import ipaddress
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import ClassVar, Self

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils import timezone

from dashboard_api.models.sites import SiteLink
from foundation.addresses.domains import registrable_domain
from foundation.addresses.hosts import InvalidHost, typed_host

CONSENT_PERIOD = timedelta(days=365)


class CrawlerStopQuerySet(models.QuerySet["CrawlerStop"]):
    """Queries on stops."""

    def current(self) -> "CrawlerStop | None":
        """Return the stop that is in force."""
        return self.filter(resumed_at=None).first()


class CrawlerStop(models.Model):
    """A stop of all scans; while it is in force, no scan begins."""

    stopped_at = models.DateTimeField(default=timezone.now)
    by = models.CharField(max_length=150)
    reason = models.CharField(max_length=500, blank=True)
    resumed_at = models.DateTimeField(null=True, blank=True)
    resumed_by = models.CharField(max_length=150, blank=True)

    objects = CrawlerStopQuerySet.as_manager()

    class Meta:
        verbose_name = "stop of all scans"
        verbose_name_plural = "stops of all scans"
        ordering: ClassVar = ["-stopped_at", "-id"]

    def __str__(self) -> str:
        return f"stop of {self.stopped_at:%Y-%m-%d %H:%M} UTC"


class ScanOptOutQuerySet(models.QuerySet["ScanOptOut"]):
    """Queries on opt-outs."""

    def of(self, host: str, addresses: Sequence[str] = ()) -> "ScanOptOut | None":
        """Return an opt-out that covers the host, its registrable domain or one of the addresses."""
        names = Q(kind=ScanOptOut.Kind.HOST, value=host)
        if domain := registrable_domain(host):
            names |= Q(kind=ScanOptOut.Kind.DOMAIN, value=domain)
        found = self.filter(names).first()
        if found is None and addresses:
            prefixes = self.filter(kind=ScanOptOut.Kind.PREFIX)
            found = next((each for each in prefixes if any(map(each.has, addresses))), None)
        return found


class ScanOptOut(models.Model):
    """A host, a domain with all its hosts, or a prefix of addresses that is never scanned."""

    class Kind(models.TextChoices):
        HOST = "host", "host"
        DOMAIN = "domain", "domain with all its hosts"
        PREFIX = "prefix", "prefix of addresses"

    kind = models.CharField(max_length=10, choices=Kind)
    value = models.CharField(
        max_length=253, help_text="Such as shop.example.com, example.com or 192.0.2.0/24."
    )
    reason = models.CharField(max_length=500, help_text="Who asked for it, and how.")
    by = models.CharField(max_length=150, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = ScanOptOutQuerySet.as_manager()

    class Meta:
        verbose_name = "opt-out of scans"
        verbose_name_plural = "opt-outs of scans"
        ordering: ClassVar = ["kind", "value"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["kind", "value"], name="dashboard_api_scanoptout_once"),
        ]

    def __str__(self) -> str:
        return self.value

    def clean(self) -> None:
        """Normalise the value; raise ValidationError unless it is a host, registrable domain or prefix."""
        if self.kind not in _NORMALISE:
            return  # the field reports the unknown kind
        try:
            self.value = _NORMALISE[self.kind](self.value.strip())
        except (InvalidHost, ValueError) as error:
            raise ValidationError({"value": str(error)}) from error

    def has(self, address: str) -> bool:
        """Return whether the address is in this prefix."""
        return ipaddress.ip_address(address) in ipaddress.ip_network(self.value)


def _domain(value: str) -> str:
    host = typed_host(value)
    domain = registrable_domain(host)
    if domain != host:
        raise ValueError(f"Give the registrable domain, such as {domain or 'example.com'}.")
    return domain


def _prefix(value: str) -> str:
    return str(ipaddress.ip_network(value, strict=False))


_NORMALISE: dict[str, Callable[[str], str]] = {
    ScanOptOut.Kind.HOST: typed_host,
    ScanOptOut.Kind.DOMAIN: _domain,
    ScanOptOut.Kind.PREFIX: _prefix,
}


class ScanConsentQuerySet(models.QuerySet["ScanConsent"]):
    """Queries on consents."""

    def valid_at(self, now: datetime) -> Self:
        """Return the consents that are in force."""
        return self.filter(at__gt=now - CONSENT_PERIOD)


class ScanConsent(models.Model):
    """The consent of an account to deep scans, which attack the website, for a year."""

    link = models.ForeignKey(SiteLink, on_delete=models.CASCADE, related_name="scan_consents")
    by = models.CharField(max_length=150)
    at = models.DateTimeField(default=timezone.now)

    objects = ScanConsentQuerySet.as_manager()

    class Meta:
        verbose_name = "consent to deep scans"
        verbose_name_plural = "consents to deep scans"
        ordering: ClassVar = ["-at"]

    def __str__(self) -> str:
        return f"consent to deep scans of {self.link.website}"
