"""The websites that are counted, and their values."""

from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard_api import models as api
from dashboard_api.public import reading
from dashboard_api.public.reading import counted_websites
from dashboard_api.public.statistics import monday_of
from tests import factories
from tests.dashboard_api.public.crowds import make_crowd

pytestmark = pytest.mark.django_db


def counted():
    now = timezone.now()
    return {website.host: website for website in counted_websites(now.date() - timedelta(days=1), now)}


def test_a_website_counts_with_its_grade_findings_and_accounts():
    website, clean = make_crowd(2)
    now = timezone.now()
    factories.make_finding(website, severity=api.Severity.CRITICAL, cwe=[89], first_seen=now)
    factories.make_finding(website, severity=api.Severity.LOW, kind="suspected", cwe=[79], first_seen=now)
    factories.make_finding(website, severity=api.Severity.INFO, kind="informational")
    monday = monday_of(now.date() - timedelta(days=1))
    week = timezone.make_aware(timezone.datetime(monday.year, monday.month, monday.day, 12))
    fixed = {"status": "fixed", "severity": api.Severity.MEDIUM, "first_seen": week - timedelta(days=8)}
    factories.make_finding(website, fixed_at=week, **fixed)
    rows = counted()
    row = rows[website.host]
    assert (row.grade, row.open, row.categories) == ("F", {"High"}, {"sql-injection"})
    assert (dict(row.days_to_fix), row.fixed, row.found) == ({"Medium": 8}, True, False)
    assert row.accounts == set(website.links.values_list("account", flat=True))
    assert (rows[clean.host].grade, rows[clean.host].open, rows[clean.host].engines) == ("A", set(), 1)


def test_the_days_to_fix_are_of_the_newest_findings_fixed_lately_read_at_once(
    monkeypatch, django_assert_max_num_queries
):
    monkeypatch.setattr(reading, "MAX_FIXED", 3)
    first, second, third = make_crowd(3)
    now = timezone.now()

    def fix(website, days, *, ago=1, severity=api.Severity.HIGH, **fields):
        fixed_at = now - timedelta(days=ago)
        times = {"fixed_at": fixed_at, "first_seen": fixed_at - timedelta(days=days)}
        factories.make_finding(website, status="fixed", severity=severity, **times, **fields)

    for days in (1, 2, 3):
        fix(first, days)
    fix(first, 90, ago=20)  # three newer ones count
    fix(first, 7, severity=api.Severity.LOW)
    fix(second, 5, severity=api.Severity.CRITICAL)
    fix(third, 9, ago=91)
    fix(third, 9, kind="suspected")
    with django_assert_max_num_queries(12):
        rows = counted()
    assert [dict(rows[website.host].days_to_fix) for website in (first, second, third)] == [
        {"High": 2, "Low": 7},
        {"High": 5},
        {},
    ]


def test_a_website_has_no_good_grade_before_a_complete_check_of_its_pages():
    good, bad = make_crowd(2)
    api.Coverage.objects.update(source=factories.make_source("dns"))
    factories.make_finding(bad, severity=api.Severity.HIGH)
    rows = counted()
    assert (rows[good.host].grade, rows[bad.host].grade) == ("", "D")


def test_what_is_not_watched_paid_linked_or_public_is_not_counted():
    websites = make_crowd(8, accounts=8)
    api.Website.objects.filter(pk=websites[0].pk).update(
        verified_at=None, verified_by="", verification_method=""
    )
    websites[1].archive(by="tests", reason="Sold", now=timezone.now())
    api.Coverage.objects.filter(website=websites[2]).update(last_run_at=timezone.now() - timedelta(days=31))
    api.Entitlement.objects.filter(account__links__website=websites[3]).update(status="expired")
    for number, host in ((4, "intranet"), (5, "192.0.2.7"), (6, "shop.example.com")):
        api.Website.objects.filter(pk=websites[number].pk).update(host=host)
    assert set(counted()) == {websites[7].host}


@pytest.mark.parametrize(
    ("of_account", "own", "expected"),
    [
        ("counted", "", "counted"),
        ("named", "", "named"),
        ("named", "counted", "counted"),
        ("counted", "named", "counted"),
        ("nothing", "named", None),
        ("named", "nothing", None),
    ],
)
def test_a_website_may_be_stricter_than_its_account_and_never_looser(of_account, own, expected):
    (website,) = make_crowd(1, publicity=own)
    api.Account.objects.update(publicity=of_account)
    row = counted().get(website.host)
    assert (row and ("named" if row.is_named else "counted")) == expected


def test_of_several_accounts_the_strictest_decides_and_they_must_agree_on_a_region():
    (website,) = make_crowd(1, region="DE")
    other = factories.make_account("acct_other")
    link = factories.make_link(other, website, region="AT")
    assert counted()[website.host].region == "001"
    api.SiteLink.objects.filter(pk=link.pk).update(region="DE", publicity="nothing")
    assert counted() == {}
    api.Entitlement.objects.filter(account=other).update(status="expired")
    assert counted() == {}  # its wish stays
    link.refresh_from_db()
    link.revoke(by="tests", reason="Sold", now=timezone.now())
    assert counted()[website.host].region == "DE"
