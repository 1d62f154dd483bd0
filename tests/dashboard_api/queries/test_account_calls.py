"""The statement about the calls of an account equals its ORM twin."""

import itertools
from datetime import UTC, date, datetime, timedelta

import pytest
from django.db.models import Q

from dashboard_api.contract.cursor import CallPosition
from dashboard_api.models import CallOutcome, CallRecord, Nonce
from dashboard_api.queries.account_calls import Reader, calls_of, latest_calls
from signed_api.account import CallsRequest
from tests.factories import make_nonce

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 3, 2, 23, 59, 58, tzinfo=UTC)
SELF = Reader(secret_id=1, address="192.0.2.9", route="account/calls")
SOMEONE = Reader(secret_id=0, address="", route="")


def call(number, *, account_id=1, **facts):
    facts = {"at": NOON + timedelta(milliseconds=500 * number), "request_id": f"req-{number}"} | facts
    make_nonce(f"nonce-{number:04}", account_id=account_id, **facts)


@pytest.fixture
def twin():
    """Calls of two accounts around midnight, answered and refused; return them as records."""
    for number in range(12):
        for account_id in (1, 2):
            call(number, account_id=account_id, secret_id=number % 2)
            if number % 3 == 0:
                CallOutcome.note(account_id, f"nonce-{number:04}", status=404, code="unknown_link")
    call(20, at=NOON, request_id="same-moment")
    return CallRecord.objects.filter(account_id=1)


def ids(found):
    return [row.request_id for row in found]


def everything(account_id=1):
    return calls_of(account_id, CallsRequest(portal_account_ref="x"), reader=SOMEONE, count=99)


def test_calls_are_the_same_wherever_prune_has_them(twin):
    before = everything()
    assert len(before) == 13
    for expired in (NOON, NOON + timedelta(days=36500)):
        Nonce.objects.filter(request_id="req-3").update(expires_at=1)
        Nonce.objects.prune(now=expired, batch=99)
        assert everything() == before
    assert not Nonce.objects.exists()
    assert ids(before) == list(twin.order_by("-at", "-request_id").values_list("request_id", flat=True))


@pytest.mark.parametrize("is_expired", [False, True])
def test_every_filter_leaves_what_the_orm_leaves(twin, is_expired):
    now = datetime.now(UTC)
    reference = dict.fromkeys(itertools.product((None, 2, 3), ("", "answered", "refused")))
    if is_expired:
        Nonce.objects.prune(now=now + timedelta(days=1), batch=99)
    for day, outcome in reference:
        request = CallsRequest(portal_account_ref="x", day=day and date(2026, 3, day), outcome=outcome)
        reference[day, outcome] = ids(calls_of(1, request, reader=SOMEONE, count=99))
    Nonce.objects.prune(now=now + timedelta(days=1), batch=99)
    for (day, outcome), found in reference.items():
        wanted = Q() if day is None else Q(at__day=day)
        wanted &= {"": Q(), "answered": Q(status=200), "refused": ~Q(status=200)}[outcome]
        expected = twin.filter(wanted).order_by("-at", "-request_id").values_list("request_id", flat=True)
        assert found == list(expected), (day, outcome)
        assert found


def test_pages_have_every_call_once_also_those_of_one_moment(twin):
    seen, before = [], None
    while True:
        request = CallsRequest(portal_account_ref="x", before=before)
        page = calls_of(1, request, reader=SOMEONE, count=2)
        if not page:
            break
        seen += page
        before = str(CallPosition(at=page[-1].at, request_id=page[-1].request_id))
        Nonce.objects.prune(now=datetime.now(UTC) + timedelta(days=1), batch=3)  # while someone reads
    assert seen == everything()


def test_readings_of_the_list_are_left_out_and_those_of_others_are_not():
    mine = {"route": SELF.route, "secret_id": SELF.secret_id, "address": SELF.address}
    call(1, **mine)
    call(2, **mine | {"address": "198.51.100.1"})
    call(3, **mine | {"secret_id": 2})
    call(4, **mine | {"route": "site/dashboard"})
    Nonce.objects.filter(request_id="req-2").update(expires_at=1)
    Nonce.objects.prune(now=datetime.now(UTC), batch=9)
    found = calls_of(1, CallsRequest(portal_account_ref="x"), reader=SELF, count=9)
    assert ids(found) == ["req-4", "req-3", "req-2"]
    assert len(latest_calls(1, count=9)) == 4
