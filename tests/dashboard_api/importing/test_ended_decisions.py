"""The end of a decision: what complete scans no longer found meanwhile is fixed, all else is open again."""

from datetime import UTC, datetime, timedelta

import pytest

from dashboard_api.decisions import standing, triage
from dashboard_api.importing.ended_decisions import end, expire_triage
from dashboard_api.importing.undo import undo
from dashboard_api.models import Finding, ImportChange, ImportRun, Severity, Source, StandingDecision
from tests.dashboard_api.importing.reports import import_bytes
from tests.dashboard_api.scanners.samples import json_lines
from tests.dashboard_api.searched import words_are_true
from tests.factories import make_finding, make_website

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
BY = {"by": "ada", "reason": "Until the relaunch."}
EXPIRED, FIXED = "decision_expired", "fixed"


@pytest.fixture(autouse=True)
def on_day(monkeypatch):
    """Return a function that sets the day on which imports are stored."""

    def set_day(day):
        monkeypatch.setattr("django.utils.timezone.now", lambda: START + day * DAY)

    return set_day


@pytest.fixture
def website():
    return make_website()


@pytest.fixture
def scan(website, on_day):
    """Return a function that imports a scan of a day with a problem at these paths; it is complete."""

    def import_scan(day, *paths, complete=True, host=website.host, **options):
        on_day(day)
        head = {"scan": "findings/1", "source": "by-hand"}
        rows = [
            {"finding": "panel", "title": "Panel", "severity": "high", "location": f"https://{host}{path}"}
            for path in paths
        ]
        data = json_lines(head, *rows or [{"checked": f"https://{host}/"}])
        options = {"format_name": "findings", "scanned_at": START + day * DAY, "complete": complete} | options
        import_bytes(data, website, **options)
        return ImportRun.objects.latest("pk")

    return import_scan


def decide(status="accepted_risk", *, day=1, until=None, **fields):
    now = START + day * DAY
    triage.decide(Finding.objects.get(), status, until=until and (START + until * DAY).date(), now=now, **BY)


def state():
    """Return what the only finding is now, and its events with their days; the counts are right."""
    assert words_are_true()
    finding = Finding.objects.get()
    fixed = (finding.fixed_at - START).days if finding.fixed_at else None
    events = [(event.event, (event.at - START).days) for event in finding.events.all()]
    return finding.status, fixed, events


def take_back(run, *, day):
    undo(run, by="ann", reason="The wrong file", now=START + day * DAY)


@pytest.mark.parametrize("status", ["accepted_risk", "false_positive"])
def test_what_complete_scans_no_longer_found_is_fixed_since_the_first_of_them(scan, status):
    scan(0, "/a", "/b")
    decide(status, until=5)
    for day in (2, 3, 6):
        scan(day)
    assert expire_triage(START + 7 * DAY) == 1
    assert state() == ("fixed", 2, [(status, 1), (EXPIRED, 7), (FIXED, 2)])
    assert expire_triage(START + 8 * DAY) == 0


def test_it_is_found_again_by_a_later_scan(scan):
    scan(0, "/a")
    decide(until=5)
    scan(2)
    expire_triage(START + 7 * DAY)
    scan(8, "/a")
    assert state() == ("open", None, [("accepted_risk", 1), (EXPIRED, 7), (FIXED, 2), ("regressed", 8)])


def test_what_was_seen_after_them_is_open(scan):
    scan(0, "/a")
    decide(until=5)
    scan(2)
    scan(3, "/a", complete=False)
    expire_triage(START + 7 * DAY)
    assert state() == ("open", None, [("accepted_risk", 1), (EXPIRED, 7)])


@pytest.mark.parametrize(
    "others", [{"complete": False}, {"host": "api.shop.example.com"}, {"category": "api"}], ids=str
)
def test_what_no_complete_scan_covered_is_open(scan, others):
    scan(0, "/a")
    decide(until=5)
    scan(2, **others)
    expire_triage(START + 7 * DAY)
    assert state() == ("open", None, [("accepted_risk", 1), (EXPIRED, 7)])


def test_what_an_analyst_decided_after_the_scan_is_open(scan):
    scan(0, "/a")
    decide("false_positive")
    scan(2)
    decide(day=3, until=5)
    expire_triage(START + 7 * DAY)
    assert state()[0] == "open"


def test_without_the_journals_of_the_scans_it_is_open(scan):
    scan(0, "/a")
    decide(until=5)
    scan(2)
    ImportChange.objects.all().delete()
    expire_triage(START + 7 * DAY)
    assert state()[0] == "open"


def test_what_remains_at_some_locations_is_open_there(scan):
    scan(0, "/a", "/b")
    decide(until=5)
    scan(2)
    part = scan(3, "/b", complete=False)
    expire_triage(START + 7 * DAY)
    finding = Finding.objects.get()
    assert (state()[0], finding.locations_count, finding.location) == (
        "open",
        1,
        "https://shop.example.com/b",
    )
    take_back(part, day=8)
    assert (state()[:2], Finding.objects.get().locations_count) == (("fixed", 2), 2)


def test_what_an_analyst_wrote_down_without_locations_is_fixed(scan, website):
    source = Source.objects.get_or_add("by-hand", "By hand")
    make_finding(
        website, source=source, first_seen=START, last_seen=START, location="https://shop.example.com/a"
    )
    decide(until=5)
    scan(2)
    expire_triage(START + 7 * DAY)
    assert state()[:2] == ("fixed", 2)


def test_an_undo_of_the_only_scan_opens_it(scan):
    scan(0, "/a")
    decide(until=5)
    clean = scan(2)
    expire_triage(START + 7 * DAY)
    take_back(clean, day=8)
    assert state() == ("open", None, [("accepted_risk", 1), (EXPIRED, 7)])


def test_an_undo_leaves_it_fixed_by_the_scan_that_is_left(scan):
    scan(0, "/a")
    decide(until=5)
    first, second = scan(2), scan(3)
    expire_triage(START + 7 * DAY)
    take_back(second, day=8)
    assert state() == ("fixed", 2, [("accepted_risk", 1), (EXPIRED, 7), (FIXED, 2)])
    take_back(first, day=8)
    assert state() == ("open", None, [("accepted_risk", 1), (EXPIRED, 7)])


def test_what_an_analyst_reopened_since_stays_open_after_an_undo(scan):
    scan(0, "/a")
    decide(until=5)
    scan(2)
    second = scan(3)
    expire_triage(START + 7 * DAY)
    triage.reopen(Finding.objects.get(), now=START + 8 * DAY, **BY)
    take_back(second, day=9)
    assert state()[0] == "open"


def test_a_scan_that_was_taken_back_before_proves_nothing(scan):
    scan(0, "/a")
    decide(until=5)
    take_back(scan(2), day=3)
    expire_triage(START + 7 * DAY)
    assert state()[0] == "open"


def test_a_decision_may_end_twice(scan):
    scan(0, "/a")
    decide(until=2)
    scan(2)
    expire_triage(START + 3 * DAY)
    triage.reopen(Finding.objects.get(), now=START + 4 * DAY, **BY)
    decide(day=4, until=5)
    expire_triage(START + 6 * DAY)
    assert state()[0] == "open"
    decide(day=6, until=7)
    scan(7)
    expire_triage(START + 8 * DAY)
    assert state()[:2] == ("fixed", 7)


@pytest.fixture
def floor(website, scan):
    scan(0, "/a")
    source = Source.objects.get()
    decision = StandingDecision(website=website, source=source, severity=Severity.CRITICAL, **BY)
    standing.begin(decision, START + DAY)
    return decision


def test_the_end_of_a_standing_decision_fixes_what_is_gone_and_nobody_reopened_it(floor, scan):
    clean = scan(2)
    assert end(floor, now=START + 7 * DAY, **BY) == 1
    assert state() == ("fixed", 2, [("accepted_risk", 1), (EXPIRED, 7), (FIXED, 2)])
    take_back(clean, day=8)
    assert state() == ("open", None, [("accepted_risk", 1), (EXPIRED, 7)])


def test_the_end_of_a_standing_decision_opens_what_is_still_seen(floor, scan):
    scan(2, "/a")
    end(floor, now=START + 7 * DAY, **BY)
    assert state() == ("open", None, [("accepted_risk", 1), ("reconsidered", 7)])


def test_the_end_of_a_severity_opens_above_the_floor_only_what_is_not_gone(website, scan):
    scan(0, "/a", "/b")
    source = Source.objects.get()
    rating = StandingDecision(website=website, source=source, rule="panel", severity=Severity.LOW, **BY)
    floor = StandingDecision(website=website, source=source, severity=Severity.MEDIUM, **BY)
    for decision in (rating, floor):
        standing.begin(decision, START + DAY)
    scan(2)
    end(rating, now=START + 7 * DAY, **BY)
    assert state()[:2] == ("fixed", 2)
    assert Finding.objects.get().severity == Severity.HIGH
