"""Taking imports back, the newest first, restores the coverage."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard_api.models import Coverage, ImportRun
from tests.dashboard_api.importing.reports import import_bytes
from tests.dashboard_api.importing.test_undo import rolled_back, state, take_back
from tests.dashboard_api.scanners.samples import json_lines
from tests.factories import make_website

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
MARCH = datetime(2026, 3, 1, tzinfo=UTC)
HOSTS = ("shop.example.com", "www.shop.example.com")


def bring_scan(website, *targets, complete, day, category="", version=""):
    """Import a scan of these targets that found nothing; return the record of the import."""
    scan = {"scan": "findings/1", "source": "by-hand", "version": version}
    scan["scanned_at"] = (MARCH + day * DAY).isoformat()
    checked = ({"checked": f"https://{target}/{page}"} for target in targets for page in range(day + 1))
    lines = json_lines(scan, *checked, {"complete": complete})
    import_bytes(lines, website, format_name="findings", category=category)
    return ImportRun.objects.order_by("pk").last()


def test_a_scope_that_staff_deleted_is_not_restored():
    website = make_website(HOSTS[0])
    bring_scan(website, website.host, complete=True, day=0)
    wrong = bring_scan(website, website.host, complete=True, day=1)
    Coverage.objects.all().delete()
    take_back(wrong)
    assert not Coverage.objects.exists()


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


@pytest.mark.slow
@pytest.mark.once
@settings(max_examples=20, deadline=None)
@given(scans=SCANS)
def test_each_undo_restores_the_coverage_of_before(scans):
    with rolled_back():
        website = make_website(HOSTS[0])
        imports = []
        for number, scan in enumerate(scans):
            before, options = state(), dict(scan)
            run = bring_scan(website, *options.pop("targets"), version=str(number), **options)
            imports.append((before, run))
        for before, run in reversed(imports):
            take_back(run)
            assert state() == before
