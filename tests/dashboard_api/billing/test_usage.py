from datetime import UTC, datetime, timedelta, timezone

import pytest

from dashboard_api.billing import usage
from dashboard_api.models import Entitlement, ScanJob
from tests.dashboard_api.calls import SCAN_SCHEDULE_PATH, ask, fields_for
from tests.factories import make_account, make_link

pytestmark = pytest.mark.django_db
State, Trigger = ScanJob.State, ScanJob.Trigger


def test_the_plan_shows_the_scans_that_the_limit_counts(client):
    link = make_link()
    Entitlement.objects.update(scans_per_month=10)

    def scan(account=link.account, **fields):
        times = {"created_at": datetime.now(UTC), "ended_at": datetime.now(UTC)}
        ScanJob.objects.create(website=link.website, account=account, by="ada", **(times | fields))

    scan(state=State.FINISHED)
    scan(state=State.FAILED, reason="servers_silent")
    scan(state=State.CANCELLED, started_at=datetime.now(UTC))
    scan(state=State.CANCELLED)
    scan(state=State.FAILED, reason="worker_lost")
    scan(state=State.FINISHED, trigger=Trigger.RETEST)
    scan(state=State.FINISHED, account=None)  # by staff
    scan(state=State.FINISHED, account=make_account("acct_0002"))
    scan(state=State.FINISHED, created_at=datetime.now(UTC) - timedelta(days=32))
    plan = ask(client, {"portal_account_ref": link.account.ref}, path="/v1/account/entitlement").json()
    (shown,) = (each for each in plan["limits"] if each["name"] == "scans_per_month")
    month = ask(client, fields_for(link), path=SCAN_SCHEDULE_PATH).json()["month"]
    assert (shown["used"], shown["limit"]) == (month["used"], month["limit"]) == (3, 10)


def test_a_limit_of_0_is_never_reached():
    assert usage.Use("scans_per_month", 0, 0, None).state == "ok"


def test_days_and_months_end_at_midnight_in_utc():
    late = datetime(2026, 12, 31, 23, 30, tzinfo=timezone(timedelta(hours=-2)))  # in UTC, January
    assert usage.next_day(late) == datetime(2027, 1, 2, tzinfo=UTC)
    assert usage.next_month(late) == datetime(2027, 2, 1, tzinfo=UTC)
