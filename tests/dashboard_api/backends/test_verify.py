"""Counts of findings: correct whatever changes the findings; verify_counts checks and repairs them."""

import os
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta

import pytest
from django.conf import settings
from django.db import connection

from dashboard_api.backends import triggers, verify
from dashboard_api.models import BucketCount, DayCount, Finding, Kind, Severity, WeekCount
from tests.databases import url_of
from tests.factories import make_finding, make_source, make_website

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)  # a Wednesday


@pytest.fixture
def site():
    return make_website()


def cells(model):
    """Every count as a plain row, without its key as such."""
    names = [field.name for field in model._meta.fields if field.name != "pk"]
    return sorted(model.objects.values_list(*names))


def test_a_finding_counts_where_it_is_and_when_it_was_found_and_fixed(site):
    source = make_source()
    make_finding(
        site,
        source=source,
        severity=Severity.HIGH,
        kind=Kind.CONFIRMED,
        status="fixed",
        first_seen=NOON - timedelta(days=9),
        last_seen=NOON,
        fixed_at=NOON,
    )
    assert cells(BucketCount) == [(site.pk, "fixed", source.pk, 3, "confirmed", 1)]
    assert cells(WeekCount) == [
        (site.pk, date(2026, 2, 23), source.pk, 3, "confirmed", 1, 0),
        (site.pk, date(2026, 3, 2), source.pk, 3, "confirmed", 0, 1),
    ]
    assert cells(DayCount) == [(site.pk, date(2026, 2, 23), 1, 0, 0), (site.pk, date(2026, 3, 4), 0, 1, 0)]


@pytest.mark.parametrize(("day", "monday"), [(1, 23), (2, 2), (8, 2), (9, 9)])
def test_weeks_begin_on_monday(site, day, monday):
    make_finding(site, first_seen=datetime(2026, 3, day, 23, 59, 59, 999_999, tzinfo=UTC))
    assert {week.day for week in WeekCount.objects.values_list("week", flat=True)} == {monday}


def test_nothing_is_left_of_the_last_finding(site):
    make_finding(site)
    make_finding(site, status="fixed", fixed_at=NOON)
    site.delete()
    for model in (BucketCount, WeekCount, DayCount):
        assert cells(model) == []


def test_bulk_writers_are_counted(site):
    Finding.objects.bulk_create(
        [
            Finding(
                website=site, source=make_source(), fingerprint=f"{number}", severity=1, kind=Kind.SUSPECTED
            )
            for number in range(5)
        ]
    )
    Finding.objects.filter(fingerprint__in="01").update(severity=4)
    moved = list(Finding.objects.filter(fingerprint__in="12"))
    for finding in moved:
        finding.kind = Kind.CONFIRMED
    Finding.objects.bulk_update(moved, ["kind"])
    Finding.objects.filter(fingerprint="4").delete()
    assert sorted(BucketCount.objects.values_list("severity", "kind", "findings")) == [
        (1, "confirmed", 1), (1, "suspected", 1), (4, "confirmed", 1), (4, "suspected", 1),
    ]  # fmt: skip
    assert verify.wrong_counts(connection) == {}


def test_one_statement_can_insert_and_update(site):
    kept = make_finding(site, severity=1)
    rows = [
        Finding(website=site, source=kept.source, fingerprint=fingerprint, severity=4, kind=kept.kind)
        for fingerprint in (kept.fingerprint, "new")
    ]
    Finding.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["website", "source", "fingerprint"],
        update_fields=["severity"],
    )
    assert list(BucketCount.objects.values_list("severity", "findings")) == [(4, 2)]
    assert verify.wrong_counts(connection) == {}


def test_findings_that_conflict_and_are_left_out_are_not_counted(site):
    kept = make_finding(site)
    again = Finding(
        website=site, source=kept.source, fingerprint=kept.fingerprint, severity=4, kind=kept.kind
    )
    Finding.objects.bulk_create([again], ignore_conflicts=True)
    assert BucketCount.objects.get().findings == 1
    assert verify.wrong_counts(connection) == {}


def test_wrong_counts_are_listed_by_website_and_repaired_for_it_alone(site):
    make_finding(site)
    other = make_website("other.example.com")
    make_finding(other)
    BucketCount.objects.filter(website_id=site.pk).update(findings=7)
    DayCount.objects.filter(website_id=site.pk).delete()
    assert verify.wrong_counts(connection) == {site.pk: 2}
    verify.recount(connection, other.pk)
    assert verify.wrong_counts(connection) == {site.pk: 2}
    verify.recount(connection, site.pk)
    assert verify.wrong_counts(connection) == {}


def test_what_changed_while_nothing_counted_is_counted_by_the_next_migrate(site):
    triggers.remove(connection)
    make_finding(site)
    assert verify.wrong_counts(connection)
    triggers.install(connection)
    assert verify.wrong_counts(connection) == {}
    make_finding(site)
    assert BucketCount.objects.get().findings == 2


def test_triggers_that_say_what_is_wanted_are_left_alone(site, django_assert_num_queries):
    with django_assert_num_queries(4):  # a savepoint, and a look at each set
        triggers.install(connection)


@pytest.mark.django_db(transaction=True)
def test_an_import_that_is_killed_in_the_middle_leaves_the_old_counts():
    site = make_website()
    make_finding(site)
    before = cells(BucketCount), cells(WeekCount), cells(DayCount)
    importing = subprocess.Popen(
        [sys.executable, "-m", "tests.dashboard_api.importing.crash", site.host],
        env=os.environ | {"DATABASE_URL": url_of(connection), "DJANGO_SETTINGS_MODULE": "tests.settings"},
        cwd=settings.BASE_DIR,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert importing.stdout.readline() == "in the middle\n"
    finally:
        importing.kill()
        importing.communicate()
    assert (cells(BucketCount), cells(WeekCount), cells(DayCount)) == before
    assert site.pk not in verify.wrong_counts(connection)  # what a flush leaves is not ours
    assert Finding.objects.count() == 1
    make_finding(site)  # and nobody waits for the dead
    assert site.pk not in verify.wrong_counts(connection)
