"""A change locks rows of its own table, so that two changes of an account never wait for each other."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard_api.crawler import schedules
from dashboard_api.importing import service
from dashboard_api.models import Account, OwnershipClaim, SiteLink
from dashboard_api.ownership import claims
from dashboard_api.public import consent
from signed_api.account import PublicityRequest
from signed_api.scans import ScanScheduleRequest
from tests.factories import make_account, make_link, make_note

pytestmark = pytest.mark.django_db


def test_no_lock_reaches_the_rows_that_a_filter_or_an_order_joins():
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no locks of rows")
    link, now = make_link(), timezone.now()
    whose = {"host": link.website.host, "link_id": link.link_id, "portal_account_ref": link.account.ref}
    publicity = PublicityRequest(
        portal_account_ref=link.account.ref, host=link.website.host, publicity="shown"
    )
    claim = OwnershipClaim.objects.get()
    with CaptureQueriesContext(connection) as queries:
        consent.change(link.account, publicity, by="ada")
        schedules.change(link, ScanScheduleRequest(**whose, frequency="off"), by="ada", now=now)
        claims.record_check(claim, claims.Check(claims.Verdict.FOUND, "dns", "dns"), now=now)
    locking = [each["sql"] for each in queries if "FOR UPDATE" in each["sql"]]
    assert len(locking) >= 4
    assert [sql for sql in locking if " JOIN " in sql and "FOR UPDATE OF " not in sql] == []


LOCKS = {
    "an import": lambda link: service._lock(link.website),
    "a change by staff": lambda link: link.website._lock(),
    "a new link": lambda link: SiteLink.objects.check_linkable(make_account("acct_0002"), link.website),
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("lock", LOCKS)
def test_rows_about_a_website_do_not_wait_for_a_change_of_it(lock):
    """Else reports about it are refused while one is imported, and reports and scans deadlock."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no locks of rows")
    link = make_link()

    def add_a_row():
        try:
            make_note(link.website)
        finally:
            connection.close()

    with transaction.atomic(), ThreadPoolExecutor(1) as other:
        LOCKS[lock](link)
        other.submit(add_a_row).result()


ACTIONS = {
    "a new link": lambda link: SiteLink.objects.link(
        Account.objects.get(ref="acct_0002"), link.website, by="ada"
    ),
    "a link that is restored": lambda link: link.restore(by="ada", reason="back", now=timezone.now()),
    "a website that is no longer verified": lambda link: link.website.unverify(
        by="ada", reason="sold", now=timezone.now()
    ),
    "a website of a new owner": lambda link: link.website.begin_again(by="ada", now=timezone.now()),
    "a check": lambda link: claims.record_check(
        OwnershipClaim.objects.get(account=link.account),
        claims.Check(claims.Verdict.FOUND, "dns", "dns"),
        now=timezone.now(),
    ),
}


@pytest.mark.parametrize("action", ACTIONS)
def test_claims_are_locked_before_their_website(action):
    """Else what staff do with a website, and a check of its proof, wait for each other."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no locks of rows")
    link = make_link()
    make_account("acct_0002")
    if "restored" in action:
        link.revoke(by="ada", reason="left", now=timezone.now())
    with CaptureQueriesContext(connection) as queries:
        ACTIONS[action](link)
    locking = [each["sql"] for each in queries if "FOR " in each["sql"] and "SELECT" in each["sql"]]
    assert 'FROM "dashboard_api_ownershipclaim"' in locking[0]
