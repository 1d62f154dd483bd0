"""Calls about claims: their errors, and the check, which takes longer than any other call."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from portal.gateway import client
from portal.gateway.client import call
from portal.gateway.errors import TooManyCalls
from portal.gateway.target import Service, SigningAccount
from signed_api.claims import (
    CLAIM,
    CLAIM_CHECK,
    CLAIMS,
    ClaimCheckRequest,
    ClaimRequest,
    ClaimsRequest,
    ClaimsResponse,
    WebsiteClaim,
)
from signed_api.errors import (
    CheckTooSoon,
    ClaimEnded,
    ClaimRefused,
    RateLimited,
    TimedOut,
    UnknownClaim,
    Unreachable,
)
from signed_api.transport import Deadline
from tests.faults.server import FaultServer, answer, http, say_nothing
from tests.portal.gateway.test_client import GOOD, fetch_dashboard
from tests.signed_api.responses import encoded, refusal
from tests.structs import as_json

ACCOUNT = SigningAccount(account_ref="acct_0001", secret="es1_test_0123456789abcdef")
CHECK = ClaimCheckRequest(claim_id="7")
ONE_CLAIM = as_json(WebsiteClaim, claim_id="7", host="shop.example.com", state="pending", token="tdv1-x")
ONE = encoded({"ok": True, "claim": ONE_CLAIM})


def service_at(server, *, seconds=10.0, calls=3):
    return Service(base_url=server.base_url, timeout_seconds=seconds, max_concurrent_calls=calls)


def send(server, route=CLAIM_CHECK, request=CHECK, **options):
    return call(service_at(server, **options), ACCOUNT, route, request).claim


def test_a_claim_is_sent_with_the_account_and_read():
    with FaultServer(answer(200, ONE)) as server:
        assert send(server, CLAIM, ClaimRequest(host="shop.example.com")).claim_id == "7"
    assert server.received[0].body == b'{"portal_account_ref":"acct_0001","host":"shop.example.com"}'


def test_a_page_of_claims_is_read():
    with FaultServer(answer(200, encoded({"ok": True, "claims": [ONE_CLAIM], "total": 9}))) as server:
        claims = call(service_at(server), ACCOUNT, CLAIMS, ClaimsRequest(page=2))
    assert isinstance(claims, ClaimsResponse)
    assert (claims.total, [claim.host for claim in claims.claims]) == (9, ["shop.example.com"])


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [
        (404, "unknown_claim", UnknownClaim),
        (409, "claim_refused", ClaimRefused),
        (409, "wrong_state", ClaimEnded),
        (429, "check_too_soon", CheckTooSoon),
        (429, "rate_limited", RateLimited),
    ],
)
def test_each_refusal_is_an_error_of_its_own(status, code, error):
    script = answer(status, encoded(refusal(code)), headers=[("Retry-After", "12")])
    with FaultServer(script) as server, pytest.raises(error) as raised:
        send(server)
    assert type(raised.value) is error
    assert getattr(raised.value, "retry_after", 12) == 12


def test_the_reasons_of_a_refusal_are_read():
    body = refusal("claim_refused")
    body["error"]["reasons"] = ["Because.", "And because."]
    with FaultServer(answer(409, encoded(body))) as server, pytest.raises(ClaimRefused) as raised:
        send(server, CLAIM, ClaimRequest(host="co.uk"))
    assert raised.value.detail.reasons == ["Because.", "And because."]


def test_a_check_is_sent_once_even_where_another_call_would_be_repeated():
    too_soon = answer(429, encoded(refusal("check_too_soon")), headers=[("Retry-After", "1")])
    for script, error in ((too_soon, CheckTooSoon), (answer(503, b""), Unreachable)):
        with FaultServer(script, answer(200, ONE)) as server:
            with pytest.raises(error):
                send(server)
            assert server.connections == 1


def test_a_check_has_a_longer_deadline_than_other_calls(monkeypatch):
    limits = []

    class Recorded(client.Deadline):
        def __init__(self, seconds):
            limits.append(seconds)
            super().__init__(seconds)

    monkeypatch.setattr(client, "Deadline", Recorded)
    with FaultServer(answer(200, ONE)) as server:
        send(server, seconds=5)
        send(server, CLAIM, ClaimRequest(host="shop.example.com"), seconds=5)
        send(server, seconds=40)
    assert limits == [30, 5, 40]


@pytest.mark.once
def test_checks_that_take_too_long_are_no_outage(monkeypatch):
    monkeypatch.setattr(client, "Deadline", lambda _seconds: Deadline(1))
    with FaultServer(*[say_nothing] * 6, answer(200, GOOD)) as server:
        for _ in range(6):
            with pytest.raises(TimedOut):
                send(server)
        assert fetch_dashboard(service_at(server)).ok


def test_a_second_check_at_once_is_refused_and_other_calls_go_on():
    arrived, may_respond = threading.Event(), threading.Event()

    def blocked(server, connection):
        server.receive(connection)
        arrived.set()
        may_respond.wait(60)
        connection.sendall(http(200, ONE))

    with FaultServer(blocked, answer(200, GOOD)) as server, ThreadPoolExecutor(1) as thread:
        first = thread.submit(send, server, calls=2)
        assert arrived.wait(60)
        with pytest.raises(TooManyCalls):
            send(server, calls=2)
        assert fetch_dashboard(service_at(server, calls=2)).ok
        may_respond.set()
        assert first.result().state == "pending"
