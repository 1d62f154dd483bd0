"""Calls of the portal: what it adds to the client of ``signed_api``."""

import logging
import time
from collections import defaultdict

import pytest

from foundation.operations.request_ids import begin_request, restored_request
from portal.gateway import health
from portal.gateway.client import call
from portal.gateway.target import Service, SigningAccount
from signed_api.errors import BadResponse, SignatureRefused, UnknownLink
from signed_api.findings import DASHBOARD, FINDING, DashboardRequest, FindingRequest
from tests.factories import SECRET
from tests.faults.server import FaultServer, answer
from tests.signed_api.responses import HOST, dashboard, encoded, finding, refusal

SITE = SigningAccount(
    host=HOST, link_id="6f1c2f0e-8f7e-4f57-9a3b-0d4a5b6c7d8e", account_ref="acct_0001", secret=SECRET
)
GOOD = encoded(dashboard())


@pytest.fixture(autouse=True)
def no_failures(monkeypatch):
    """Forget failed calls: a port may have been another test's."""
    monkeypatch.setattr(health, "_services", defaultdict(health.Health))


def fetch_dashboard(service, site=SITE, request=None):
    return call(service, site, DASHBOARD, request or DashboardRequest())


def ask(server):
    return fetch_dashboard(Service(base_url=server.base_url, timeout_seconds=10))


def test_a_call_names_the_website_and_the_account_first():
    with FaultServer(answer(200, GOOD)) as server:
        assert ask(server).host == HOST
    [received] = server.received
    assert received.body == (
        b'{"host":"shop.example.com","link_id":"6f1c2f0e-8f7e-4f57-9a3b-0d4a5b6c7d8e",'
        b'"portal_account_ref":"acct_0001","page":1,"page_size":20,"status":"open","sort":"worst"}'
    )


def test_a_call_carries_the_id_of_the_page_that_needs_it():
    with FaultServer(answer(200, GOOD)) as server, restored_request():
        request_id = begin_request().request_id
        ask(server)
    assert server.received[0].header("x-request-id") == request_id


@pytest.mark.parametrize("route", [DASHBOARD, FINDING])
def test_a_response_about_another_website_is_a_bad_response(route):
    body = dashboard if route is DASHBOARD else finding
    request = DashboardRequest() if route is DASHBOARD else FindingRequest(finding_id="7")
    with FaultServer(answer(200, encoded(body(host="other.example.com")))) as server:
        service = Service(base_url=server.base_url, timeout_seconds=10)
        with pytest.raises(BadResponse):
            call(service, SITE, route, request)


def test_client_warns_of_a_refused_signature_with_the_skew_of_the_clocks(caplog):
    body = encoded(refusal("stale_timestamp", server_time=int(time.time()) - 600))
    stale = answer(401, body, headers=[("X-Request-Id", "0123abcd")])
    with FaultServer(stale) as server, pytest.raises(SignatureRefused):
        ask(server)
    [record] = [record for record in caplog.records if record.name.startswith("portal")]
    assert record.levelno == logging.WARNING
    assert "stale_timestamp" in record.message
    assert "0123abcd" in record.message
    assert "our clock is +60" in record.message


def test_client_notes_a_customers_own_state_without_a_warning(caplog):
    caplog.set_level(logging.INFO)
    with FaultServer(answer(404, encoded(refusal("unknown_link")))) as server, pytest.raises(UnknownLink):
        ask(server)
    [record] = [record for record in caplog.records if record.name.startswith("portal")]
    assert record.levelno == logging.INFO
