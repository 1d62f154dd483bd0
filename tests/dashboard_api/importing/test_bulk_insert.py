"""Findings added in bulk: stored as the ORM stores them, with their words."""

from datetime import UTC, datetime

import pytest
from django.db import IntegrityError, transaction

from dashboard_api.importing import bulk_insert
from dashboard_api.models import Finding, Occurrence, Revision
from dashboard_api.models.words import words_of_finding
from tests.factories import make_finding, make_new_finding, make_source, make_website

pytestmark = pytest.mark.django_db
SEEN = datetime(2026, 3, 4, 23, 59, 59, 999_999, tzinfo=UTC)
FIELDS = {
    "severity": 3,
    "severity_raw": "high",
    "kind": "suspected",
    "title": "Überlauf",
    "description": "Longer than a title",
    "remediation": "Update",
    "rule": "overflow",
    "evidence": "HTTP/1.1 200 OK",
}


@pytest.fixture
def site():
    return make_website()


def columns(finding):
    left_out = {"id", "fingerprint"}
    return {
        field.name: getattr(finding, field.attname)
        for field in Finding._meta.concrete_fields
        if field.name not in left_out
    }


def test_a_finding_is_stored_as_the_orm_stores_it(site):
    saved = make_finding(
        site,
        **FIELDS,
        references=["https://example.com"],
        cwe=[79],
        cve=["CVE-2020-11022"],
        location="https://a",
        other_locations="https://b",
        locations_count=2,
        first_seen=SEEN,
        last_seen=SEEN,
    )
    lists = {"references": '["https://example.com"]', "cwe": "[79]", "cve": '["CVE-2020-11022"]'}
    bulk_insert.add_findings(
        [make_new_finding(site, **FIELDS, **lists, locations=["https://a", "https://b"], seen=SEEN)]
    )
    added = Finding.objects.exclude(pk=saved.pk).get()
    assert columns(added) == columns(Finding.objects.get(pk=saved.pk))
    assert list(added.occurrences.values_list("location", "first_seen")) == [
        ("https://a", SEEN), ("https://b", SEEN),
    ]  # fmt: skip


def test_known_are_those_of_the_website_and_source_alone(site):
    source, other = make_source("nuclei"), make_source("zap")
    existing = [make_finding(site, source=source, fingerprint=letter * 64) for letter in "ac"]
    make_finding(site, source=other, fingerprint="b" * 64)
    make_finding(make_website("other.example.com"), source=source, fingerprint="b" * 64)
    fingerprints = [letter * 64 for letter in "abcd"]
    assert sorted(bulk_insert.ids_of(site.pk, source.pk, fingerprints)) == [
        finding.pk for finding in existing
    ]
    assert bulk_insert.ids_of(site.pk, source.pk, []) == []


def test_every_word_and_tag_is_true_at_once(site):
    other = make_website("other.example.com")
    make_finding(site, title="Old")
    tags = dict(Revision.objects.values_list("website_id", "tag"))
    bulk_insert.add_findings(
        [
            make_new_finding(where, severity=number % 5, title=f"Überlauf {number}", seen=SEEN)
            for where in (site, other)
            for number in range(7)
        ]
    )
    added = site.findings.exclude(title="Old")
    assert {finding.words for finding in added} == {words_of_finding(finding) for finding in added}
    assert site.findings.filter(words__contains=" uberlauf ").count() == 7
    for where in (site, other):
        assert Revision.objects.get(website_id=where.pk).tag != tags.get(where.pk)


def test_nothing_is_added_of_findings_one_of_which_is_known(site):
    existing = make_finding(site)
    new = make_new_finding(site, source=existing.source, locations=["https://a"])
    again = make_new_finding(site, source=existing.source, fingerprint=existing.fingerprint)
    with pytest.raises(IntegrityError), transaction.atomic():
        bulk_insert.add_findings([new, again])
    assert (Finding.objects.get(), Occurrence.objects.count()) == (existing, 0)


def test_ids_go_on_where_others_ended(site):
    bulk_insert.add_findings([make_new_finding(site), make_new_finding(site)])
    last = make_finding(site)
    bulk_insert.add_findings([make_new_finding(site, source=make_source("zap"))])
    assert list(site.findings.order_by("pk").values_list("source__slug", flat=True))[-1] == "zap"
    assert site.findings.order_by("pk").last().pk > last.pk
