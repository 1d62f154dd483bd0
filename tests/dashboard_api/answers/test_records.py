"""Promised days are working days in the service's zone; versions grow for one account only."""

from datetime import UTC, date, datetime

import pytest

from dashboard_api.answers.records import changed, promised_on
from dashboard_api.models import SiteLink
from tests.factories import make_account, make_link, make_website


@pytest.mark.parametrize(
    ("today", "days", "promised"),
    [
        (date(2026, 3, 4), 2, date(2026, 3, 6)),  # Wednesday to Friday
        (date(2026, 3, 5), 2, date(2026, 3, 9)),  # Thursday to Monday
        (date(2026, 3, 6), 2, date(2026, 3, 10)),
        (date(2026, 3, 6), 1, date(2026, 3, 9)),
        (date(2026, 3, 7), 1, date(2026, 3, 9)),  # Saturday
        (date(2026, 3, 8), 2, date(2026, 3, 10)),  # Sunday
        (date(2026, 3, 4), 30, date(2026, 4, 15)),
    ],
)
def test_an_analyst_answers_within_working_days(settings, today, days, promised):
    settings.DISPUTE_DAYS = days
    assert promised_on(datetime(today.year, today.month, today.day, 23, 59, tzinfo=UTC)) == promised


def test_days_are_those_of_the_services_zone(settings):
    settings.TIME_ZONE = "UTC"
    settings.DISPUTE_DAYS = 1
    assert promised_on(datetime(2026, 3, 4, 23, 59, tzinfo=UTC)) == date(2026, 3, 5)
    assert promised_on(datetime(2026, 3, 5, 0, 1, tzinfo=UTC)) == date(2026, 3, 6)


@pytest.mark.django_db
def test_a_change_is_one_for_the_account_and_the_website_only():
    link = make_link()
    make_link(make_account("acct_0002"), link.website)
    make_link(link.account, make_website("other.example.com"))
    changed(link.account_id, link.website_id)
    changed(link.account_id, link.website_id)
    versions = dict(SiteLink.objects.values_list("pk", "answers_version"))
    assert versions.pop(link.pk) == 2
    assert set(versions.values()) == {0}
