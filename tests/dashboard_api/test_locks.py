"""A change locks rows of its own table, so that two changes of an account never wait for each other."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard_api.contract import PublicityRequest, ScanScheduleRequest
from dashboard_api.crawler import schedules
from dashboard_api.models import OwnershipClaim
from dashboard_api.ownership import claims
from dashboard_api.public import consent
from tests.factories import make_link

pytestmark = pytest.mark.django_db


def test_no_lock_reaches_the_rows_that_a_filter_or_an_order_joins():
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no locks of rows")
    link, now = make_link(), timezone.now()
    whose = {"host": link.website.host, "link_id": link.link_id, "portal_account_ref": link.account.ref}
    publicity = PublicityRequest(
        portal_account_ref=link.account.ref, host=link.website.host, publicity="named"
    )
    claim = OwnershipClaim.objects.get()
    with CaptureQueriesContext(connection) as queries:
        consent.change(link.account, publicity, by="ada")
        schedules.change(link, ScanScheduleRequest(**whose, frequency="off"), by="ada", now=now)
        claims.record_check(claim, claims.Check(claims.Verdict.FOUND, "dns", "dns"), now=now)
    locking = [each["sql"] for each in queries if "FOR UPDATE" in each["sql"]]
    assert len(locking) >= 4
    assert [sql for sql in locking if " JOIN " in sql and "FOR UPDATE OF " not in sql] == []
