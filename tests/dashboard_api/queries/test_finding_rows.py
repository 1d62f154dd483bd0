"""Pages are those of a plain list, and each finding on them as it is stored."""

from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import Count
from django.db.models.functions import Left

from dashboard_api import limits
from dashboard_api.contract import DashboardRequest
from dashboard_api.models import BucketCount, Finding, Source
from dashboard_api.queries import finding_rows
from dashboard_api.queries.finding_rows import Period
from dashboard_api.queries.overview import Bucket, SourceRow
from dashboard_api.reading import dashboard, listing
from dashboard_api.reading.facet_counts import FacetCounts
from tests.dashboard_api.queries.varied import FILTERS, TODAY, filtered, make_varied_website

pytestmark = pytest.mark.django_db


@pytest.fixture
def site():
    """Findings of every status, severity, source and kind."""
    return make_varied_website()


def engines():
    names = ("pk", "slug", "name", "enabled", "interval_days")
    return {row[0]: SourceRow._make(row) for row in Source.objects.values_list(*names)}


def page_of(site, **fields):
    question = DashboardRequest(
        host=site.host,
        link_id="",
        portal_account_ref="",
        **fields,
    )
    by_id = engines()
    buckets = [
        Bucket(row.status, row.severity, row.source_id, row.kind, row.findings)
        for row in BucketCount.objects.filter(website_id=site.pk)
        if question.status in (row.status, "all")
    ]
    filters = dashboard._filters(question, by_id.values())
    shown = listing.Listing(site.pk, question, filters, buckets, FacetCounts.of(buckets)).page(by_id)
    return [row.pk for row in shown]


@pytest.mark.parametrize("status", ["open", "fixed", "all"])
@pytest.mark.parametrize("filters", FILTERS)
def test_every_page_is_that_of_a_plain_list(site, filters, status):
    filters = dict(filters)
    twin = filtered(site.findings.with_status(status), **filters).worst_first()
    keys = list(twin.values_list("pk", flat=True))
    filters = {name: (value,) for name, value in filters.items() if value is not None}
    for page in range(1, len(keys) // 37 + 3):
        shown = page_of(site, status=status, page=page, page_size=37, **filters)
        assert shown == keys[(page - 1) * 37 : page * 37]


@pytest.mark.parametrize("sort", ["worst", "newest", "oldest"])
def test_a_merged_page_is_that_of_parts_read_one_by_one(site, sort, monkeypatch):
    fields = {"status": "all", "sort": sort, "kind": ("suspected",), "page": 2}
    one_by_one = page_of(site, **fields)
    monkeypatch.setattr(finding_rows, "_IDS_IN_TIME_OF_A_PLAN", 0)
    assert page_of(site, **fields) == one_by_one != []
    monkeypatch.setitem(finding_rows._MOST_PARTS, connection.vendor, 1)
    assert page_of(site, **fields) == one_by_one


def test_threats_are_read_as_they_are_shown(site):
    keys = list(site.findings.values_list("pk", flat=True)[:25])
    names = [name for name in finding_rows.Threat._fields if name not in ("pk", "source", "evidence_start")]
    twins = (
        Finding.objects.filter(pk__in=keys)
        .worst_first()
        .annotate(evidence_start=Left("evidence", limits.MAX_EVIDENCE_BYTES + 1))
    )
    read = finding_rows.threats(keys, engines())
    assert [row.pk for row in read] == [twin.pk for twin in twins]
    for row, twin in zip(read, twins, strict=True):
        assert [getattr(row, name) for name in names] == [getattr(twin, name) for name in names]
        assert row.evidence_start == twin.evidence_start
        assert row.source.slug == twin.source.slug
    assert finding_rows.threats([], {}) == []


def test_findings_are_counted_by_what_filters_tell_apart(site):
    keys = list(site.findings.values_list("pk", flat=True)[:200])
    columns = ("severity", "source_id", "kind")
    twin = Finding.objects.filter(pk__in=keys).order_by().values_list(*columns, "host")
    counted = twin.annotate(findings=Count("*")).values_list(*columns, "findings", "host")
    assert sorted(finding_rows.buckets_of(keys)) == sorted(counted)
    assert finding_rows.buckets_of([]) == []


@pytest.mark.parametrize("most_parts", [1, 100], ids=["in one part", "in parts"])
@pytest.mark.parametrize("limit", [1, 7, 50, 1_000])
@pytest.mark.parametrize(
    ("sort", "order"),
    [("worst", ("-severity", "-pk")), ("newest", ("-pk",)), ("oldest", ("pk",))],
)
def test_recent_findings_are_the_first_of_their_order(site, sort, order, limit, most_parts, monkeypatch):
    monkeypatch.setitem(finding_rows._MOST_PARTS, connection.vendor, most_parts)
    buckets = [
        Bucket(row.status, row.severity, row.source_id, row.kind, row.findings)
        for row in BucketCount.objects.filter(website_id=site.pk, status="open")
    ]
    since = TODAY - timedelta(days=60)
    found = finding_rows.recent(
        site.pk, buckets, Period(0, since), by=["status", "severity"], limit=limit, sort=sort
    )
    twin = site.findings.filter(status="open", first_seen__gte=since).order_by(*order)
    assert [row[0] for row in found] == list(twin.values_list("pk", flat=True)[:limit])
