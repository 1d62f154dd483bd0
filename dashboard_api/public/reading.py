"""Reads the websites that public telemetry counts."""

from collections import defaultdict
from dataclasses import replace
from datetime import datetime, timedelta

from django.conf import settings

from dashboard_api.models import Coverage, Entitlement, Finding, Kind, Publicity, Severity, SiteLink
from dashboard_api.public.categories import category_of
from dashboard_api.public.consent import rank, stricter
from dashboard_api.public.counting import CountedWebsite, Population
from dashboard_api.reading.grading import LETTERS, PROVISIONAL, WITHOUT_PAGES, level_of
from foundation.addresses.domains import registrable_domain
from foundation.texts.regions import WORLD, proposed_region

SCANNED_WITHIN = timedelta(days=30)
PUBLIC_SEVERITY: dict[int, str] = {
    Severity.CRITICAL: "High",
    Severity.HIGH: "High",
    Severity.MEDIUM: "Medium",
    Severity.LOW: "Low",
}
# Names for examples (RFC 2606): websites of the demo and the live sample have them.
_EXAMPLE_DOMAINS = ("example", "test", "invalid", "localhost", "example.com", "example.net", "example.org")


def counted_websites(now: datetime) -> list[CountedWebsite]:
    """Return the counted websites sorted by host, without their findings.

    If several accounts have a website, the strictest publicity counts, even of an account without a usable
    plan. If they disagree about the region, it is the world.
    """
    plans = Entitlement.objects.only(
        "account_id", "status", "starts_on", "ends_on", "renews", "past_due_since"
    )
    usable = {plan.account_id for plan in plans if plan.is_usable_on(now.date())}
    runs = Coverage.objects.filter(last_run_at__gte=now - SCANNED_WITHIN).order_by()
    scanned = set(runs.values_list("website_id", flat=True).distinct())
    links = SiteLink.objects.not_revoked().filter(
        website__verified_at__isnull=False, website__archived_at=None
    )
    # Account, publicity and region of each link, by id and host of the website
    wishes: dict[tuple[int, str], list[tuple[int, str, str]]] = defaultdict(list)
    values = ("website_id", "website__host", "account_id", "account__publicity", "publicity", "region")
    for number, host, account, of_account, own, region in links.order_by("website__host").values_list(
        *values
    ):
        wishes[number, host].append((account, stricter(of_account, own), region or proposed_region(host)))
    counted = []
    for (number, host), of_links in wishes.items():
        accounts = frozenset(account for account, _, _ in of_links if account in usable)
        publicity = min((each for _, each, _ in of_links), key=rank)
        regions = {region for _, _, region in of_links}
        if accounts and publicity != Publicity.NOTHING and number in scanned and _is_public(host):
            counted.append(
                CountedWebsite(
                    number=number,
                    host=host,
                    accounts=accounts,
                    region=regions.pop() if len(regions) == 1 else WORLD,
                    is_shown=publicity == Publicity.SHOWN,
                )
            )
    return counted


def with_findings(websites: Population) -> list[CountedWebsite]:
    """Return the websites with their grades, and the severities and categories of their open findings."""
    runs = Coverage.objects.filter(completed_at__isnull=False).exclude(source__slug__in=WITHOUT_PAGES)
    complete = set(runs.order_by().values_list("website_id", flat=True).distinct())
    levels: dict[int, int] = defaultdict(int)
    severities: dict[int, set[str]] = defaultdict(set)
    categories: dict[int, set[str]] = defaultdict(set)
    rows = Finding.objects.filter(status=Finding.Status.OPEN).order_by()
    values = rows.values_list("website_id", "kind", "severity", "problem", "cwe").distinct()
    for website, kind, severity, problem, cwe in values.iterator(chunk_size=5_000):
        level = level_of(severity, is_suspected=kind == Kind.SUSPECTED)
        levels[website] = max(levels[website], level)
        if kind == Kind.CONFIRMED and severity in PUBLIC_SEVERITY:
            severities[website].add(PUBLIC_SEVERITY[severity])
            categories[website].add(category_of(cwe, problem))

    def grade(number: int) -> str:
        letter = LETTERS[levels[number]]
        return letter if number in complete or letter in PROVISIONAL else ""

    return [
        replace(
            each,
            grade=grade(each.number),
            open=frozenset(severities[each.number]),
            categories=frozenset(categories[each.number]),
        )
        for each in websites
    ]


def _is_public(host: str) -> bool:
    """Return whether a host has a public domain name that is not an example."""
    if registrable_domain(host) is None:
        return False
    is_example = any(host == name or host.endswith(f".{name}") for name in _EXAMPLE_DOMAINS)
    return not is_example or bool(settings.PUBLIC_DEMO)
