"""Calls on record in the admin: the latest on the page of a customer, older ones in a list."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.utils import timezone

from dashboard_api.models import CallOutcome, CallRecord, Nonce
from tests.factories import make_account, make_nonce, make_user

pytestmark = pytest.mark.django_db

CALLS = "/admin/dashboard_api/callrecord/"


@pytest.fixture
def account():
    """An account with an older call and a recent one, which was refused."""
    account = make_account()
    past = timezone.now() - timedelta(hours=1)
    make_nonce("old-nonce", account_id=account.pk, at=past, expires_at=past, request_id="0000000000000001")
    Nonce.objects.prune(now=timezone.now(), batch=9)
    make_nonce("new-nonce", account_id=account.pk, request_id="0000000000000002")
    CallOutcome.note(account.pk, "new-nonce", status=404, code="unknown_link")
    return account


def staff(client, *permissions):
    user = make_user("ada", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client.force_login(user)
    return client


def test_the_page_of_a_customer_shows_its_latest_calls(client, account):
    staff(client, "view_account", "view_callrecord")
    page = client.get(f"/admin/dashboard_api/account/{account.pk}/change/").content.decode()
    assert page.index("0000000000000002") < page.index("0000000000000001")
    assert "404 unknown_link" in page


def test_calls_are_only_shown_to_who_may_see_them(client, account):
    staff(client, "view_account")
    page = client.get(f"/admin/dashboard_api/account/{account.pk}/change/").content.decode()
    assert "0000000000000002" not in page
    assert client.get(CALLS).status_code == 403


@pytest.mark.parametrize(
    ("query", "count"),
    [("", 1), ("acct_0001", 1), ("0000000000000001", 1), ("acct_0002", 0), ("000000000000000", 0)],
)
def test_older_calls_are_found_by_customer_and_request_id(client, account, query, count):
    staff(client, "view_callrecord")
    changes = client.get(CALLS, {"q": query}).context["cl"]
    assert [call.ref for call in changes.result_list] == ["acct_0001"] * count


def test_nothing_about_a_call_can_be_changed(client, account):
    client.force_login(make_user("root", is_staff=True, is_superuser=True))
    page = f"{CALLS}{CallRecord.objects.get().pk}/"
    assert client.get(f"{page}change/").status_code == 200
    assert client.post(f"{page}change/", {"status": 500}).status_code == 403
    assert client.post(f"{page}delete/", {"post": "yes"}).status_code == 403
    assert client.get(f"{CALLS}?answer=refused").context["cl"].result_count == 0
