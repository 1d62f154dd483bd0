"""Writes the public documents: the statistics once a week, the feed on every run."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from django.conf import settings

from dashboard_api.models import Published
from dashboard_api.public.counting import Population
from dashboard_api.public.feed import feed_entries
from dashboard_api.public.reading import counted_websites, with_findings
from dashboard_api.public.sample import sample_entries, sample_websites
from dashboard_api.public.statistics import statistics, utc_text

STALE_AFTER = timedelta(hours=26)  # since the last run of the command


def websites_of(now: datetime) -> Population:
    """Return the counted websites; in the demo, made-up websites."""
    return sample_websites() if settings.PUBLIC_DEMO else counted_websites(now)


def statistics_of(websites: Population, now: datetime) -> dict[str, object]:
    """Return the statistics as a document to publish."""
    population = websites if settings.PUBLIC_DEMO else with_findings(websites)
    return statistics(population, made_at=now) | _sample_member()


def entries_of(websites: Population, now: datetime) -> list[tuple[str, dict[str, str]]]:
    """Return the entries of the feed with their hosts."""
    return sample_entries(websites, now.date()) if settings.PUBLIC_DEMO else feed_entries(websites, now)


def publish_statistics(websites: Population, now: datetime) -> bool:
    """Publish new statistics once a week; return whether they were due."""
    before = Published.objects.filter(kind=Published.Kind.STATISTICS).first()
    if before and before.made_at.isocalendar()[:2] == now.isocalendar()[:2]:  # year and week
        return False
    _store(Published.Kind.STATISTICS, statistics_of(websites, now), now)
    return True


def publish_feed(entries: Iterable[dict[str, str]], now: datetime) -> bool:
    """Replace the published feed; return whether its entries changed."""
    before = Published.objects.filter(kind=Published.Kind.FEED).first()
    document = {"made_at": utc_text(now), "entries": list(entries), **_sample_member()}
    _store(Published.Kind.FEED, document, now)
    return before is None or json.loads(before.body)["entries"] != document["entries"]


def _sample_member() -> dict[str, bool]:
    """Return the member that marks documents about made-up websites."""
    return {"sample": True} if settings.PUBLIC_DEMO else {}


def _store(kind: str, document: Mapping[str, object], now: datetime) -> None:
    body = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    Published.objects.update_or_create(kind=kind, defaults={"made_at": now, "body": body})
