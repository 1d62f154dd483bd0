"""Statements about one finding: each equals its ORM twin."""

from datetime import UTC, datetime

import pytest
from django.db.models.functions import Left

from dashboard_api import limits
from dashboard_api.models import Finding
from dashboard_api.queries import finding_detail, overview, threats
from signed_api import limits as contract_limits
from tests.factories import make_event, make_finding, make_occurrence, make_source, make_website

pytestmark = pytest.mark.django_db
THEN = datetime(2026, 3, 4, 12, 30, 0, 5, tzinfo=UTC)


@pytest.fixture
def site():
    return make_website()


@pytest.fixture
def finding(site):
    return make_finding(site, evidence="é" * 5_000, cwe=[79], references=["https://example.com/"])


def test_a_finding_is_read_as_it_is_shown(site, finding):
    make_finding(site, source=make_source("zap"), status="fixed", fixed_at=THEN)
    make_finding(site, kind="confirmed", source_kind="suspected")
    engines, _ = overview.sources(site.pk)
    names = [name for name in threats.Threat._fields if name not in ("pk", "source", "evidence_start")]
    for twin in Finding.objects.all():
        read = finding_detail.finding(site.pk, twin.pk, {engine.pk: engine for engine in engines})
        assert [getattr(read.row, name) for name in names] == [getattr(twin, name) for name in names]
        assert read.row.evidence_start == twin.evidence
        assert (read.row.pk, read.row.source.slug) == (twin.pk, twin.source.slug)
        assert read.fixed_at == twin.fixed_at


def test_a_finding_of_another_website_is_not_read(site):
    other = make_finding(make_website("other.example.com"))
    assert finding_detail.finding(site.pk, other.pk, {}) is None
    assert finding_detail.finding(site.pk, 10**12, {}) is None


def test_places_are_the_first_where_it_still_is_then_those_where_it_is_gone(site, finding, monkeypatch):
    monkeypatch.setattr(contract_limits, "MAX_LOCATIONS", 3)
    other = make_finding(site)
    for number in range(10):
        make_occurrence([finding, other][number % 2], evidence="é" * number * 700)
    make_occurrence(other, gone_at=THEN)
    first, *rest = finding.occurrences.values_list("pk", flat=True)
    of_finding = finding.occurrences.annotate(evidence_start=Left("evidence", limits.MAX_EVIDENCE_BYTES + 1))
    for gone, shown in ([first], rest[:3]), ([first, *rest[1:]], [rest[0], first, rest[1]]):
        finding.occurrences.update(gone_at=None)
        finding.occurrences.filter(pk__in=gone).update(gone_at=THEN)
        twins = of_finding.in_bulk(shown)
        fields = finding_detail.OccurrenceRow._fields
        expected = [tuple(getattr(twins[pk], name) for name in fields) for pk in shown]
        assert finding_detail.occurrences(finding.pk) == expected
    assert len(finding_detail.occurrences(other.pk)) == 3


def test_steps_are_the_latest_of_the_finding_and_no_other_oldest_first(site, finding, monkeypatch):
    monkeypatch.setattr(limits, "MAX_TIMELINE", 2)
    for event in ("fixed", "regressed", "accepted_risk"):
        make_event(finding, event, at=THEN, reason=f"Because of {event}.")
    make_event(make_finding(site), "fixed")
    twins = finding.events.filter(event__in=["regressed", "accepted_risk"])
    assert finding_detail.events(finding.pk) == list(twins.values_list("at", "event", "reason"))


def test_sources_are_those_with_open_findings_of_the_problems(site, finding):
    zap = make_finding(site, source=make_source("zap"))
    make_finding(site, source=make_source("nikto"), status="fixed", fixed_at=THEN)
    make_finding(make_website("other.example.com"), source=make_source("wapiti"))
    Finding.objects.exclude(pk=zap.pk).update(problem=finding.problem)
    for keys in ([], [finding.problem], [finding.problem, zap.problem]):
        twins = site.findings.filter(problem__in=keys, status="open").values_list("source_id", flat=True)
        assert finding_detail.sources_of(site.pk, keys) == set(twins)
