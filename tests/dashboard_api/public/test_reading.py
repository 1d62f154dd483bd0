"""The websites that are counted, and their values."""

from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard_api import models as api
from dashboard_api.public.reading import counted_websites, with_findings
from tests import factories
from tests.dashboard_api.public.crowds import make_crowd

pytestmark = pytest.mark.django_db


def counted():
    """Return the counted websites with their findings, by host."""
    return {website.host: website for website in with_findings(counted_websites(timezone.now()))}


def test_a_website_counts_with_its_grade_findings_and_accounts(django_assert_max_num_queries):
    website, clean = make_crowd(2)
    factories.make_finding(website, severity=api.Severity.CRITICAL, cwe=[89])
    factories.make_finding(website, severity=api.Severity.LOW, kind="suspected", cwe=[79])
    factories.make_finding(website, severity=api.Severity.INFO, kind="informational")
    factories.make_finding(website, severity=api.Severity.MEDIUM, status="fixed", fixed_at=timezone.now())
    with django_assert_max_num_queries(5):
        rows = counted()
    row = rows[website.host]
    assert (row.grade, row.open, row.categories) == ("F", {"High"}, {"sql-injection"})
    assert row.accounts == set(website.links.values_list("account", flat=True))
    assert (rows[clean.host].grade, rows[clean.host].open) == ("A", set())


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
        ("shown", "", "shown"),
        ("shown", "counted", "counted"),
        ("counted", "shown", "counted"),
        ("nothing", "shown", None),
        ("shown", "nothing", None),
    ],
)
def test_a_website_may_be_stricter_than_its_account_and_never_looser(of_account, own, expected):
    (website,) = make_crowd(1, publicity=own)
    api.Account.objects.update(publicity=of_account)
    row = counted().get(website.host)
    assert (row and ("shown" if row.is_shown else "counted")) == expected


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
