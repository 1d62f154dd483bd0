"""``POST /v1/account/calls``: an account reads its own calls, and those of no other."""

import itertools
from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard_api.models import CallRecord, Nonce
from tests.dashboard_api.calls import (
    CALLS_PATH,
    FINDING_PATH,
    PATH,
    ask,
    compact,
    error_of,
    fields_for,
    post,
    signed_headers,
)
from tests.factories import SECRET, make_account, make_call_record, make_link, make_website

pytestmark = pytest.mark.django_db


@pytest.fixture
def link():
    return make_link()


def calls(client, ref="acct_0001", *, secret=SECRET, **fields):
    response = ask(client, {"portal_account_ref": ref, **fields}, path=CALLS_PATH, secret=secret)
    assert response.status_code == 200, response.content
    return response.json()


def test_a_call_is_listed_with_its_facts_and_a_refused_one_with_its_code(client, link):
    first = ask(client, fields_for(link))
    second = ask(client, fields_for(link, finding_id="1"), path=FINDING_PATH)
    third = ask(client, fields_for(link, link_id="another"))
    content = calls(client)
    assert list(content) == ["ok", "calls", "before"]
    secret = link.account.secrets.get()
    rows = content["calls"]
    assert list(rows[0]) == [
        "at", "route", "host", "secret_id", "secret_hint", "status", "code", "request_id", "address",
    ]  # fmt: skip
    assert [(row["route"], row["host"], row["status"], row["code"]) for row in rows] == [
        ("site/dashboard", None, 404, "unknown_link"),
        ("site/finding", "shop.example.com", 404, "unknown_finding"),
        ("site/dashboard", "shop.example.com", 200, None),
    ]
    ids = [response["X-Request-Id"] for response in (third, second, first)]
    assert [row["request_id"] for row in rows] == ids
    assert {(row["secret_id"], row["secret_hint"]) for row in rows} == {(str(secret.pk), secret.hint)}
    assert {row["address"] for row in rows} == {"127.0.0.1"}


def test_each_of_several_accounts_reads_its_own_calls_before_and_after_their_nonces_expire(client):
    websites = [make_website(f"{name}.example.com") for name in "abc"]
    own = {}
    for number in (1, 2, 3):
        ref, secret = f"acct_{number}", f"secret-of-account-{number}"
        account = make_account(ref, secrets=[secret])
        links = [make_link(account, website) for website in websites]
        answers = [ask(client, fields_for(link), secret=secret) for link in links]
        own[ref] = secret, {answer["X-Request-Id"] for answer in answers}
    for is_expired in (False, True):
        if is_expired:
            Nonce.objects.prune(now=timezone.now() + timedelta(days=1), batch=99)
        for ref, (secret, ids) in own.items():
            listed = {row["request_id"] for row in calls(client, ref, secret=secret)["calls"]}
            assert listed == ids
    for (ref, _), (_, (secret, _ids)) in itertools.permutations(own.items(), 2):
        refused = ask(client, {"portal_account_ref": ref}, path=CALLS_PATH, secret=secret)
        assert (refused.status_code, error_of(refused)["code"]) == (401, "invalid_signature")


def test_the_website_of_another_account_has_no_name(client, link):
    theirs = make_link(make_account("acct_0002", secrets=[]), make_website("theirs.example.com"))
    ask(client, fields_for(link, link_id=theirs.link_id, host="theirs.example.com"))
    make_call_record(account_id=link.account_id, link_id=theirs.pk, request_id="r", address="", code="")
    assert [row["host"] for row in calls(client)["calls"]] == [None, None]


def test_a_website_that_another_owner_proved_since_then_keeps_its_name_and_says_nothing_more(client, link):
    ask(client, fields_for(link))
    link.revoke(by="ada", reason="sold", now=timezone.now())
    link.website.retire(now=timezone.now())
    assert [row["host"] for row in calls(client)["calls"]] == ["shop.example.com"]


def test_an_account_without_a_plan_sees_that_its_calls_are_refused(client):
    link = make_link(make_account(entitled=False))
    ask(client, fields_for(link))
    assert [row["code"] for row in calls(client)["calls"]] == ["inactive_entitlement"]


def test_before_continues_the_list_and_ends_with_null(client, link):
    for _ in range(5):
        ask(client, fields_for(link))
    whole = [row["request_id"] for row in calls(client)["calls"]]
    seen, before = [], ""
    while before is not None:
        page = calls(client, page_size=2, before=before)
        seen += [row["request_id"] for row in page["calls"]]
        before = page["before"]
    assert seen == whole
    assert len(set(whole)) == 5


def test_filters_narrow_the_list(client, link):
    answered = ask(client, fields_for(link))["X-Request-Id"]
    refused = ask(client, fields_for(link, page=0))["X-Request-Id"]
    today = timezone.now().date()

    def shown(**fields):
        return [row["request_id"] for row in calls(client, **fields)["calls"]]

    assert shown(outcome="answered") == [answered]
    assert shown(outcome="REFUSED", day=today.isoformat()) == [refused]
    assert shown(day=(today - timedelta(days=1)).isoformat()) == []
    assert shown(day="9999-12-31") == []


def test_reading_the_list_is_on_record_and_does_not_fill_the_list(client, link):
    for _ in range(3):
        assert calls(client)["calls"] == []
    assert Nonce.objects.filter(route="account/calls").count() == 3
    Nonce.objects.prune(now=timezone.now() + timedelta(days=1), batch=99)
    assert CallRecord.objects.count() == 1, "the first of a minute: each makes the next slower"
    body = compact({"portal_account_ref": "acct_0001"})
    elsewhere = post(
        client, body, signed_headers(body, path=CALLS_PATH), path=CALLS_PATH, REMOTE_ADDR="192.0.2.66"
    )
    assert elsewhere.status_code == 200
    assert [row["address"] for row in calls(client)["calls"]] == ["192.0.2.66"]


def test_a_refused_reading_does_not_keep_the_next_one_from_the_record(client, link):
    body = compact({"portal_account_ref": "acct_0001"})
    own = signed_headers(body, path=CALLS_PATH)
    assert post(client, body, own, path=CALLS_PATH).status_code == 200
    elsewhere = {"path": CALLS_PATH, "REMOTE_ADDR": "192.0.2.66"}
    assert post(client, body, own, **elsewhere).status_code == 401
    assert post(client, body, signed_headers(body, path=CALLS_PATH), **elsewhere).status_code == 200
    assert [row["address"] for row in calls(client)["calls"]] == ["192.0.2.66"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("day", "2026-02-30"),
        ("day", "20260301"),
        ("day", 1),
        ("outcome", "ok"),
        ("before", "yesterday"),
        ("before", "1" * 18 + ".x"),
        ("before", "1.\n"),
        ("page_size", 1001),
        ("page_size", 0),
        ("host", "shop.example.com"),
        ("link_id", "x"),
    ],
)
def test_a_wrong_field_is_400_and_named(client, link, field, value):
    response = ask(client, {"portal_account_ref": "acct_0001", field: value}, path=CALLS_PATH)
    assert response.status_code == 400
    assert [error["field"] for error in error_of(response)["errors"]] == [field]


@pytest.mark.parametrize("before", ["0.", "99999999999999999.x", "1763370000123456.9f2b-_.x"])
def test_any_position_can_be_asked_for(client, link, before):
    assert calls(client, before=before)["ok"] is True


def test_the_checks_are_those_of_every_signed_call_in_the_same_order(client, link, settings):
    settings.CALLS_PER_SECOND, settings.CALLS_BURST = 1, 1
    fields = {"portal_account_ref": "acct_0001", "page_size": 0}
    body = compact(fields)

    def code(body=body, path=CALLS_PATH, content_type="application/json", **signing):
        headers = signed_headers(body, path=CALLS_PATH, **signing)
        return error_of(post(client, body, headers, path=path, content_type=content_type))["code"]

    assert code(path=CALLS_PATH + "/") == "not_found"
    assert error_of(client.get(CALLS_PATH))["code"] == "method_not_allowed"
    assert error_of(client.post(CALLS_PATH + "?a=1", body, "application/json"))["code"] == "unexpected_query"
    assert code(content_type="text/plain") == "unsupported_media_type"
    assert code(body=b" " * 8193) == "body_too_large"
    assert code(now=1) == "stale_timestamp"
    assert code(body=b"[]") == "malformed_json"
    assert code(secret="x" * 40) == "invalid_signature"
    assert code(body=compact(fields | {"portal_account_ref": "acct_9"})) == "invalid_signature"
    assert not Nonce.objects.exists()
    assert code(nonce="nonce-of-test") == "invalid_request"
    assert code(nonce="nonce-of-test") == "replayed_nonce"
    assert code() == "rate_limited"


def test_the_signature_of_another_route_does_not_fit(client, link):
    body = compact({"portal_account_ref": "acct_0001"})
    response = post(client, body, signed_headers(body, path=PATH), path=CALLS_PATH)
    assert error_of(response)["code"] == "invalid_signature"


def test_calls_older_than_180_days_end_with_prune(client, link):
    make_call_record(
        account_id=link.account_id,
        at=timezone.now() - timedelta(days=179),
        request_id="r",
        address="",
        code="",
    )
    assert [row["request_id"] for row in calls(client)["calls"]] == ["r"]
    assert CallRecord.objects.count() == 1
