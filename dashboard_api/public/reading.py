"""Read the counted websites. Decision record 0124."""

import sys
from collections import Counter, defaultdict
from datetime import UTC, date, datetime, time, timedelta
from statistics import median_low
from typing import NamedTuple

from django.conf import settings
from django.db.models import Count, F, Max, Window
from django.db.models.functions import RowNumber

from dashboard_api.models import (
    Coverage,
    Entitlement,
    Finding,
    Kind,
    Publicity,
    Severity,
    SiteLink,
    Website,
)
from dashboard_api.public.categories import category_of
from dashboard_api.public.consent import rank, stricter
from dashboard_api.public.population import CountedWebsite
from dashboard_api.public.statistics import monday_of
from dashboard_api.reading.grading import LETTERS, PROVISIONAL, WITHOUT_PAGES, levels_of
from foundation.domains import registrable_domain
from foundation.regions import WORLD, proposed_region

SCANNED_WITHIN = timedelta(days=30)
FIXED_WITHIN = timedelta(days=90)
MAX_FIXED = 50  # of a website and severity, the newest
MAX_PROBLEMS = 20_000  # whose category is looked up
PROBLEMS_AT_ONCE = 200  # by one statement
PUBLIC_SEVERITY = {
    Severity.CRITICAL: "High",
    Severity.HIGH: "High",
    Severity.MEDIUM: "Medium",
    Severity.LOW: "Low",
}
# Names for examples (RFC 2606), which the demo and the live sample have.
_EXAMPLES = ("example", "test", "invalid", "localhost", "example.com", "example.net", "example.org")


class _Consent(NamedTuple):
    accounts: frozenset[int]
    publicity: str
    region: str


def counted_websites(day: date, now: datetime) -> list[CountedWebsite]:
    """Return the websites that count in the statistics of ``day``, by host."""
    consents = _consents(now)
    hosts = dict(
        Website.objects.filter(pk__in=consents, verified_at__isnull=False, archived_at=None).values_list(
            "pk", "host"
        )
    )
    engines: Counter[int] = Counter()
    is_complete: set[int] = set()
    runs = Coverage.objects.filter(last_run_at__gte=now - SCANNED_WITHIN).order_by()
    for website, completed, source in runs.values_list("website_id", "completed_at", "source__slug"):
        engines[website] += 1
        if completed and source not in WITHOUT_PAGES:
            is_complete.add(website)
    chosen = {pk: host for pk, host in hosts.items() if engines[pk] and _is_public(host)}
    buckets, categories = _open_findings(), _categories()
    weeks, days = _week(monday_of(day)), _days_to_fix(now)
    counted = []
    for pk, host in sorted(chosen.items(), key=lambda item: item[1]):
        consent, levels = consents[pk], levels_of(buckets[pk])
        letter = LETTERS[max((level for level, count in enumerate(levels) if count), default=0)]
        counted.append(
            CountedWebsite(
                number=pk,
                host=host,
                accounts=consent.accounts,
                region=consent.region,
                is_named=consent.publicity == Publicity.NAMED,
                grade=letter if pk in is_complete or letter in PROVISIONAL else "",
                open=frozenset(
                    PUBLIC_SEVERITY[Severity(severity)]
                    for kind, severity in buckets[pk]
                    if kind == Kind.CONFIRMED and severity
                ),
                categories=frozenset(categories[pk]),
                days_to_fix=days.get(pk, {}),
                engines=engines[pk],
                found="found" in weeks[pk],
                fixed="fixed" in weeks[pk],
            )
        )
    return counted


def _consents(now: datetime) -> dict[int, _Consent]:
    """Return what the accounts of each website allow: of several links, the strictest wins.

    Only accounts with a usable plan make a website count; but the wish of any other is respected, too.
    """
    plans = Entitlement.objects.only(
        "account_id", "status", "starts_on", "ends_on", "renews", "past_due_since"
    )
    usable = {plan.account_id for plan in plans if plan.is_usable_on(now.date())}
    links = SiteLink.objects.not_revoked().order_by("pk")
    found: dict[int, list[tuple[int, str, str]]] = defaultdict(list)
    values = ("website_id", "website__host", "account_id", "account__publicity", "publicity", "region")
    for website, host, account, of_account, own, region in links.values_list(*values):
        found[website].append((account, stricter(of_account, own), region or proposed_region(host)))
    consents = {}
    for website, rows in found.items():
        accounts = frozenset(account for account, _, _ in rows if account in usable)
        publicity = min((each for _, each, _ in rows), key=rank)
        regions = {region for _, _, region in rows}
        if accounts and publicity != Publicity.NOTHING:
            consents[website] = _Consent(accounts, publicity, regions.pop() if len(regions) == 1 else WORLD)
    return consents


def _is_public(host: str) -> bool:
    """Return whether a host is a name on the internet, and no example."""
    if registrable_domain(host) is None:
        return False
    is_example = any(host == name or host.endswith(f".{name}") for name in _EXAMPLES)
    return not is_example or bool(settings.PUBLIC_DEMO)


def _open_findings() -> dict[int, dict[tuple[str, int], int]]:
    """Return the numbers of open findings of each website, by kind and severity."""
    counts: dict[int, dict[tuple[str, int], int]] = defaultdict(dict)
    rows = Finding.objects.filter(status=Finding.Status.OPEN).order_by()
    values = rows.values_list("website_id", "kind", "severity").annotate(number=Count("pk"))
    for website, kind, severity, findings in values.iterator(chunk_size=5_000):
        counts[website][kind, severity] = findings
    return counts


def _categories() -> dict[int, set[str]]:
    """Return the categories of the open confirmed findings of each website.

    Findings of a problem have one cause, so the newest of them says the category of all.
    """
    rows = Finding.objects.filter(status=Finding.Status.OPEN, kind=Kind.CONFIRMED, severity__gt=0).order_by()
    problems: dict[int, set[str]] = defaultdict(set)
    newest: dict[str, int] = {}
    values = rows.values_list("website_id", "problem").annotate(last=Max("pk"))
    for website, problem, last in values.iterator(chunk_size=5_000):
        problems[website].add(sys.intern(problem))
        if problem in newest or len(newest) < MAX_PROBLEMS:
            newest[problem] = max(last, newest.get(problem, 0))
    known: dict[str, str] = {}
    ids = list(newest.values())
    for start in range(0, len(ids), PROBLEMS_AT_ONCE):
        chosen = Finding.objects.filter(pk__in=ids[start : start + PROBLEMS_AT_ONCE]).order_by()
        known |= {problem: category_of(cwe, problem) for problem, cwe in chosen.values_list("problem", "cwe")}
    categories: dict[int, set[str]] = defaultdict(set)
    for website, own in problems.items():
        categories[website] = {known.get(problem) or category_of([], problem) for problem in own}
    return categories


def _week(monday: date) -> dict[int, set[str]]:
    """Return whether findings of each website were found, and fixed, in a week."""
    begin = datetime.combine(monday, time.min, UTC)
    rows = Finding.objects.filter(severity__gt=0, kind=Kind.CONFIRMED).order_by()
    seen: dict[int, set[str]] = defaultdict(set)
    for name, column in (("found", "first_seen"), ("fixed", "fixed_at")):
        in_week = {f"{column}__gte": begin, f"{column}__lt": begin + timedelta(weeks=1)}
        for website in rows.filter(**in_week).values_list("website_id", flat=True).distinct():
            seen[website].add(name)
    return seen


def _days_to_fix(now: datetime) -> dict[int, dict[str, int]]:
    """Return the median days to fix by website and severity, of the findings that were fixed last."""
    fixed = Finding.objects.filter(
        status=Finding.Status.FIXED,
        kind=Kind.CONFIRMED,
        severity__in=PUBLIC_SEVERITY,
        fixed_at__gte=now - FIXED_WITHIN,
    )
    place = Window(
        RowNumber(), partition_by=["website_id", "severity"], order_by=[F("fixed_at").desc(), F("pk").desc()]
    )
    newest = fixed.annotate(place=place).filter(place__lte=MAX_FIXED).order_by()
    days: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for website, severity, first_seen, fixed_at in newest.values_list(
        "website_id", "severity", "first_seen", "fixed_at"
    ).iterator(chunk_size=5_000):
        days[website][PUBLIC_SEVERITY[Severity(severity)]].append(max((fixed_at - first_seen).days, 0))  # type: ignore[operator]  # not null, by the filter
    return {
        website: {name: median_low(numbers) for name, numbers in by_name.items()}
        for website, by_name in days.items()
    }
