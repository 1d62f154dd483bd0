"""The median of days to fix by severity, of findings fixed in the last 90 days."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard_api.models import Severity
from dashboard_api.reading.fix_times import _median, read_fix_times
from tests.dashboard_api import calls
from tests.factories import make_event, make_finding, make_link, make_website

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
FIRST = NOW.date() - timedelta(days=90)


def fixed(website, days, *, at=NOW, **fields):
    return make_finding(
        website, status="fixed", fixed_at=at, first_seen=at - timedelta(days=days), last_seen=at, **fields
    )


def times(website):
    return [(each.severity, each.median_days, each.findings) for each in read_fix_times(website.pk, FIRST)]


@given(st.lists(st.integers(0, 400), min_size=1, max_size=30))
def test_half_of_the_values_are_at_most_the_median(values):
    median = _median({value: values.count(value) for value in values})
    assert median in values
    assert sum(value <= median for value in values) * 2 >= len(values)
    assert sum(value < median for value in values) * 2 < len(values)


@pytest.mark.django_db
def test_each_severity_has_its_median_and_its_number_worst_first():
    website = make_website()
    for days in (1, 2, 30):
        fixed(website, days, severity=Severity.HIGH)
    fixed(website, 0, severity=Severity.CRITICAL)
    make_finding(website, severity=Severity.LOW)
    fixed(make_website("other.example.com"), 99, severity=Severity.HIGH)
    assert times(website) == [("Critical", 0, 1), ("High", 2, 3)]


@pytest.mark.django_db
def test_only_fixes_of_the_last_90_days_count():
    website = make_website()
    fixed(website, 3, at=NOW - timedelta(days=90))
    fixed(website, 99, at=NOW - timedelta(days=91))
    assert times(website) == [("Medium", 3, 1)]


@pytest.mark.django_db
def test_the_days_of_a_finding_that_came_back_begin_at_its_last_return():
    website = make_website()
    finding = fixed(website, 60)
    make_event(finding, "regressed", at=NOW - timedelta(days=40))
    make_event(finding, "regressed", at=NOW - timedelta(days=5))
    assert times(website) == [("Medium", 5, 1)]


@pytest.mark.django_db
def test_the_summary_shows_them():
    link = make_link()
    fixed(link.website, 4)
    (time,) = calls.answer(link, now=NOW).summary.fix_times
    assert (time.severity, time.median_days, time.findings) == ("Medium", 4, 1)
