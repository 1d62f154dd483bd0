"""Writes the documents that are served: the statistics of yesterday once, and the feed at every run."""

import gzip
import hashlib
import hmac
import json
from datetime import date, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction

from dashboard_api.models import Published
from dashboard_api.public import feed
from dashboard_api.public.cells import Table
from dashboard_api.public.population import Population
from dashboard_api.public.reading import counted_websites
from dashboard_api.public.sample import sample_websites
from dashboard_api.public.statistics import statistics

STALE_AFTER = timedelta(hours=26)  # without a run of the command
DAY_IS_OVER = timedelta(hours=2)  # after midnight (UTC): imports of the day have ended


def last_day(now: datetime) -> date:
    """Return the last day whose statistics may be made."""
    return (now - DAY_IS_OVER).date() - timedelta(days=1)


def population(day: date, now: datetime) -> Population:
    """Return the counted websites; in the demo, made-up ones."""
    return sample_websites() if settings.PUBLIC_DEMO else counted_websites(day, now)


def build_statistics(websites: Population, now: datetime) -> tuple[dict[str, Any], Table]:
    """Return the document of the last day, and what the floor removed."""
    day = last_day(now)
    before = Published.objects.filter(kind=Published.Kind.STATISTICS, day__lt=day).order_by("-day").first()
    weeks = json.loads(bytes(before.body))["weeks"] if before else []
    document, table = statistics(websites, day=day, made_at=now, key=_key(), weeks=weeks)
    return _marked(document), table


def publish_statistics(websites: Population, now: datetime) -> bool:
    """Publish the statistics of the last day if they are not; return whether they were missing."""
    document, _ = build_statistics(websites, now)
    body = encode(document)
    values = {"made_at": now, "body": body, "gzipped": _gzipped(body)}
    keys = {"kind": Published.Kind.STATISTICS, "day": last_day(now)}
    return Published.objects.get_or_create(**keys, defaults=values)[1]


def are_missing(now: datetime) -> bool:
    """Return whether the statistics of the last day are not published yet."""
    return not Published.objects.filter(kind=Published.Kind.STATISTICS, day=last_day(now)).exists()


@transaction.atomic
def publish_feed(websites: Population, now: datetime) -> feed.Changes:
    """Draw and withdraw entries, and replace the published feed."""
    if settings.PUBLIC_DEMO:
        changes, entries = feed.Changes(0, 0), feed.made_up_entries(websites, now)
    else:
        changes, entries = feed.refresh(websites, now), feed.shown_entries(websites, now)
    made_at = now.isoformat(timespec="seconds").replace("+00:00", "Z")
    body = encode(_marked({"made_at": made_at, "stale": False, "entries": entries}))
    values = {"made_at": now, "body": body, "gzipped": _gzipped(body)}
    Published.objects.update_or_create(kind=Published.Kind.FEED, day=None, defaults=values)
    return changes


def encode(document: dict[str, Any]) -> bytes:
    """Return the bytes of a document."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def stale_copy(body: bytes) -> tuple[bytes, bytes]:
    """Return a document and its packed form, marked as stale."""
    stale = encode({**json.loads(body), "stale": True})
    return stale, _gzipped(stale)


def _gzipped(body: bytes) -> bytes:
    return gzip.compress(body, mtime=0)


def _marked(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document, which says so if its websites are made up."""
    return {**document, "sample": True} if settings.PUBLIC_DEMO else document


def _key() -> bytes:
    """Return the key of the rounding."""
    return hmac.digest(settings.SECRET_KEY.encode(), b"rounding of public telemetry", hashlib.sha256)
