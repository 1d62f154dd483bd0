"""Findings added in bulk: stored as the ORM stores them, with correct counts and search entries."""

from datetime import UTC, datetime

import pytest
from django.db import IntegrityError, connection, transaction

from dashboard_api.backends import verify
from dashboard_api.importing import bulk_insert
from dashboard_api.models import BulkLoad, DayCount, Finding, Occurrence, Revision
from dashboard_api.queries.search import SearchQuery, find_matches
from tests.factories import make_finding, make_new_finding, make_source, make_website

pytestmark = pytest.mark.django_db
ON_SQLITE = pytest.mark.skipif(
    "connection.vendor != 'sqlite'", reason="only on SQLite do triggers stand aside"
)
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


def found(site, word):
    return find_matches(SearchQuery(website_id=site.pk, words=[word]), limit=100).ids


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


def test_every_count_word_and_tag_is_true_at_once(site):
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
    assert verify.wrong_counts(connection) == {}
    assert DayCount.objects.get(website_id=site.pk, day=SEEN.date()).found == 7
    assert set(found(site, "uberlauf")) == set(
        site.findings.exclude(title="Old").values_list("pk", flat=True)
    )
    for where in (site, other):
        assert Revision.objects.get(website_id=where.pk).tag != tags.get(where.pk)


def test_what_was_added_can_be_changed_and_deleted(site):
    bulk_insert.add_findings(
        [make_new_finding(site, title=f"word{number}", severity=1) for number in range(3)]
    )
    first, second, third = site.findings.order_by("pk")
    site.findings.filter(pk=first.pk).update(title="renamed", severity=4)
    second.delete()
    assert verify.wrong_counts(connection) == {}
    assert (found(site, "renamed"), found(site, "word0"), found(site, "word1")) == ([first.pk], [], [])
    assert found(site, "word2") == [third.pk]


def test_nothing_is_added_of_findings_one_of_which_is_known(site):
    existing = make_finding(site)
    new = make_new_finding(site, source=existing.source, locations=["https://a"])
    again = make_new_finding(site, source=existing.source, fingerprint=existing.fingerprint)
    with pytest.raises(IntegrityError), transaction.atomic():
        bulk_insert.add_findings([new, again])
    assert (Finding.objects.get(), Occurrence.objects.count()) == (existing, 0)
    make_finding(site)
    assert verify.wrong_counts(connection) == {}


def test_ids_go_on_where_others_ended(site):
    bulk_insert.add_findings([make_new_finding(site), make_new_finding(site)])
    last = make_finding(site)
    bulk_insert.add_findings([make_new_finding(site, source=make_source("zap"))])
    assert list(site.findings.order_by("pk").values_list("source__slug", flat=True))[-1] == "zap"
    assert site.findings.order_by("pk").last().pk > last.pk


@ON_SQLITE
@pytest.mark.django_db(transaction=True)
def test_the_database_commits_nothing_while_its_triggers_stand_aside(site):
    def write_and_forget():
        with transaction.atomic():
            BulkLoad.objects.create(unfinished=0)
            make_finding(site)

    with pytest.raises(IntegrityError):
        write_and_forget()
    assert not BulkLoad.objects.exists()
    make_finding(site)
    assert site.pk not in verify.wrong_counts(connection)
