"""What is read of one finding: each statement is equal to its twin by the ORM."""

from datetime import UTC, datetime

import pytest
from django.db.models.functions import Left

from dashboard_api import policy
from dashboard_api.models import Finding, overview, reads, whole
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
    engines = overview.engines()
    names = [name for name in reads.Threat._fields if name not in ("pk", "source", "evidence_start")]
    for twin in Finding.objects.all():
        read = whole.finding(site.pk, twin.pk, {engine.pk: engine for engine in engines})
        assert [getattr(read.told, name) for name in names] == [getattr(twin, name) for name in names]
        assert read.told.evidence_start == twin.evidence
        assert (read.told.pk, read.told.source.slug) == (twin.pk, twin.source.slug)
        assert read.fixed_at == twin.fixed_at


def test_a_finding_of_another_website_is_not_read(site):
    other = make_finding(make_website("other.example.com"))
    assert whole.finding(site.pk, other.pk, {}) is None
    assert whole.finding(site.pk, 10**12, {}) is None


def test_places_are_the_first_of_the_finding_and_no_other(site, finding, monkeypatch):
    monkeypatch.setattr(policy, "MAX_LOCATIONS", 3)
    other = make_finding(site)
    for number in range(10):
        make_occurrence([finding, other][number % 2], evidence="é" * number * 700)
    make_occurrence(other, gone_at=THEN)
    finding.occurrences.filter(pk=finding.occurrences.first().pk).update(gone_at=THEN)
    twins = finding.occurrences.annotate(evidence_start=Left("evidence", policy.MAX_EVIDENCE_BYTES + 1))[:3]
    assert whole.places(finding.pk) == list(twins.values_list(*whole.Place._fields))
    assert len(whole.places(other.pk)) == 3


def test_steps_are_the_latest_of_the_finding_and_no_other_oldest_first(site, finding, monkeypatch):
    monkeypatch.setattr(policy, "MAX_TIMELINE", 2)
    for event in ("fixed", "regressed", "accepted_risk"):
        make_event(finding, event, at=THEN, reason=f"Because of {event}.")
    make_event(make_finding(site), "fixed")
    twins = finding.events.filter(event__in=["regressed", "accepted_risk"])
    assert whole.steps(finding.pk) == list(twins.values_list("at", "event", "reason"))
