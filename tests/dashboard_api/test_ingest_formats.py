"""Every format's sample, through the import into the database."""

import io
from datetime import UTC, datetime

import pytest

from dashboard_api.ingest import import_report
from dashboard_api.models import Finding, Occurrence
from dashboard_api.scanners import READERS, read_report
from tests.dashboard_api.scanners.samples import SAMPLES
from tests.factories import make_website

pytestmark = pytest.mark.django_db
every_format = pytest.mark.parametrize("name", READERS)
NOW = datetime(2026, 3, 2, tzinfo=UTC)


def import_sample(website, data):
    report = read_report(io.BytesIO(data))
    return import_report(report, website, scanned_at=NOW, base_url=f"https://{website.host}/")


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
    before, places = stored(), Occurrence.objects.count()
    again = import_sample(website, SAMPLES[name])
    assert (again.new, again.updated, again.fixed) == (0, first.findings, 0)
    assert (stored(), Occurrence.objects.count()) == (before, places)


@every_format
def test_report_of_another_website_is_refused(name):
    other = make_website(host="other.example.com")
    with pytest.raises(ValueError, match="rejected"):
        import_report(read_report(io.BytesIO(SAMPLES[name])), other)
    assert not Finding.objects.exists()
