"""Taking an import back leaves the coverage by the other imports."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard_api.importing.journal import Changes
from dashboard_api.models import Coverage, CoverageScope, ImportChange, ImportRun
from tests.dashboard_api.importing.reports import import_bytes
from tests.dashboard_api.importing.test_undo import rolled_back, state, take_back
from tests.dashboard_api.scanners.samples import json_lines
from tests.factories import make_website

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
MARCH = datetime(2026, 3, 1, tzinfo=UTC)
HOSTS = ("shop.example.com", "www.shop.example.com")


@pytest.fixture
def website():
    return make_website(HOSTS[0])


def bring_scan(website, *targets, complete, day, category="", version=""):
    """Import a scan of these targets that found nothing; return the record of the import."""
    scan = {"scan": "findings/1", "source": "by-hand", "version": version}
    scan["scanned_at"] = (MARCH + day * DAY).isoformat()
    checked = ({"checked": f"https://{target}/{page}"} for target in targets for page in range(day + 1))
    lines = json_lines(scan, *checked, {"complete": complete})
    import_bytes(lines, website, format_name="findings", category=category)
    return ImportRun.objects.order_by("pk").last()


def coverage():
    *_, summaries, scopes = state()
    return [{**each, "website_id": None, "source_id": None} for each in summaries], scopes


def test_a_complete_import_takes_its_completion_with_it(website):
    wrong = bring_scan(website, website.host, complete=True, day=0)
    partial = bring_scan(website, website.host, complete=False, day=1)
    take_back(wrong)
    left = (Coverage.objects.get().completed_at, CoverageScope.objects.get().completed_at)
    assert left == (None, None)
    take_back(partial)
    assert coverage() == ([], [])


def test_imports_that_did_not_record_their_run_keep_the_coverage_that_they_left(website):
    wrong = bring_scan(website, website.host, complete=True, day=0)
    second = bring_scan(website, website.host, complete=True, day=1)
    for part in ImportChange.objects.filter(run=second):
        changes = Changes.from_bytes(bytes(part.content))
        changes.runs = {}
        part.content = changes.to_bytes()
        part.save()
    before = coverage()
    take_back(wrong)
    assert coverage() == before
    take_back(second)
    assert coverage() == ([], [])


def test_a_scope_that_staff_deleted_is_not_restored(website):
    wrong = bring_scan(website, website.host, complete=True, day=0)
    Coverage.objects.all().delete()
    right = bring_scan(website, website.host, complete=False, day=1)
    before = coverage()
    take_back(wrong)
    assert coverage() == before
    take_back(right)
    assert coverage() == ([], [])


SCANS = st.lists(
    st.fixed_dictionaries(
        {
            "targets": st.sampled_from([HOSTS, *([host] for host in HOSTS)]),
            "complete": st.booleans(),
            "day": st.integers(0, 4),
            "category": st.sampled_from(["", "nightly"]),
        }
    ),
    min_size=1,
    max_size=6,
)


def bring_scans(scans, numbers):
    website = make_website(HOSTS[0])
    return {
        number: bring_scan(website, *scans[number]["targets"], version=str(number), **options)
        for number in numbers
        for options in [{name: value for name, value in scans[number].items() if name != "targets"}]
    }


@pytest.mark.once
@settings(max_examples=40, deadline=None)
@given(scans=SCANS, data=st.data())
def test_imports_taken_back_in_any_order_leave_the_coverage_of_the_others(scans, data):
    wrong = data.draw(st.lists(st.sampled_from(range(len(scans))), unique=True))
    with rolled_back():
        with rolled_back():
            bring_scans(scans, [each for each in range(len(scans)) if each not in wrong])
            expected = coverage()
        runs = bring_scans(scans, range(len(scans)))
        for each in wrong:
            take_back(runs[each])
        assert coverage() == expected


def test_of_scans_at_the_same_time_the_order_of_imports_does_not_matter():
    scan = {"targets": [HOSTS[0]], "complete": True, "day": 0, "category": ""}
    scans = [scan, scan | {"category": "nightly"}, scan]
    with rolled_back():
        bring_scans(scans, [1, 2])
        expected = coverage()
    take_back(bring_scans(scans, [0, 1, 2])[0])
    assert coverage() == expected
