"""Checks 11 and 12: each accepted call is on record, and an account may not call too often."""

import pytest
from django.db import OperationalError
from django.utils import timezone

from dashboard_api.api import signed
from dashboard_api.models import CallOutcome, CallRecord, Nonce, SecretUse, Usage
from dashboard_api.queries.account_calls import latest_calls
from foundation.operations import places
from foundation.operations.places import SlowCallers
from signed_api.claims import CLAIM_CHECK
from tests.dashboard_api.calls import FINDING_PATH, ask, compact, error_of, fields_for, post, signed_headers
from tests.factories import SECRET, make_account, make_link

pytestmark = pytest.mark.django_db


@pytest.fixture
def link():
    return make_link()


def latest(link):
    return latest_calls(link.account_id, count=99)


def test_an_account_whose_calls_are_slow_leaves_threads_to_others(client, link, monkeypatch):
    monkeypatch.setattr(signed, "_slow_callers", callers := SlowCallers(1))
    with monkeypatch.context() as patch:
        patch.setattr(places, "SLOW_SECONDS", 0)
        assert ask(client, fields_for(link)).status_code == 200
    with callers.place(link.account_id):
        refused = ask(client, fields_for(link))
        assert (refused.status_code, error_of(refused)["code"], refused["Retry-After"]) == (
            429, "rate_limited", "2",
        )  # fmt: skip
        other = make_link(make_account("acct_0002"), link.website)
        assert ask(client, fields_for(other)).status_code == 200
    assert ask(client, fields_for(link)).status_code == 200


def test_calls_that_change_something_have_places_too_because_they_wait_for_imports(client, monkeypatch):
    account = make_account()
    monkeypatch.setattr(signed, "_slow_callers", callers := SlowCallers(1))
    with monkeypatch.context() as patch:
        patch.setattr(places, "SLOW_SECONDS", -1)
        with callers.place(account.pk, " change"):
            pass
    fields = {"portal_account_ref": account.ref, "claim_id": "1"}
    with callers.place(account.pk, " change"):
        assert ask(client, fields, path=CLAIM_CHECK.path).status_code == 429
    assert ask(client, fields, path=CLAIM_CHECK.path).status_code == 404


def test_a_call_is_on_record_with_its_facts_and_the_id_of_its_response(client, link):
    before = timezone.now()
    response = ask(client, fields_for(link))
    [row] = latest(link)
    assert before <= row.at <= timezone.now()
    assert (row.secret_id, row.link_id) == (link.account.secrets.get().pk, link.pk)
    assert (row.route, row.request_id) == ("site/dashboard", response["X-Request-Id"])
    assert (row.address, row.status, row.code) == ("127.0.0.1", 200, "")
    assert not CallOutcome.objects.exists()


@pytest.mark.parametrize(
    ("path", "fields", "outcome"),
    [
        ("/v1/site/dashboard", {"page": 0}, (400, "invalid_request")),
        ("/v1/site/dashboard", {"link_id": "another"}, (404, "unknown_link")),
        (FINDING_PATH, {"finding_id": "1"}, (404, "unknown_finding")),
    ],
)
def test_a_refusal_after_the_nonce_is_on_record_with_its_code(client, link, path, fields, outcome):
    response = ask(client, fields_for(link, **fields), path=path)
    [row] = latest(link)
    assert (row.status, row.code) == (response.status_code, error_of(response)["code"]) == outcome
    assert row.route == path.removeprefix("/v1/")


def test_an_unforeseen_error_is_on_record_as_500(client, link, monkeypatch):
    monkeypatch.setattr("dashboard_api.api.views.authorize", lambda *_: 1 / 0)
    assert ask(client, fields_for(link)).status_code == 500
    assert latest(link)[0][-2:] == (500, "internal_error")


def test_a_fault_of_storage_is_on_record_as_503(client, link, monkeypatch):
    def fail(*_):
        raise OperationalError("database is locked")

    monkeypatch.setattr("dashboard_api.api.views.authorize", fail)
    assert ask(client, fields_for(link)).status_code == 503
    assert latest(link)[0][-2:] == (503, "unavailable")


def test_an_outcome_that_cannot_be_stored_is_in_the_log(client, link, monkeypatch, caplog):
    def fail(*_, **__):
        raise OperationalError("database is locked")

    monkeypatch.setattr(CallOutcome, "note", fail)
    assert ask(client, fields_for(link, link_id="another")).status_code == 404
    assert "the outcome unknown_link of a call cannot be stored" in caplog.text


def test_an_address_on_record_is_short_and_printable(client, link, settings):
    settings.TRUST_PROXY = True
    body = compact(fields_for(link))
    for address in ("a" * 99, "192.0.2.7\x7f"):
        assert post(client, body, signed_headers(body), HTTP_X_FORWARDED_FOR=address).status_code == 200
    assert [row.address for row in latest(link)] == ["", "a" * 64]


def test_behind_a_trusted_proxy_the_address_that_it_saw_is_on_record(client, link, settings):
    body = compact(fields_for(link))
    forged = {"HTTP_X_FORWARDED_FOR": "198.51.100.1, 192.0.2.7"}
    post(client, body, signed_headers(body), **forged)
    settings.TRUST_PROXY = True
    post(client, body, signed_headers(body), **forged)
    assert [row.address for row in latest(link)] == ["192.0.2.7", "127.0.0.1"]


def test_callers_who_are_not_authenticated_write_nothing(client, link):
    fields, stranger = fields_for(link), fields_for(link, portal_account_ref="acct_9999")
    for number in range(250):
        assert ask(client, fields, secret=f"another-secret-{number}").status_code == 401
        assert ask(client, stranger).status_code == 401
    for model in (Nonce, CallOutcome, CallRecord, Usage, SecretUse):
        assert not model.objects.exists()


@pytest.fixture
def two_calls(settings):
    """A limit of two calls at once, then one a second."""
    settings.CALLS_PER_SECOND, settings.CALLS_BURST = 1, 2


def statuses(client, link, times, **signing):
    return [ask(client, fields_for(link), **signing).status_code for _ in range(times)]


def test_an_account_that_calls_too_often_is_429_with_the_time_to_wait(client, link, two_calls):
    assert statuses(client, link, 2) == [200, 200]
    response = ask(client, fields_for(link))
    assert (response.status_code, error_of(response)["code"]) == (429, "rate_limited")
    assert response["Retry-After"] == "1"
    assert "may make 1 calls a second, after a pause 2 at once." in error_of(response)["message"]
    assert latest(link)[0][-2:] == (429, "rate_limited")
    assert Usage.objects.get().calls == 2


def test_the_nonce_of_a_limited_call_is_spent(client, link, two_calls):
    statuses(client, link, 2)
    limited = ask(client, fields_for(link), nonce="nonce-of-limited")
    again = ask(client, fields_for(link), nonce="nonce-of-limited")
    assert [error_of(each)["code"] for each in (limited, again)] == ["rate_limited", "replayed_nonce"]
    assert Nonce.objects.count() == 3


def test_the_limit_answers_before_the_fields_are_checked(client, link, two_calls):
    statuses(client, link, 2)
    assert error_of(ask(client, fields_for(link, page=0)))["code"] == "rate_limited"


def test_an_account_may_have_its_own_limit(client, link, two_calls):
    link.account.calls_burst = 3
    link.account.save()
    assert statuses(client, link, 4) == [200, 200, 200, 429]


def test_the_secrets_of_an_account_share_its_limit(client, link, two_calls):
    other = "another-secret-0001"
    link.account.secrets.issue(link.account, by="tests", secret=other)
    assert statuses(client, link, 2, secret=other) == [200, 200]
    assert statuses(client, link, 1, secret=SECRET) == [429]


def test_a_secret_of_the_portal_is_never_limited_and_its_calls_are_on_record(client, link, two_calls):
    link.account.secrets.update(for_portal=True)
    assert statuses(client, link, 5) == [200] * 5
    assert len(latest(link)) == 5
    assert not Usage.objects.exists()


def test_the_portal_in_this_process_is_never_limited(client, link, two_calls):
    body = compact(fields_for(link))
    environ = {"dashboard.in_process": True}
    assert {post(client, body, signed_headers(body), **environ).status_code for _ in range(4)} == {200}


def test_no_header_makes_a_call_look_as_if_it_came_from_the_portal(client, link, two_calls):
    statuses(client, link, 2)
    body = compact(fields_for(link))
    forged = {"HTTP_DASHBOARD.IN_PROCESS": "True", "HTTP_DASHBOARD_IN_PROCESS": "True"}
    assert post(client, body, signed_headers(body), **forged).status_code == 429
