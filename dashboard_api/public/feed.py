"""The live feed: confirmed findings, masked and published with a delay, of websites that opted in."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

import idna
from django.utils.crypto import salted_hmac

from dashboard_api.models import Finding, Kind
from dashboard_api.public.categories import category_of
from dashboard_api.public.counting import CountedWebsite, Population, is_crowd
from dashboard_api.public.reading import PUBLIC_SEVERITY
from foundation.addresses.domains import registry_suffix
from foundation.texts.categories import TITLES
from foundation.texts.regions import WORLD

LENGTH = 50
DAYS = 14  # an entry is shown for so long
HIDDEN = "•••••"  # always five, so the length of the name is hidden
_STATUSES = (Finding.Status.OPEN, Finding.Status.FIXED)


class Mask(NamedTuple):
    """The part of a website's name and region that is published."""

    domain: str
    region: str


class _Candidate(NamedTuple):
    day: date  # when the entry appears
    order: bytes  # random, but the same in every run
    finding: int  # its id
    website: CountedWebsite


def masks_of(population: Population) -> dict[int, Mask]:
    """Return the masks of the websites in the feed, by number.

    Websites with the same mask must be a crowd. A smaller group loses its region, then its suffix; if it is
    still too small, its websites get no mask and do not appear.
    """
    groups: dict[Mask, list[CountedWebsite]] = defaultdict(list)
    for website in population:
        if website.is_shown:
            suffix = registry_suffix(website.host)
            domain = f"{HIDDEN}.{idna.decode(suffix)}" if suffix else HIDDEN
            groups[Mask(domain, website.region)].append(website)
    for is_suffix_kept in (True, False):
        for mask in [each for each, websites in groups.items() if not is_crowd(websites)]:
            small = groups.pop(mask)
            groups[Mask(mask.domain if is_suffix_kept else HIDDEN, WORLD)] += small
    return {
        website.number: mask
        for mask, websites in groups.items()
        if is_crowd(websites)
        for website in websites
    }


def feed_entries(population: Population, now: datetime) -> list[tuple[str, dict[str, str]]]:
    """Return the entries with their hosts, newest day first; at most one for each account and day."""
    masks = masks_of(population)
    shown = {website.number: website for website in population if website.number in masks}
    candidates = _candidates(shown, now.date())
    taken: set[tuple[int, date]] = set()
    chosen: list[_Candidate] = []
    for candidate in sorted(candidates, key=lambda each: (each.day, each.order), reverse=True):
        account_days = {(account, candidate.day) for account in candidate.website.accounts}
        if len(chosen) < LENGTH and taken.isdisjoint(account_days):
            taken |= account_days
            chosen.append(candidate)
    findings = Finding.objects.in_bulk([each.finding for each in chosen])
    entries = []
    for each in chosen:
        finding = findings.get(each.finding)
        if finding is None:  # deleted a moment ago
            continue
        published = entry(
            masks[each.website.number],
            severity=PUBLIC_SEVERITY[finding.severity],
            category=category_of(finding.cwe, finding.problem),
            day=each.day,
        )
        entries.append((each.website.host, published))
    return entries


def entry(mask: Mask, *, severity: str, category: str, day: date) -> dict[str, str]:
    """Return an entry in its published form."""
    return {
        "severity": severity,
        "domain": mask.domain,
        "category": category,
        "description": TITLES[category],
        "region": mask.region,
        "day": day.isoformat(),
    }


def _candidates(websites: dict[int, CountedWebsite], today: date) -> Iterator[_Candidate]:
    """Yield the first finding of each website and day; its entry appears on the second or third day after."""
    first: dict[tuple[int, date], int] = {}
    since = datetime.combine(today - timedelta(days=DAYS + 2), time.min, UTC)
    rows = Finding.objects.filter(
        kind=Kind.CONFIRMED, severity__in=PUBLIC_SEVERITY, status__in=_STATUSES, first_seen__gte=since
    )
    values = rows.order_by().values_list("pk", "website_id", "first_seen")
    for pk, website, seen in values.iterator(chunk_size=5_000):
        if website in websites:
            key = website, seen.date()
            first[key] = min(pk, first.get(key, pk))
    for (website, found_on), pk in first.items():
        order = salted_hmac("telemetry.feed", f"{website} {found_on}", algorithm="sha256").digest()
        day = found_on + timedelta(days=2 + order[0] % 2)  # 2 or 3 days, by chance
        if today - timedelta(days=DAYS) < day <= today:
            yield _Candidate(day, order, pk, websites[website])
