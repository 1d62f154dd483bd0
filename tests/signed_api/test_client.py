import gzip
import json
import logging
import socket
import threading
import time

import pytest

import es1
from signed_api import client as client_module
from signed_api import transport
from signed_api.account import SECRETS, SecretsRequest
from signed_api.client import Client
from signed_api.errors import (
    BadResponse,
    CallError,
    CannotConnect,
    InactiveEntitlement,
    RateLimited,
    Refused,
    RevokedLink,
    SignatureRefused,
    SlowRequest,
    TimedOut,
    TooManyDisputes,
    UnknownLink,
    Unreachable,
)
from signed_api.findings import DASHBOARD, DashboardRequest, Summary
from tests.factories import SECRET
from tests.faults.certificate import write_certificate
from tests.faults.server import (
    TOO_LATE,
    FaultServer,
    answer,
    closed_port,
    drip,
    drip_unasked,
    hang_up,
    http,
    reset,
    say_nothing,
    send,
    silent_port,
    stall,
)
from tests.signed_api.responses import HOST, dashboard, encoded, refusal
from tests.structs import as_json

ACCOUNT_REF = "acct_0001"
LINK_ID = "6f1c2f0e-8f7e-4f57-9a3b-0d4a5b6c7d8e"
GOOD = encoded(dashboard())
NAIVE = as_json(Summary, last_scan_at="2026-01-02T03:04:05")
OK = answer(200, GOOD)
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def addresses(*numbers):
    """Resolve localhost to these addresses."""
    resolve = socket.getaddrinfo

    def getaddrinfo(host, port, *_, **__):
        names = numbers if host == "localhost" else [host]
        return [
            result for name in names for result in resolve(name, port, socket.AF_INET, socket.SOCK_STREAM)
        ]

    return getaddrinfo


def client_of(base_url, *, seconds=10, **options):
    return Client(base_url, account_ref=ACCOUNT_REF, secret=SECRET, timeout=seconds, **options)


def about(**fields):
    return DashboardRequest(host=HOST, link_id=LINK_ID, **fields)


def call(server, request=None, *, seconds=10):
    return client_of(server.base_url, seconds=seconds).send(DASHBOARD, request or about())


def test_client_returns_the_dashboard():
    with FaultServer(OK) as server:
        result = call(server)
    assert result.host == HOST
    assert result.dashboard.grade == "A"


def test_client_sends_compact_json_without_empty_filters():
    with FaultServer(OK) as server:
        call(server, about(severity="High", query="été", page=2))
    [received] = server.received
    assert received.head.startswith(b"POST /v1/site/dashboard HTTP/1.1\r\n")
    assert (
        received.body
        == (
            '{"portal_account_ref":"acct_0001","host":"shop.example.com",'
            '"link_id":"6f1c2f0e-8f7e-4f57-9a3b-0d4a5b6c7d8e","severity":"High","query":"été","page":2,"page_size":20,'
            '"status":"open","sort":"worst"}'
        ).encode()
    )


def test_client_signs_the_bytes_that_it_sends():
    with FaultServer(OK) as server:
        call(server)
    [received] = server.received
    names = [es1.TIMESTAMP_HEADER, es1.NONCE_HEADER, es1.SIGNATURE_HEADER]
    es1.verify(
        [SECRET],
        {name: received.header(name) for name in names},
        method="POST",
        path="/v1/site/dashboard",
        body=received.body,
        now=int(received.at),
        window=2,
    )


def test_client_requests_no_compression():
    with FaultServer(OK) as server:
        call(server)
    [received] = server.received
    assert received.header("accept-encoding") == "identity"
    assert received.header("content-type") == "application/json"


def test_client_ignores_proxies_and_passwords_of_the_environment(monkeypatch, tmp_path):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login someone password something\n")
    monkeypatch.setenv("NETRC", str(netrc))
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{closed_port()}")
    with FaultServer(OK) as server:
        call(server)
    [received] = server.received
    assert received.header("authorization") is None


# Deadlines


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(say_nothing, id="no-answer-at-all"),
        pytest.param(stall(b"HTTP/1.1 200 OK\r\n"), id="stalls-in-the-headers"),
        pytest.param(stall(http(200, GOOD)[:-20]), id="stalls-in-the-body"),
        pytest.param(drip(b"", http(200, GOOD)), id="drips-the-headers"),
        pytest.param(drip(http(200, GOOD)[: -len(GOOD)], GOOD), id="drips-the-body"),
        pytest.param(
            drip(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n" * 50),
            id="drips-chunks",
        ),
        pytest.param(drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 50), id="drips-interim-answers"),
    ],
)
@pytest.mark.slow
@pytest.mark.once
def test_client_gives_up_at_the_deadline_when_the_service(script):
    started = time.monotonic()
    with FaultServer(script) as server:
        with pytest.raises(TimedOut):
            call(server, seconds=1)
        assert time.monotonic() - started < TOO_LATE
    assert server.connections == 1


@pytest.mark.parametrize("script", [say_nothing, drip_unasked])
def test_client_gives_up_on_a_tls_handshake_that_never_ends(script):
    started = time.monotonic()
    with FaultServer(script) as server:
        client = client_of(server.base_url.replace("http:", "https:"), seconds=1)
        with pytest.raises(TimedOut):
            client.send(DASHBOARD, about())
        assert time.monotonic() - started < TOO_LATE


def test_client_gives_up_at_the_deadline_over_tls_too(tmp_path, monkeypatch):
    certificate, tls = write_certificate(tmp_path)
    monkeypatch.setattr("requests.adapters.DEFAULT_CA_BUNDLE_PATH", str(certificate))
    with FaultServer(OK, drip(http(200, GOOD)[: -len(GOOD)], GOOD), tls=tls) as server:
        assert call(server).host == HOST
        started = time.monotonic()
        with pytest.raises(TimedOut):
            call(server, seconds=1)
        assert time.monotonic() - started < TOO_LATE


def test_client_sends_nothing_to_a_service_whose_certificate_it_does_not_trust(tmp_path):
    _, tls = write_certificate(tmp_path)
    with FaultServer(OK, tls=tls) as server, pytest.raises(CannotConnect, match="certificate"):
        call(server)
    assert server.received == []


def test_client_trusts_the_authorities_of_a_file_of_its_own(tmp_path):
    certificate, tls = write_certificate(tmp_path)
    with FaultServer(OK, tls=tls) as server:
        client = client_of(server.base_url, ca_file=str(certificate))
        assert client.send(DASHBOARD, about()).host == HOST


def test_client_leaves_no_thread_behind():
    with FaultServer(say_nothing) as server:
        before = threading.active_count()
        with pytest.raises(TimedOut):
            call(server, seconds=1)
        assert threading.active_count() <= before + 1  # the server's own, for the connection


# Connections


def test_client_cannot_connect_to_a_closed_port():
    client = client_of(f"http://127.0.0.1:{closed_port()}", seconds=2)
    with pytest.raises(CannotConnect, match="refused"):
        client.send(DASHBOARD, about())


def test_client_cannot_connect_to_a_name_that_does_not_exist():
    client = client_of("https://nowhere.invalid", seconds=20)
    with pytest.raises(CannotConnect):
        client.send(DASHBOARD, about())


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(reset, id="reset"),
        pytest.param(hang_up, id="hung-up"),
        pytest.param(answer(200, GOOD[:-5], length=len(GOOD)), id="truncated"),
        pytest.param(send(b"SSH-2.0-OpenSSH_9.2\r\n"), id="not-http"),
        pytest.param(send(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n"), id="too-many-headers"),
    ],
)
def test_client_reports_a_lost_connection_without_asking_again(script):
    with FaultServer(script) as server, pytest.raises(Unreachable) as caught:
        call(server)
    assert not isinstance(caught.value, CannotConnect)
    assert server.connections == 1


def test_client_tries_the_next_address_of_the_host_when_one_is_silent(monkeypatch):
    with FaultServer(OK) as server, silent_port("127.0.0.2", server.port):
        monkeypatch.setattr("socket.getaddrinfo", addresses("127.0.0.2", "127.0.0.1"))
        client = client_of(f"http://localhost:{server.port}", seconds=4)
        assert client.send(DASHBOARD, about()).host == HOST


def test_client_gives_up_at_the_deadline_however_many_addresses_are_silent(monkeypatch):
    with silent_port() as port:
        monkeypatch.setattr("socket.getaddrinfo", addresses(*(f"127.0.0.{last}" for last in range(1, 9))))
        started = time.monotonic()
        with pytest.raises(TimedOut):
            client_of(f"http://localhost:{port}", seconds=1).send(DASHBOARD, about())
        assert time.monotonic() - started < TOO_LATE


# Bad responses


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(answer(200, b"<html>"), id="html"),
        pytest.param(answer(200, b""), id="empty"),
        pytest.param(answer(200, b"\xff\xfe"), id="not-utf-8"),
        pytest.param(answer(200, GOOD, length=len(GOOD) - 5), id="length-too-short"),
        pytest.param(answer(200, encoded(dashboard(ok=False))), id="not-ok"),
        pytest.param(answer(200, b'{"ok":true}'), id="members-missing"),
        pytest.param(answer(200, encoded(dashboard(threats={}))), id="wrong-type"),
        pytest.param(answer(200, gzip.compress(GOOD), headers=[("Content-Encoding", "gzip")]), id="gzip"),
        pytest.param(answer(200, GOOD, headers=[("Content-Encoding", "br")]), id="said-to-be-encoded"),
        pytest.param(answer(200, b" " * 3_000_000 + GOOD), id="3-megabytes"),
        pytest.param(answer(200, b'{"x":' + b"[" * 500_000), id="nested-without-end"),
        pytest.param(
            answer(200, encoded(dashboard(summary=NAIVE))),
            id="time-without-zone",
        ),
        pytest.param(send(CHUNKED + b"-1\r\n" + b"x" * 100), id="a-chunk-without-an-end"),
        pytest.param(send(CHUNKED + b"-5\r\nabc\r\n0\r\n\r\n"), id="a-chunk-of-a-negative-length"),
        pytest.param(answer(204), id="204"),
        pytest.param(answer(400, b"<html>"), id="400-html"),
        pytest.param(answer(401, b'{"error":"no"}'), id="401-of-another-shape"),
        pytest.param(answer(401, encoded(refusal("a code\n"))), id="401-with-a-code-that-is-none"),
        pytest.param(answer(401, encoded(refusal("stale_timestamp\n"))), id="401-with-a-code-of-two-lines"),
        pytest.param(answer(403, encoded({"ok": True, "error": {"code": "x"}})), id="403-that-says-ok"),
    ],
)
def test_client_refuses_a_bad_response(script):
    with FaultServer(script) as server, pytest.raises(BadResponse):
        call(server)
    assert server.connections == 1


def test_client_never_follows_a_redirect():
    with FaultServer(OK) as elsewhere:
        redirect = answer(307, b"x" * 100, headers=[("Location", elsewhere.base_url + "/v1/site/dashboard")])
        with FaultServer(redirect) as server, pytest.raises(BadResponse):
            call(server)
        assert server.connections == 1
        assert elsewhere.connections == 0


# The one retry


@pytest.mark.parametrize("status", [502, 503, 504])
def test_client_asks_once_more_after(status):
    with FaultServer(answer(status, b"<html>"), OK) as server:
        assert call(server).host == HOST
    assert server.connections == 2


@pytest.mark.parametrize("status", [502, 503, 504])
def test_client_asks_at_most_twice_after(status):
    with FaultServer(answer(status, b"<html>")) as server, pytest.raises(Unreachable):
        call(server)
    assert server.connections == 2


@pytest.mark.parametrize("change", [SecretsRequest(issue=True), SecretsRequest(retire="7")], ids=str)
@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_client_never_changes_secrets_twice(change, status):
    with FaultServer(answer(status, b"<html>"), OK) as server, pytest.raises((Unreachable, RateLimited)):
        client_of(server.base_url).send(SECRETS, change)
    assert server.connections == 1


def test_client_connects_once_more_for_a_change_of_secrets(monkeypatch):
    issued = answer(200, encoded({"ok": True, "secrets": [], "secret": "es1_live_new"}))
    attempts = []

    def fail_first(*arguments, **options):
        attempts.append(arguments)
        if len(attempts) == 1:
            raise CannotConnect("nothing was sent")
        return transport.attempt(*arguments, **options)

    monkeypatch.setattr(client_module, "attempt", fail_first)
    with FaultServer(issued) as server:
        listed = client_of(server.base_url).send(SECRETS, SecretsRequest(issue=True))
    assert (listed.secret, server.connections) == ("es1_live_new", 1)


def test_client_signs_a_retry_with_a_new_nonce():
    with FaultServer(answer(503, headers=[("Retry-After", "1")]), OK) as server:
        call(server)
    first, second = server.received
    assert first.body == second.body
    for name in (es1.TIMESTAMP_HEADER, es1.NONCE_HEADER, es1.SIGNATURE_HEADER):
        assert first.header(name) != second.header(name)


@pytest.mark.parametrize("status", [429, 503])
def test_client_waits_as_long_as_retry_after_asks_when_it_fits(status):
    refused = answer(status, encoded(refusal("rate_limited")), headers=[("Retry-After", "1")])
    with FaultServer(refused, OK) as server:
        call(server)
    first, second = server.received
    assert second.at - first.at >= 1


@pytest.mark.parametrize("retry_after", ["60", "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_client_does_not_ask_again_when_retry_after_does_not_fit(retry_after):
    busy = answer(503, headers=[("Retry-After", retry_after)])
    with FaultServer(busy, OK) as server, pytest.raises(Unreachable):
        call(server)
    assert server.connections == 1


@pytest.mark.parametrize(("retry_after", "seconds"), [("60", 60), ("soon", 0), (None, 0)])
def test_client_reports_a_rate_limit_that_does_not_fit(retry_after, seconds):
    headers = [("Retry-After", retry_after)] if retry_after else []
    limited = answer(429, encoded(refusal("rate_limited")), headers=headers)
    with FaultServer(limited, OK) as server, pytest.raises(RateLimited) as caught:
        call(server)
    assert caught.value.retry_after == seconds
    assert server.connections == 1


def test_client_tells_too_many_disputes_from_too_many_calls():
    too_many = answer(429, encoded(refusal("too_many_open")))
    with FaultServer(too_many, OK) as server, pytest.raises(TooManyDisputes):
        call(server)
    assert server.connections == 1


def test_client_does_not_retry_a_slow_request():
    body = encoded(refusal("unavailable", reason="slow_question", limit_seconds=3))
    slow = answer(503, body, headers=[("Retry-After", "30"), ("X-Request-Id", "0123abcd")])
    with FaultServer(slow, OK) as server, pytest.raises(SlowRequest) as caught:
        call(server)
    assert (caught.value.retry_after, caught.value.request_id) == (30, "0123abcd")
    assert server.connections == 1


@pytest.mark.parametrize(
    "body", [b"<html>slow_question", b'"slow_question"', b'{"ok":false,"error":{"code":"unavailable"}}']
)
def test_client_treats_other_503_as_unreachable(body):
    busy = answer(503, body, headers=[("Retry-After", "60")])
    with FaultServer(busy) as server, pytest.raises(Unreachable):
        call(server)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 413, 500])
def test_client_never_asks_again_after(status):
    refused = answer(status, encoded(refusal("x")))
    with FaultServer(refused, OK) as server, pytest.raises((Refused, Unreachable)):
        call(server)
    assert server.connections == 1


# Refused requests


@pytest.mark.parametrize("code", ["invalid_signature", "stale_timestamp", "replayed_nonce", "anything"])
def test_client_reports_a_refused_signature(code):
    body = encoded(refusal(code))
    with FaultServer(answer(401, body)) as server, pytest.raises(SignatureRefused) as caught:
        call(server)
    assert (caught.value.status, caught.value.code) == (401, code)


def test_client_reports_an_inactive_entitlement_with_its_plan():
    body = refusal("inactive_entitlement", plan="standard", status="expired", ends_on="2026-01-31")
    with FaultServer(answer(403, encoded(body))) as server, pytest.raises(InactiveEntitlement) as caught:
        call(server)
    detail = caught.value.detail
    assert (detail.plan, detail.status, detail.ends_on.isoformat()) == ("standard", "expired", "2026-01-31")


def test_client_reports_an_account_that_never_had_a_plan():
    body = refusal("inactive_entitlement", plan=None, status="expired", ends_on=None)
    with FaultServer(answer(403, encoded(body))) as server, pytest.raises(InactiveEntitlement) as caught:
        call(server)
    assert (caught.value.detail.plan, caught.value.detail.status) == (None, "expired")


def test_client_reports_a_revoked_link_with_its_time():
    body = refusal("revoked_link", revoked_at="2026-01-31T10:00:00Z")
    with FaultServer(answer(403, encoded(body))) as server, pytest.raises(RevokedLink) as caught:
        call(server)
    assert caught.value.detail.revoked_at.isoformat() == "2026-01-31T10:00:00+00:00"


def test_client_reports_an_unknown_link():
    with FaultServer(answer(404, encoded(refusal("unknown_link")))) as server, pytest.raises(UnknownLink):
        call(server)


@pytest.mark.parametrize(("status", "code"), [(404, "not_found"), (403, "other"), (400, "invalid_request")])
def test_client_reports_any_other_refusal_by_its_code(status, code):
    with FaultServer(answer(status, encoded(refusal(code)))) as server, pytest.raises(Refused) as caught:
        call(server)
    assert (caught.value.status, caught.value.code) == (status, code)


def test_client_keeps_the_request_id_of_a_refusal():
    refused = answer(404, encoded(refusal("unknown_link")), headers=[("X-Request-Id", "0123abcd")])
    with FaultServer(refused) as server, pytest.raises(UnknownLink) as caught:
        call(server)
    assert caught.value.request_id == "0123abcd"


def test_client_drops_a_request_id_that_no_log_should_hold():
    refused = answer(500, headers=[("X-Request-Id", "a b\x1b[31m")])
    with FaultServer(refused) as server, pytest.raises(Unreachable) as caught:
        call(server)
    assert caught.value.request_id == ""


@pytest.mark.parametrize("url", ["http://api.example.com", "ftp://127.0.0.1", "api.example.com", ""])
def test_client_sends_nothing_without_encryption_but_to_its_own_machine(url):
    with pytest.raises(ValueError, match="https://"):
        client_of(url)


@pytest.mark.parametrize(
    "script",
    [OK, reset, answer(401, encoded(refusal("invalid_signature"))), answer(200, b"<html>"), answer(502)],
)
def test_no_log_and_no_error_of_the_client_has_the_secret_or_a_signature(script, caplog):
    caplog.set_level(logging.DEBUG)
    log_text = ""
    with FaultServer(script) as server:
        try:
            call(server)
        except CallError as error:
            log_text += _all_texts_of(error)
    log_text += caplog.text
    assert SECRET not in log_text
    for received in server.received:
        assert received.header(es1.SIGNATURE_HEADER) not in log_text
        assert received.header(es1.NONCE_HEADER) not in log_text
        assert json.loads(received.body)["link_id"] not in log_text


def _all_texts_of(error):
    log_text = ""
    while error:
        log_text += f"{error!r} {error} {vars(error)}"
        error = error.__cause__ or error.__context__
    return log_text
