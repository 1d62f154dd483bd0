"""Every format's sample, through the import into the database."""

import json
from datetime import UTC, datetime

import pytest

from dashboard_api.importing.service import RefusedReport
from dashboard_api.models import Coverage, Finding, Occurrence
from dashboard_api.scanners import READERS
from tests.dashboard_api.importing.reports import import_bytes
from tests.dashboard_api.scanners.samples import SAMPLES, make_result, make_sarif
from tests.factories import make_website

pytestmark = pytest.mark.django_db
every_format = pytest.mark.parametrize("name", READERS)
NOW = datetime(2026, 3, 2, tzinfo=UTC)


def import_sample(website, data):
    return import_bytes(data, website, scanned_at=NOW, base_url=f"https://{website.host}/")


def stored():
    findings = Finding.objects.order_by("fingerprint")
    return list(findings.values_list("fingerprint", "title", "severity", "location", "evidence", "last_seen"))


@every_format
def test_every_row_is_accounted_for(name):
    result = import_sample(make_website(), SAMPLES[name])
    piles = (result.findings, result.occurrences, result.coverage, result.rejected)
    assert sum(piles) == result.rows > 0
    assert result.new == result.findings == Finding.objects.count() > 0
    assert result.rejected == 0


@every_format
def test_importing_twice_is_importing_once(name):
    website = make_website()
    first = import_sample(website, SAMPLES[name])
    before, occurrences = stored(), Occurrence.objects.count()
    again = import_sample(website, SAMPLES[name])
    assert (again.new, again.updated, again.fixed) == (0, first.findings, 0)
    assert (stored(), Occurrence.objects.count()) == (before, occurrences)


@every_format
def test_report_of_another_website_is_refused(name):
    other = make_website(host="other.example.com")
    with pytest.raises(RefusedReport, match="rejected"):
        import_bytes(SAMPLES[name], other)
    assert not Finding.objects.exists()


def bring_results(website, *results, day):
    """Import a complete SARIF report of that day."""
    document = make_sarif(*results, invocations=[{"executionSuccessful": True}])
    at = datetime(2026, 3, day, tzinfo=UTC)
    data = json.dumps(document).encode()
    return import_bytes(data, website, scanned_at=at, base_url=f"https://{website.host}/")


def result_in(name, **members):
    return make_result(locations=[{"physicalLocation": {"artifactLocation": {"uri": name}}}], **members)


def test_tool_that_begins_to_write_fingerprints_neither_closes_nor_opens_findings():
    website = make_website()
    bring_results(website, result_in("a.c"), result_in("b.c"), day=1)
    (before,) = Finding.objects.all()
    for day in (2, 3):
        result = bring_results(
            website,
            result_in("a.c", fingerprints={"h": "1"}),
            result_in("b.c", fingerprints={"h": "2"}),
            day=day,
        )
        assert (result.new, result.updated, result.fixed) == (0, 1, 0)
        assert (result.findings, result.occurrences, result.rows) == (1, 1, 2)
    (after,) = Finding.objects.all()
    assert (after.pk, after.status, after.locations_count) == (before.pk, Finding.Status.OPEN, 2)


def test_fingerprints_that_were_there_from_the_start_tell_findings_apart():
    website = make_website()
    results = [result_in(f"{name}.c", fingerprints={"h": name}) for name in "ab"]
    assert bring_results(website, *results, day=1).new == 2
    assert bring_results(website, *results, day=2).updated == 2


def test_older_form_that_another_website_knows_is_not_taken():
    bring_results(make_website(), result_in("a.c"), day=1)
    other = make_website(host="other.example.com")
    bring_results(other, result_in("a.c", fingerprints={"h": "1"}), day=2)
    assert len(set(Finding.objects.values_list("fingerprint", flat=True))) == 2


def test_suppressed_results_are_counted_and_named_and_do_not_make_a_scan_partial():
    website = make_website()
    suppressed = result_in("a.c", suppressions=[{"kind": "external"}])
    result = bring_results(website, suppressed, result_in("b.c"), day=1)
    assert (result.rows, result.findings, result.coverage, result.suppressed) == (2, 1, 1, 1)
    assert [(each.row, each.reason) for each in result.suppressions] == [
        (1, "is suppressed in the report: open-redirect at ./a.c")
    ]
    assert (result.state, result.detail) == (Coverage.State.OK, "Suppressed: 1.")


@pytest.mark.parametrize("fingerprints", [{}, {"h": "1"}])
def test_a_result_that_becomes_suppressed_is_not_called_fixed(fingerprints):
    website = make_website()
    other = result_in("b.c", fingerprints={"h": "2"})
    bring_results(website, result_in("a.c", fingerprints=fingerprints), other, day=1)
    suppressed = result_in("a.c", fingerprints=fingerprints, suppressions=[{"kind": "inSource"}])
    result = bring_results(website, suppressed, other, day=2)
    assert (result.suppressed, result.fixed) == (1, 0)
    assert bring_results(website, other, day=3).fixed == 1


def test_every_location_of_a_result_is_a_place_of_its_finding():
    website = make_website()
    locations = [{"physicalLocation": {"artifactLocation": {"uri": name}}} for name in ("a.c", "b.c")]
    result = bring_results(website, make_result(locations=locations), day=1)
    assert (result.rows, result.findings, result.occurrences) == (2, 1, 1)
    assert set(Occurrence.objects.values_list("location", flat=True)) == {
        f"https://{website.host}/a.c",
        f"https://{website.host}/b.c",
    }


@pytest.mark.parametrize("fingerprints", [{}, {"h": "1"}])
def test_a_result_in_a_file_outside_of_every_source_root_is_not_called_fixed(fingerprints):
    website = make_website()
    other = result_in("b.c", fingerprints={"h": "2"})
    third = result_in("c.c", fingerprints={"h": "3"})
    bring_results(website, result_in("a.c", fingerprints=fingerprints), other, third, day=1)
    for members in ({}, {"suppressions": [{"kind": "inSource"}]}):
        listed = result_in("file:///srv/a.c", fingerprints=fingerprints, **members)
        result = bring_results(website, listed, other, third, day=2)
        assert (result.state, result.fixed) == (Coverage.State.PARTIAL, 0)
    # What the report does not list at all is gone, although it is partial.
    assert bring_results(website, listed, other, day=3).fixed == 1


@pytest.mark.parametrize("members", [{}, {"suppressions": [{"kind": "inSource"}]}])
def test_a_finding_with_a_result_at_an_unclear_location_loses_no_location(members):
    website = make_website()
    bring_results(website, result_in("a.c"), result_in("b.c"), day=1)
    bring_results(website, result_in("a.c"), result_in("file:///srv/b.c", **members), day=2)
    assert Finding.objects.get().locations_count == 2
    assert Occurrence.objects.filter(gone_at=None).count() == 2


def test_file_outside_of_every_source_root_is_rejected_with_a_hint():
    result = bring_results(make_website(), result_in("file:///C:/a.c"), result_in("b.c"), day=1)
    (reject,) = result.rejects
    assert reject.reason.startswith("is about a file, and the report names no folder above it")
    assert reject.reason.endswith('such as by sed -i "s|file://$PWD/||g", and say base_url')
