"""Stored summaries: the service's last response about each website, shown first in the list of websites.

On SQLite this table is in the database of short-lived data, so that no page waits for an import; hence no
foreign key. A summary is deleted with its website, and when the website gets a new link.
"""

from datetime import datetime, timedelta
from functools import partial
from typing import Any, ClassVar, Self

import msgspec
from django.db import models, transaction
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver
from django.utils import timezone

from portal.models.accounts import Website
from signed_api.findings import CoverageEntry, DashboardResponse, Facets, Page, Problem, Summary

NO_FACETS = Facets(severity=[], source=[], kind=[], status=[], hosts=[])
_MIN_INTERVAL = timedelta(minutes=1)  # between two writes of the same data
_UPDATED_FIELDS = ("updated_at", "refusal", "payload", "new_findings", "grew_at")
_IDENTITY = ("pk", "account_id", "host", "link_id")


class Headline(msgspec.Struct, kw_only=True, frozen=True):
    """Grade, numbers and scans of a stored dashboard: the part that lists of websites decode."""

    dashboard: Page
    summary: Summary
    coverage: list[CoverageEntry] = []


class WebsiteSummaryQuerySet(models.QuerySet["WebsiteSummary"]):
    """Queries that store and discard summaries."""

    def store(
        self, website: Website, *, dashboard: DashboardResponse | None = None, refusal: str = ""
    ) -> None:
        """Replace the summary of ``website`` by a dashboard without its lists, or by the code of a refusal.

        - A dashboard keeps the version that ``service.refresh_summaries`` noted; a refusal clears it.
        - If the website got a new link during the request, its summary is discarded instead.
        - The same data is written at most once a minute, so that clicks on filters cause no writes.
        - A filtered dashboard lacks the problems to fix first: they are copied from the stored summary of
          the same data.
        """
        now = timezone.now()
        old = self.filter(website_id=website.pk).first()
        if old and dashboard and old.has_data_of(dashboard):
            dashboard = old.with_first_problems(dashboard)
            if now - old.updated_at < _MIN_INTERVAL and old.first_problems == dashboard.dashboard.do_first:
                return
        old_count, grew_at = (old.new_findings, old.grew_at) if old else (0, None)
        new_findings = max(0, dashboard.summary.new_7d) if dashboard else old_count
        summary = WebsiteSummary(
            website_id=website.pk,
            updated_at=now,
            refusal=refusal,
            payload=msgspec.json.encode(_without_lists(dashboard)).decode() if dashboard else "",
            new_findings=new_findings,
            grew_at=now if new_findings > old_count else grew_at,
        )
        self.bulk_create(  # one statement that inserts or updates the row
            [summary],
            update_conflicts=True,
            unique_fields=["website_id"],
            update_fields=[*_UPDATED_FIELDS, *(["version"] if refusal else [])],
        )
        identity = {name: getattr(website, name) for name in _IDENTITY}
        if not Website.objects.filter(**identity).exists():
            self.discard(website.pk)

    def grown_since(self, at: datetime) -> Self:
        """Return the summaries of websites that got new findings after ``at``."""
        return self.filter(grew_at__gt=at)

    def discard(self, website_id: int) -> None:
        """Delete the summary of this website."""
        self.filter(website_id=website_id).delete()


class WebsiteSummary(models.Model):
    """A dashboard as JSON, or the code of a refusal, and the time at which the portal received it."""

    website_id = models.BigIntegerField(primary_key=True)
    updated_at = models.DateTimeField()
    refusal = models.CharField(max_length=64, blank=True)
    payload = models.TextField(blank=True, help_text="JSON.")
    new_findings = models.BigIntegerField(default=0, help_text="New findings of the last seven days.")
    grew_at = models.DateTimeField(null=True, help_text="When the number of new findings last rose.")
    version = models.CharField(
        max_length=64, blank=True, help_text="Version of the website's data in the service."
    )

    objects = WebsiteSummaryQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["website_id"]

    def __str__(self) -> str:
        return f"website {self.website_id} at {self.updated_at}"

    def is_current(self, version: str) -> bool:
        """Return whether the numbers are from today and of ``version``.

        An empty ``version`` means that the account has no access: then a refusal is current.
        """
        if not version:
            return bool(self.refusal)
        return self.version == version and self.updated_at.date() == timezone.now().date()

    @property
    def dashboard(self) -> DashboardResponse | None:
        """The dashboard, unless the service refused it or an older portal stored another format."""
        try:
            return msgspec.json.decode(self.payload, type=DashboardResponse)
        except msgspec.DecodeError:
            return None

    @property
    def headline(self) -> Headline | None:
        """Grade and numbers, under the same conditions as ``dashboard``, but decoded faster."""
        try:
            return msgspec.json.decode(self.payload, type=Headline)
        except msgspec.DecodeError:
            return None

    @property
    def first_problems(self) -> list[Problem]:
        """The problems to fix first; empty if unknown."""
        return self.headline.dashboard.do_first if self.headline else []

    def with_first_problems(self, dashboard: DashboardResponse) -> DashboardResponse:
        """Return ``dashboard`` of the same data with the problems to fix first, which filtered ones lack."""
        worst = dashboard.dashboard.do_first or self.first_problems
        page = msgspec.structs.replace(dashboard.dashboard, do_first=worst)
        return msgspec.structs.replace(dashboard, dashboard=page)

    def has_data_of(self, dashboard: DashboardResponse) -> bool:
        """Return whether the stored dashboard has the data version of this one."""
        headline, revision = self.headline, dashboard.dashboard.revision  # empty from older services
        return headline is not None and revision != "" and headline.dashboard.revision == revision


def _without_lists(dashboard: DashboardResponse) -> DashboardResponse:
    """Return ``dashboard`` without findings, notes, and the parts that depend on filters."""
    page = msgspec.structs.replace(dashboard.dashboard, facets=NO_FACETS)
    return msgspec.structs.replace(dashboard, dashboard=page, threats=[], charts=[], analyst_notes=[])


@receiver([post_save, post_delete], sender=Website)
def _discard(instance: Website, **_: Any) -> None:
    """Discard the summary after the commit: a later ``store`` for the old link sees the new one."""
    transaction.on_commit(partial(WebsiteSummary.objects.discard, instance.pk))
