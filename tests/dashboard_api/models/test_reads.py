"""Each statement of an answer gives what its twin by the ORM gives; and pages are those of a plain list."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import Count, Max, Min, Q
from django.db.models.functions import Left, TruncWeek

from dashboard_api import listed, policy
from dashboard_api.contract import DashboardQuestion
from dashboard_api.models import AnalystNote, BucketCount, Coverage, Finding, Kind, Severity, Source, reads
from dashboard_api.tally import Tally
from tests.factories import (
    make_account,
    make_coverage,
    make_link,
    make_note,
    make_source,
    make_website,
)

pytestmark = pytest.mark.django_db
TODAY = datetime(2026, 3, 4, 15, 30, tzinfo=UTC)
STATUSES = Finding.Status.values


@pytest.fixture
def site():
    """Findings of all kinds, far apart in time and in ids, and as many of another website between them."""
    site, other = make_website(), make_website("other.example.com")
    sources = [make_source(slug) for slug in ("nuclei", "zap", "Burp")]
    for source in sources:
        make_coverage(other, source=source)
    findings = []
    for number in range(600):
        status = STATUSES[(number // 7) % 4] if number % 3 else "open"
        found = TODAY - timedelta(hours=7 * (600 - number))
        finding = Finding(
            id=number * 400 + 1,  # over some stretches of ids
            website=other if number % 5 == 0 else site,
            source=sources[(number * number) % 3],
            fingerprint=f"{number}",
            severity=(number * number // 3) % 5,
            kind=Kind.values[number % 7 % 3],
            status=status,
            title=f"Finding {number}",
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


def test_engines_come_by_name_with_their_runs_on_the_website(site):
    make_source("zzz", name="aaa", enabled=False, interval_days=3)
    make_coverage(site, source=make_source("zap"), urls_checked=7, detail="so", completed_at=None)
    make_coverage(site, source=make_source("nuclei"))
    engines, runs = reads.engines(site.pk)
    twins = Source.objects.all()
    assert engines == [
        (source.pk, source.slug, source.name, source.enabled, source.interval_days)
        for source in sorted(twins, key=lambda source: (source.name.lower(), source.slug))
    ]
    names = reads.Run._fields
    assert sorted(runs) == sorted(Coverage.objects.filter(website=site).values_list(*names))


@pytest.mark.parametrize("statuses", [["open"], ["fixed", "open"], STATUSES])
def test_buckets_count_the_findings_of_a_website(site, statuses):
    twin = (
        site.findings.filter(status__in=statuses)
        .order_by()
        .values_list("status", "severity", "source_id", "kind")
        .annotate(findings=Count("*"))
    )
    buckets, _ = reads.buckets(site.pk, statuses)
    assert sorted(buckets) == sorted(twin)
    assert BucketCount.objects.filter(website_id=site.pk).exists()


FILTERS = [
    dict(zip(("severity", "source", "kind"), values, strict=True))
    for values in itertools.product((None, 2), (None, "zap", "unknown"), (None, "suspected"))
]


def filtered(findings, *, severity=None, source=None, kind=None):
    """As the ORM filters."""
    wanted = {"severity": severity, "source__slug": source, "kind": kind}
    return findings.filter(**{name: value for name, value in wanted.items() if value is not None})


@pytest.mark.parametrize("filters", FILTERS)
def test_every_status_is_counted_under_the_filters(site, filters):
    twin = filtered(site.findings, **filters).order_by().values_list("status").annotate(findings=Count("*"))
    slugs = dict(Source.objects.values_list("slug", "pk"))
    source_id = slugs.get(filters["source"], reads.NO_SOURCE) if filters["source"] else None
    wanted = {"severity": filters["severity"], "source_id": source_id, "kind": filters["kind"]}
    _, by_status = reads.buckets(site.pk, ["open"], **wanted)
    assert by_status == dict(twin)


@pytest.mark.parametrize("filters", FILTERS)
def test_weeks_count_what_was_found_and_fixed_whatever_its_status(site, filters):
    since = (TODAY - timedelta(weeks=12, days=TODAY.weekday())).date()
    midnight = datetime.combine(since, datetime.min.time(), tzinfo=UTC)
    twins = [
        dict(
            filtered(site.findings, **filters)
            .filter(**{f"{field}__gte": midnight})
            .order_by()
            .values_list(TruncWeek(field, tzinfo=UTC))
            .annotate(count=Count("*"))
        )
        for field in ("first_seen", "fixed_at")
    ]
    found, fixed = ({week.date(): count for week, count in twin.items()} for twin in twins)
    slugs = dict(Source.objects.values_list("slug", "pk"))
    source_id = slugs.get(filters["source"], reads.NO_SOURCE) if filters["source"] else None
    weeks = reads.weeks(
        site.pk, since, severity=filters["severity"], source_id=source_id, kind=filters["kind"]
    )
    assert {week: count for week, (count, _) in weeks.items() if count} == found
    assert {week: count for week, (_, count) in weeks.items() if count} == fixed


def test_recent_counts_whole_days_and_knows_the_oldest_and_the_newest_that_are_open(site):
    by_age = site.findings.filter(status="open").order_by("first_seen")
    by_age.first().delete()
    by_age.last().delete()
    since = TODAY.date() - timedelta(days=6)
    midnight = datetime.combine(since, datetime.min.time(), tzinfo=UTC)
    twin = site.findings.aggregate(
        found=Count("pk", filter=Q(first_seen__gte=midnight)),
        fixed=Count("pk", filter=Q(fixed_at__gte=midnight)),
        oldest=Min("first_seen", filter=Q(status="open")),
        newest=Max("first_seen", filter=Q(status="open")),
    )
    recent = reads.recent(site.pk, since)
    assert recent == (twin["found"], twin["fixed"], twin["oldest"].date(), twin["newest"].date())
    assert recent.found
    assert recent.fixed


def test_recent_of_a_website_without_findings_is_nothing():
    assert reads.recent(make_website().pk, TODAY.date()) == (0, 0, None, None)


def page_of(site, **fields):
    question = DashboardQuestion(
        host=site.host,
        link_id="",
        portal_account_ref="",
        **fields,
    )
    engines, _ = reads.engines(site.pk)
    slugs = {engine.slug: engine.pk for engine in engines}
    source_id = slugs.get(question.source, reads.NO_SOURCE) if question.source else None
    statuses = STATUSES if question.status == "all" else [question.status]
    buckets, _ = reads.buckets(site.pk, statuses)
    by_id = {engine.pk: engine for engine in engines}
    tally = Tally((severity, by_id[source].slug, kind, n) for _, severity, source, kind, n in buckets)
    page = listed.Listed(site.pk, question, source_id, buckets, tally).page()
    return [row.pk for row in reads.threats(page, by_id)]


@pytest.mark.parametrize(("status", "deep"), [("open", 0), ("open", 500), ("fixed", 10), ("all", 10)])
@pytest.mark.parametrize("filters", FILTERS)
def test_every_page_is_that_of_a_plain_list(site, monkeypatch, filters, status, deep):
    monkeypatch.setattr(listed, "DEEP", deep)
    filters = dict(filters)
    twin = filtered(site.findings.with_status(status), **filters).worst_first()
    keys = list(twin.values_list("pk", flat=True))
    if filters["severity"] is not None:
        filters["severity"] = Severity(filters["severity"])
    for page in range(1, len(keys) // 37 + 3):
        shown = page_of(site, status=status, page=page, page_size=37, **filters)
        assert shown == keys[(page - 1) * 37 : page * 37]


def test_threats_are_read_as_they_are_shown(site):
    engines, _ = reads.engines(site.pk)
    keys = list(site.findings.values_list("pk", flat=True)[:25])
    names = [name for name in reads.Threat._fields if name not in ("pk", "source", "evidence_start")]
    twins = (
        Finding.objects.filter(pk__in=keys)
        .worst_first()
        .annotate(evidence_start=Left("evidence", policy.MAX_EVIDENCE_BYTES + 1))
    )
    read = reads.threats(keys, {engine.pk: engine for engine in engines})
    assert [row.pk for row in read] == [twin.pk for twin in twins]
    for row, twin in zip(read, twins, strict=True):
        assert [getattr(row, name) for name in names] == [getattr(twin, name) for name in names]
        assert row.evidence_start == twin.evidence_start
        assert row.source.slug == twin.source.slug
    assert reads.threats([], {}) == []


def test_notes_about_a_finding_are_those_of_the_website_about_it(site):
    link = make_link(website=site)
    first, second = site.findings.all()[:2]
    for number in range(6):
        make_note(site, body=f"{number}", finding=[None, first, second][number % 3], is_internal=number == 1)
    read = reads.notes(site.pk, link.account_id, finding_id=first.pk)
    assert [note.body for note in read] == ["4"]
    assert {note.finding_id for note in read} == {first.pk}


def test_notes_are_the_newest_that_may_leave(monkeypatch):
    monkeypatch.setattr(policy, "MAX_NOTES", 3)
    link = make_link()
    other = make_account("acct_0002", secrets=[])
    for number in range(8):
        account = [None, link.account, other][number % 3]
        make_note(link.website, body=f"{number}", account=account, is_internal=number == 6)
    twin = AnalystNote.objects.filter(website=link.website).visible_to(link.account_id)[:3]
    read = reads.notes(link.website_id, link.account_id)
    assert read == list(twin.values_list(*(name.replace("pk", "id") for name in reads.Note._fields)))
    assert len(read) == 3
