"""A website with findings of every kind, and how the ORM reads what the product reads by SQL of its own."""

import itertools
from datetime import UTC, datetime, timedelta

from dashboard_api.models import Finding, Kind
from tests.factories import make_coverage, make_source, make_website

TODAY = datetime(2026, 3, 4, 15, 30, tzinfo=UTC)
STATUSES = Finding.Status.values
HOSTS = ("shop.example.com", "api.shop.example.com", "a_b.shop.example.com", "x-1.shop.example.com")
FILTERS = [
    dict(zip(("severity", "source", "kind"), values, strict=True))
    for values in itertools.product((None, 2), (None, "zap", "unknown"), (None, "suspected"))
]


def filtered(findings, *, severity=None, source=None, kind=None):
    """Return the findings that match the filters, by the ORM."""
    wanted = {"severity": severity, "source__slug": source, "kind": kind}
    return findings.filter(**{name: value for name, value in wanted.items() if value is not None})


def make_varied_website():
    """Findings of all kinds, far apart in time, and as many of another website between them."""
    site, other = make_website(), make_website("other.example.com")
    sources = [make_source(slug) for slug in ("nuclei", "zap", "Burp")]
    for source in sources:
        make_coverage(other, source=source)
    findings = []
    for number in range(600):
        status = STATUSES[(number // 7) % 4] if number % 3 else "open"
        found = TODAY - timedelta(hours=7 * (600 - number))
        finding = Finding(
            website=other if number % 5 == 0 else site,
            source=sources[(number * number) % 3],
            fingerprint=f"{number}",
            severity=(number * number // 3) % 5,
            kind=Kind.values[number % 7 % 3],
            status=status,
            title=f"Finding {number}",
            rule=f"rule-{number % 11}" if number % 13 else "",
            location=f"https://{HOSTS[number % 17 % 4]}/{number}" if number % 19 else "",
            locations_count=number % 4,
            evidence="é" * (number * 11),
            references=[f"https://example.com/{number}"],
            cwe=[number],
            cve=["CVE-2026-0001"] if number % 2 else [],
            first_seen=found,
            last_seen=TODAY,
            fixed_at=found + timedelta(days=number % 40) if status == "fixed" else None,
        )
        findings.append(finding)
    Finding.objects.bulk_create(findings)
    return site
