"""The live feed: draws entries from new findings, hides and withdraws them. Decision record 0124."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from random import Random, SystemRandom
from typing import NamedTuple

from dashboard_api.models import FeedEntry, Finding, Kind, Severity
from dashboard_api.models.published import new_id
from dashboard_api.public.categories import category_of
from dashboard_api.public.cells import shortfall
from dashboard_api.public.masks import Crowds
from dashboard_api.public.population import CountedWebsite, Population
from dashboard_api.public.reading import PUBLIC_SEVERITY
from foundation.categories import TITLES

LENGTH = 50
NEW_WITHIN = timedelta(hours=24)
MIN_DELAY, MAX_DELAY = timedelta(hours=24), timedelta(hours=72)
MAX_LOOKED_AT = 200  # new findings of a website
BY = "publish_telemetry"
_OPEN = Finding.Status.OPEN
_WITHDRAWING = (Finding.Status.FALSE_POSITIVE,)
_SERIOUS = (
    "cross-site-scripting",
    "sql-injection",
    "code-injection",
    "xml-entities",
    "server-requests",
    "path-traversal",
    "access-control",
    "outdated-software",
    "exposed-data",
)
_dice: Random = SystemRandom()


class Changes(NamedTuple):
    """Numbers of entries that a run has drawn and withdrawn."""

    drawn: int
    withdrawn: int


def refresh(population: Population, now: datetime) -> Changes:
    """Withdraw what must not be shown any more, delete old entries, and draw new ones."""
    crowds = Crowds(population)
    FeedEntry.objects.filter(day__lte=now.date() - FeedEntry.LIFETIME).delete()
    withdrawn = _withdraw(population, crowds, now)
    drawn = 0 if shortfall(population) else _draw(population, crowds, now)
    return Changes(drawn, withdrawn)


def shown_entries(population: Population, now: datetime) -> list[dict[str, str]]:
    """Return the entries to publish; none while there are too few websites."""
    if shortfall(population):
        return []
    return [
        entry_as_published(
            public_id=entry.public_id,
            severity=entry.severity,
            domain=entry.domain,
            category=entry.category,
            region=entry.region,
            day=entry.day,
        )
        for entry in FeedEntry.objects.shown(now)[:LENGTH]
    ]


def entry_as_published(
    *, public_id: str, severity: str, domain: str, category: str, region: str, day: date
) -> dict[str, str]:
    """Return an entry as the feed has it."""
    return {
        "id": public_id,
        "severity": severity,
        "domain": domain,
        "category": category,
        "description": TITLES[category],
        "region": region,
        "day": day.isoformat(),
    }


def made_up_entries(population: Population, now: datetime) -> list[dict[str, str]]:
    """Return entries of made-up websites for the demo, the same all day."""
    crowds, dice = Crowds(population), Random(now.date().toordinal())  # noqa: S311 - made up
    entries = []
    for number, website in enumerate(dice.sample(population, min(30, len(population)))):
        mask = crowds.mask_of(website)
        if mask and website.categories:
            category = dice.choice(sorted(website.categories))
            entry = entry_as_published(
                public_id=f"{dice.getrandbits(64):016x}",
                severity=dice.choice(
                    ("High", "High", "Medium") if category in _SERIOUS else ("Medium", "Low")
                ),
                domain=mask.domain,
                category=category,
                region=mask.region,
                day=now.date() - timedelta(days=number * 14 // 30),
            )
            entries.append(entry)
    return entries


def _withdraw(population: Population, crowds: Crowds, now: datetime) -> int:
    """Withdraw entries of websites that do not count any more and of false positives; coarsen the others."""
    websites = {website.number: website for website in population}
    entries = list(FeedEntry.objects.kept())
    findings = Finding.objects.in_bulk([entry.finding_id for entry in entries])
    withdrawn = 0
    for entry in entries:
        website, finding = websites.get(entry.website_id), findings.get(entry.finding_id)
        mask = crowds.mask_of(website, at_least=entry.coarseness) if website else None
        if website is None or entry.account_id not in website.accounts:
            reason = "Its website is not counted any more."
        elif finding is None or finding.kind != Kind.CONFIRMED or finding.status in _WITHDRAWING:
            reason = "Its finding is not confirmed any more."
        elif mask is None:
            reason = "Its mask fits too few websites."
        else:
            if mask.coarseness != entry.coarseness:
                entry.coarseness, entry.domain, entry.region = mask
                entry.save(update_fields=["coarseness", "domain", "region"])
            continue
        entry.withdraw(by=BY, reason=reason, now=now)
        withdrawn += 1
    return withdrawn


def _draw(population: Population, crowds: Crowds, now: datetime) -> int:
    """Draw at most one entry for each account and day on which it can appear; return their number."""
    by_account: dict[int, list[CountedWebsite]] = defaultdict(list)
    with_news = _websites_with_news(now)
    for website in population:
        if website.number in with_news and crowds.mask_of(website):
            by_account[min(website.accounts)].append(website)
    taken = defaultdict(set)
    for account, day in FeedEntry.objects.values_list("account_id", "day"):
        taken[account].add(day)
    known = set(FeedEntry.objects.values_list("finding_id", flat=True))
    drawn = 0
    for account, websites in by_account.items():
        appears_at = _free_time(taken[account], now)
        website = _dice.choice(websites)
        finding = _new_finding(website, known, now) if appears_at else None
        if appears_at is None or finding is None:
            continue
        mask = crowds.mask_of(website)
        assert mask is not None  # noqa: S101 - those without were left out
        FeedEntry.objects.create(
            public_id=new_id(),
            account_id=account,
            website_id=website.number,
            finding_id=finding.pk,
            severity=PUBLIC_SEVERITY[Severity(finding.severity)],
            category=category_of(finding.cwe, finding.problem),
            coarseness=mask.coarseness,
            domain=mask.domain,
            region=mask.region,
            appears_at=appears_at,
            day=appears_at.date(),
        )
        drawn += 1
    return drawn


def _websites_with_news(now: datetime) -> set[int]:
    """Return the websites on which findings were first seen today or yesterday."""
    since = (now - NEW_WITHIN).replace(hour=0, minute=0, second=0, microsecond=0)
    new = Finding.objects.filter(first_seen__gte=since).order_by()
    return set(new.values_list("website_id", flat=True).distinct())


def _free_time(taken: Iterable[date], now: datetime) -> datetime | None:
    """Return a random time, 24 to 72 hours ahead, on a day that is not taken; None if all are."""
    times = [now + MIN_DELAY + (MAX_DELAY - MIN_DELAY) * _dice.random() for _ in range(8)]
    return next((time for time in times if time.date() not in taken), None)


def _new_finding(website: CountedWebsite, known: set[int], now: datetime) -> Finding | None:
    """Return a random confirmed finding that is new; None without one."""
    rows = Finding.objects.filter(
        website_id=website.number,
        status=_OPEN,
        severity__in=PUBLIC_SEVERITY,
        kind=Kind.CONFIRMED,
        first_seen__gte=now - NEW_WITHIN,
    )
    seen = rows.only("pk", "severity", "cwe", "problem").order_by()[:MAX_LOOKED_AT]
    new = [each for each in seen if each.pk not in known]
    return _dice.choice(new) if new else None
