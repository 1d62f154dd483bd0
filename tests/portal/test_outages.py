"""Pages while the service fails: the last good answer, and a page for each of many faults."""

import gzip
import re
import threading
import time
from datetime import timedelta

import msgspec
import pytest
import requests
from django.utils import timezone

from portal.answers import service
from portal.gateway import client, health, target
from portal.models import LastAnswer
from signed_api.findings import DashboardResponse, Summary
from signed_api.transport import Exchange
from tests.factories import SECRET, make_membership, make_portal_website, make_user
from tests.faults.certificate import write_certificate
from tests.faults.server import (
    STALL_SECONDS,
    FaultServer,
    answer,
    drip,
    drip_unasked,
    free_port,
    hang_up,
    http,
    reset,
    say_nothing,
    send,
    silent_port,
    stall,
)
from tests.signed_api.responses import HOST, dashboard, encoded, finding, refusal, threat
from tests.structs import as_json

pytestmark = pytest.mark.django_db

PATH = f"/sites/{HOST}/"
GOOD = encoded(dashboard(summary=as_json(Summary, open=1), threats=[threat(title="SQL injection")]))
MARK = "TEXT-OF-THE-SERVICE"
MOMENT = 0.2  # seconds
OUTAGES = [answer(500, MARK.encode()), answer(502, b""), answer(503, b""), hang_up, stall()]


@pytest.fixture
def website():
    return make_portal_website()


@pytest.fixture
def browser(client, website, settings, monkeypatch):
    """The signed-in owner of the website."""
    owner = make_user()
    make_membership(owner, website.account)
    client.force_login(owner)
    monkeypatch.setattr(target, "MIN_TIMEOUT_SECONDS", 0)
    monkeypatch.setattr("signed_api.client.PAUSE_SECONDS", 0)
    settings.DASHBOARD_TIMEOUT_SECONDS = 30
    return client


@pytest.fixture
def impatient(settings):
    """Call it to let pages wait only a moment for the service."""
    return lambda: setattr(settings, "DASHBOARD_TIMEOUT_SECONDS", MOMENT)


@pytest.fixture
def deadlines(monkeypatch):
    """The seconds of every deadline that the client sets; it reads, writes and connects only within one."""
    given, deadline = [], client.Deadline
    monkeypatch.setattr(client, "Deadline", lambda seconds: given.append(seconds) or deadline(seconds))
    return given


@pytest.fixture
def serve(settings):
    """Start a server with these scripts, and let the portal call it."""
    servers = []

    def start(*scripts, **options):
        server = FaultServer(*scripts, **options).__enter__()
        servers.append(server)
        settings.DASHBOARD_BASE_URL = server.base_url
        health.health_of(server.base_url).record(failed=False)  # the port may have been another server's
        return server

    yield start
    for server in servers:
        server.__exit__()


def make_older(minutes):
    received_at = timezone.now() - timedelta(minutes=minutes)
    LastAnswer.objects.update(received_at=received_at)
    return received_at


@pytest.mark.parametrize("outage", OUTAGES)
def test_an_outage_shows_the_last_answer_with_its_time_and_nothing_to_export_or_share(
    browser, serve, impatient, outage, monkeypatch
):
    counted = []
    monkeypatch.setattr("portal.answers.last_answers.count_last_answer", lambda: counted.append(1))
    serve(answer(200, GOOD), outage)
    before = browser.get(PATH).text
    assert "Showing data from" not in before
    assert "findings.csv" in before
    assert "Create share link" in before
    received_at = make_older(minutes=0)
    impatient()
    assert counted == []
    page = browser.get(PATH)
    assert (page.status_code, counted) == (200, [1])
    assert "SQL injection" in page.text
    assert re.search(r"Could not reach the service at \d\d:\d\d\. Showing data from", page.text)
    assert f"Showing data from {received_at:%H:%M} UTC." in page.text
    assert "Try again" in page.text
    assert "Reference for support" in page.text
    assert "findings.csv" not in page.text
    assert "Create share link" not in page.text
    assert MARK not in page.text


def test_a_page_with_an_old_answer_asks_again_by_itself_and_less_and_less_often(browser, serve):
    serve(answer(200, GOOD), answer(502, b""))
    browser.get(PATH)
    seen = browser.get(PATH).text
    waits = []
    for _ in range(6):
        [(name, wait)] = re.findall(r'<div id="(outage-\d+)"[^>]*hx-trigger="load delay:(\d+)s"', seen)
        waits.append(int(wait))
        poll = browser.get(PATH, headers={"HX-Request": "true", "HX-Target": "results", "HX-Trigger": name})
        assert (poll.status_code, poll["HX-Retarget"]) == (200, f"#{name}")
        assert poll["HX-Reswap"] == "outerHTML"
        seen = poll.text
        assert "SQL injection" not in seen  # the list stays as it is
    assert waits == [30, 60, 120, 240, 300, 300]


def test_after_the_outage_the_page_has_the_new_answer_and_asks_no_more(browser, serve):
    serve(answer(200, GOOD), answer(502, b""), answer(502, b""), answer(200, GOOD))
    browser.get(PATH)
    browser.get(PATH)
    poll = {"HX-Request": "true", "HX-Target": "results", "HX-Trigger": "outage-30"}
    region = browser.get(PATH, headers=poll)
    assert "SQL injection" in region.text
    assert "HX-Retarget" not in region
    assert "outage-" not in region.text


def test_a_refusal_ends_the_attempts(browser, serve):
    serve(answer(200, GOOD), answer(403, encoded(refusal("revoked_link"))))
    browser.get(PATH)
    poll = {"HX-Request": "true", "HX-Target": "results", "HX-Trigger": "outage-30"}
    region = browser.get(PATH, headers=poll)
    assert (region.status_code, region["HX-Retarget"]) == (403, "#results")
    assert "outage-" not in region.text


@pytest.mark.parametrize("trigger", ["outage-", "outage-0", "outage-1;x", "outage-99999", "filters"])
def test_no_trigger_lets_a_page_ask_more_often(browser, serve, trigger):
    serve(answer(200, GOOD), answer(502, b""))
    browser.get(PATH)
    page = browser.get(PATH, headers={"HX-Request": "true", "HX-Target": "results", "HX-Trigger": trigger})
    assert 'id="outage-30"' in page.text


def test_an_answer_of_the_day_before_has_its_date(browser, serve):
    serve(answer(200, GOOD), answer(502, b""))
    browser.get(PATH)
    received_at = make_older(minutes=23 * 60)
    page = browser.get(PATH).text
    if received_at.date() != timezone.now().date():  # all but an hour of the day
        assert f"Showing data from {received_at.day} {received_at:%b %Y, %H:%M} UTC." in page


def test_the_last_answer_of_a_finding_is_shown_too(browser, serve):
    serve(answer(200, encoded(finding())), answer(200, GOOD), answer(502, b""))
    address = f"{PATH}findings/7/"
    assert browser.get(address).status_code == 200
    page = browser.get(address)
    assert "A finding" in page.text
    assert "Showing data from" in page.text


@pytest.mark.parametrize("filters", ["?severity=High", "?page=2"])
def test_other_filters_have_no_answer_of_their_own(browser, serve, filters):
    serve(answer(200, GOOD), answer(502, b""))
    browser.get(PATH)
    page = browser.get(PATH + filters)
    assert page.status_code == 502
    assert "SQL injection" not in page.text


REFUSALS = {
    "signature": (401, refusal("invalid_signature")),
    "entitlement": (403, refusal("inactive_entitlement", plan="standard", status="expired")),
    "no plan": (403, refusal("inactive_entitlement", plan=None, status="expired")),
    "revoked": (403, refusal("revoked_link", revoked_at="2026-01-01T00:00:00Z")),
    "unknown": (404, refusal("unknown_link")),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_never_shows_an_old_answer_and_deletes_it(browser, serve, name):
    status, body = REFUSALS[name]
    serve(answer(200, GOOD), answer(status, encoded(body)), answer(502, b""))
    browser.get(PATH)
    for expected in (502 if status == 401 else status, 502):
        page = browser.get(PATH)
        assert page.status_code == expected
        assert "SQL injection" not in page.text
    assert not LastAnswer.objects.exists()


def test_a_broken_answer_is_no_outage(browser, serve):
    serve(answer(200, GOOD), answer(200, b"{}"))
    browser.get(PATH)
    assert "SQL injection" not in browser.get(PATH).text


def test_a_member_who_left_sees_no_old_answer(browser, serve, website):
    serve(answer(200, GOOD), answer(502, b""))
    browser.get(PATH)
    website.account.memberships.all().delete()
    assert browser.get(PATH).status_code == 404


def test_a_service_in_this_process_leaves_no_answer_behind(browser, settings, monkeypatch):
    settings.DASHBOARD_BASE_URL, settings.DASHBOARD_APPLICATION = "", "config.web.in_process.application"
    decoded = msgspec.json.decode(GOOD, type=DashboardResponse)
    monkeypatch.setattr(service, "get_dashboard", lambda *_: decoded)
    browser.get(PATH)
    assert not LastAnswer.objects.exists()


# The matrix: each fault has a page of its own kind.

STALE = refusal("stale_timestamp", window_seconds=300)
HEAD = b"HTTP/1.1 200 OK\r\n"
FAULTS = {
    "hangs up": hang_up,
    "resets": reset,
    "says nothing": say_nothing,
    "stalls before the status": stall(),
    "stalls in the status": stall(b"HTTP/1.1 2"),
    "stalls in the headers": stall(HEAD + b"Content-Ty"),
    "stalls in the body": stall(http(200, GOOD)[:-20]),
    "drips headers": drip(HEAD, b"X: " + b"x" * 500, every=0.05),
    "drips the body": drip(http(200, b"", length=500), b"x" * 500, every=0.05),
    "is not HTTP": send(MARK.encode() * 10),
    "speaks SSH": send(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "sends an endless header": send(HEAD + b"X: " + b"x" * 70_000 + b"\r\n\r\n"),
    "sends too many headers": send(HEAD + b"X: x\r\n" * 200 + b"\r\n"),
    "sends a bad chunk": send(HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + MARK.encode()),
    "ends in the body": answer(200, GOOD, length=len(GOOD) + 10),
    "sends nothing as JSON": answer(200, b""),
    "sends a page": answer(200, f"<html>{MARK}</html>".encode()),
    "sends half a document": answer(200, GOOD[: len(GOOD) // 2]),
    "sends a list": answer(200, b"[]"),
    "sends deep JSON": answer(200, b"[" * 100_000),
    "sends another encoding": answer(200, GOOD.decode().encode("utf-16")),
    "sends ok: false": answer(200, encoded(dashboard(ok=False))),
    "leaves a member out": answer(200, encoded({k: v for k, v in dashboard().items() if k != "entitlement"})),
    "sends a wrong type": answer(200, encoded(dashboard(threats={"id": MARK}))),
    "sends another website": answer(200, encoded(dashboard(host="other.example.com"))),
    "sends too much": answer(200, b" " * (2 * 1024 * 1024) + GOOD),
    "sends gzip": answer(200, gzip.compress(GOOD), headers=[("Content-Encoding", "gzip")]),
    "sends 204": answer(204),
    "redirects": "302",
    "redirects with the body": "307",
    "sends 400": answer(400, encoded(refusal("invalid_request", message=MARK))),
    "sends 401": answer(401, encoded(refusal("invalid_signature", message=MARK))),
    "has a clock behind": answer(401, encoded(STALE | {"error": STALE["error"] | {"server_time": 600}})),
    "has a clock ahead": answer(401, encoded(STALE | {"error": STALE["error"] | {"server_time": 2**33}})),
    "sends 429": answer(429, MARK.encode(), headers=[("Retry-After", "60")]),
    "sends 500": answer(500, f"Traceback {MARK}".encode()),
    "sends 502": answer(502, f"<html>{MARK}</html>".encode()),
    "sends 503": answer(503, b"", headers=[("Retry-After", "3600")]),
    "sends 504": answer(504, MARK.encode()),
}


def check_page(browser, name, *, threads):
    """Get the page, and check what every fault has in common."""
    started = time.monotonic()
    page = browser.get(PATH)
    assert time.monotonic() - started < STALL_SECONDS, name
    assert page.status_code in (502, 503, 504), name
    assert re.search(r"<h2>[A-Z][a-z ]+</h2>", page.text), name
    for words in ("Try again", "Reference for support"):
        assert words in page.text, name
    for hidden in (SECRET, MARK, "Traceback", "127.0.0.1", "signature"):
        assert hidden not in page.text, name
    assert threading.active_count() <= threads + 2, name  # the server's own


def check_fault(browser, serve, name):
    """Let the service have the fault, and check the page and what was sent."""
    threads = threading.active_count()
    with FaultServer(answer(200, GOOD)) as evil:
        script = FAULTS[name]
        if isinstance(script, str):
            script = answer(int(script), headers=[("Location", evil.base_url + "/v1/site/dashboard")])
        server = serve(script)
        check_page(browser, name, threads=threads + 1)
        assert evil.connections == 0
        assert server.connections <= 2
        nonces = [received.header("x-service-nonce") for received in server.received]
        assert len(set(nonces)) == len(nonces)


@pytest.mark.once
@pytest.mark.slow  # tests/portal/gateway has each of them as an error of the gateway
@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_has_a_page_in_plain_words(browser, serve, impatient, deadlines, name):
    impatient()
    check_fault(browser, serve, name)
    assert deadlines == [MOMENT]  # of both attempts together


def naive(url, body, **_):
    """Call the service as a program does at first: no deadline for the whole call, redirects, no limits."""
    response = requests.post(url, data=body, timeout=MOMENT)
    return Exchange(
        url=url,
        sent_headers={},
        sent_body=body,
        status=response.status_code,
        headers={},
        body=response.content,
    )


@pytest.mark.once
@pytest.mark.slow
def test_a_plain_client_is_noticed_by_at_least_12_faults(browser, serve, impatient, monkeypatch):
    impatient()
    monkeypatch.setattr(client, "attempt", naive)
    noticed = []
    for name in FAULTS.keys() - {"drips headers", "drips the body"}:  # it would read them to their end
        try:
            check_fault(browser, serve, name)
        except (AssertionError, OSError):  # what requests raises is an OSError
            noticed.append(name)
    assert len(noticed) >= 12, noticed
    assert {"redirects", "stalls in the headers", "sends gzip"} <= set(noticed)


@pytest.mark.slow
def test_a_service_without_a_connection_has_a_page_too(browser, settings, serve, impatient, tmp_path):
    impatient()
    threads = threading.active_count()
    settings.DASHBOARD_BASE_URL = f"http://127.0.0.1:{free_port()}"
    check_page(browser, "closed port", threads=threads)
    settings.DASHBOARD_BASE_URL = "https://no-such-name.invalid"
    check_page(browser, "no such name", threads=threads)
    with silent_port() as port:
        settings.DASHBOARD_BASE_URL = f"http://127.0.0.1:{port}"
        check_page(browser, "silent port", threads=threads)
    _, tls = write_certificate(tmp_path)
    server = serve(answer(200, GOOD), tls=tls)
    check_page(browser, "certificate that is not trusted", threads=threads + 1)
    assert server.received == []
    server = serve(drip_unasked)
    settings.DASHBOARD_BASE_URL = server.base_url.replace("http:", "https:")
    check_page(browser, "endless handshake", threads=threads + 2)
