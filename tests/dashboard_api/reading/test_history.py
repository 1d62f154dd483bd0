"""The history of open findings: recorded after midnight, and only where it changed."""

from datetime import UTC, datetime, timedelta

import pytest

from dashboard_api.models import OpenCount
from dashboard_api.reading.history import record_yesterday
from tests.dashboard_api.calls import answer
from tests.factories import make_coverage, make_finding, make_link, make_website

pytestmark = pytest.mark.django_db
MIDNIGHT = datetime(2026, 3, 5, 0, 10, tzinfo=UTC)
DAY = timedelta(days=1)


def rows(website):
    names = ("day", "critical", "high", "medium", "low", "info", "suspected_high")
    return list(OpenCount.objects.filter(website=website).order_by("day").values_list(*names))


def test_the_open_findings_of_yesterday_are_recorded_by_severity():
    site = make_website()
    make_finding(site, severity=4)
    make_finding(site, severity=3, kind="suspected")
    make_finding(site, severity=3, status="accepted_risk")
    assert record_yesterday(MIDNIGHT) == 1
    assert rows(site) == [((MIDNIGHT - DAY).date(), 1, 1, 0, 0, 0, 1)]


def test_a_day_like_the_one_before_it_has_no_row():
    site, empty = make_website(), make_website("empty.example.com")
    finding = make_finding(site, severity=2)
    assert [record_yesterday(MIDNIGHT + days * DAY) for days in range(3)] == [1, 0, 0]
    finding.delete()
    assert record_yesterday(MIDNIGHT + 3 * DAY) == 1
    assert [row[3] for row in rows(site)] == [1, 0]
    assert rows(empty) == []


def test_recording_twice_in_a_night_changes_nothing():
    site = make_website()
    make_finding(site)
    record_yesterday(MIDNIGHT)
    make_finding(site)
    assert record_yesterday(MIDNIGHT + timedelta(minutes=5)) is not None
    assert [row[3] for row in rows(site)] == [1]


def test_later_in_the_day_nothing_is_recorded_because_it_is_not_known():
    site = make_website()
    make_finding(site)
    assert record_yesterday(MIDNIGHT.replace(hour=6)) is None
    assert rows(site) == []


def test_the_response_adds_today_to_the_recorded_days():
    link = make_link()
    make_coverage(link.website)
    finding = make_finding(link.website, severity=4)
    now = MIDNIGHT + timedelta(hours=10)
    assert [entry.day for entry in answer(link, now=now).summary.history] == [now.date()]
    record_yesterday(MIDNIGHT)
    assert [entry.day for entry in answer(link, now=now).summary.history] == [(now - DAY).date()]
    finding.delete()
    assert [entry.open for entry in answer(link, now=now).summary.history] == [1, 0]
