"""One finding, from a service with the call and from one without it."""

import json

import pytest

import es1
from portal.gateway import (
    BadResponse,
    DashboardRequest,
    LinkedSite,
    RateLimited,
    Service,
    UnknownFinding,
    fetch_finding,
)
from tests.factories import SECRET
from tests.faults.server import FaultServer, answer
from tests.portal.gateway.responses import HOST, dashboard, encoded, finding, note, refusal, threat

SITE = LinkedSite(
    host=HOST, link_id="6f1c2f0e-8f7e-4f57-9a3b-0d4a5b6c7d8e", account_ref="acct_0001", secret=SECRET
)
NO_SUCH_PATH = answer(404, encoded(refusal("not_found")))
LIST = answer(
    200,
    encoded(
        dashboard(
            threats=[threat("6"), threat(cwe=[79], evidence="GET /")],
            analyst_notes=[note(1, finding_id="7"), note(2, finding_id="6"), note(3)],
        )
    ),
)


def call(server, finding_id="7", **filters):
    service = Service(base_url=server.base_url, timeout_seconds=10)
    return fetch_finding(service, SITE, finding_id, DashboardRequest(**filters))


def test_a_finding_is_requested_by_its_id_at_its_own_path():
    body = finding(
        finding=threat(
            locations=[{"location": "/a", "evidence": "GET /a"}],
            timeline=[{"at": "2026-01-02T03:04:05Z", "event": "first_seen", "by": "somebody"}],
        ),
        analyst_notes=[note(1, finding_id="7")],
    )
    with FaultServer(answer(200, encoded(body))) as server:
        result = call(server, severity="High")
    [received] = server.received
    assert received.head.startswith(b"POST /v1/site/finding HTTP/1.1\r\n")
    assert json.loads(received.body) == {
        "host": HOST, "link_id": SITE.link_id, "portal_account_ref": "acct_0001", "finding_id": "7",
    }  # fmt: skip
    timestamp, nonce = received.header(es1.TIMESTAMP_HEADER), received.header(es1.NONCE_HEADER)
    canonical = es1.canonical_string(timestamp, nonce, "POST", "/v1/site/finding", received.body)
    assert received.header(es1.SIGNATURE_HEADER) == es1.signature(SECRET, canonical)
    assert (result.finding.locations[0].evidence, result.finding.timeline[0].event) == (
        "GET /a",
        "first_seen",
    )
    assert [entry.id for entry in result.analyst_notes] == ["1"]


@pytest.mark.parametrize("missing", [NO_SUCH_PATH, answer(404, b"<h1>Not Found</h1>")], ids=["json", "html"])
def test_an_older_service_gets_a_request_for_the_list(missing):
    with FaultServer(missing, LIST) as server:
        result = call(server, severity="High", page=2)
    assert json.loads(server.received[1].body)["page"] == 2
    assert (result.finding.id, result.finding.cwe, result.finding.evidence) == ("7", [79], "GET /")
    assert [entry.id for entry in result.analyst_notes] == ["1"]


def test_a_finding_missing_from_the_list_is_unknown():
    with FaultServer(NO_SUCH_PATH, LIST) as server, pytest.raises(UnknownFinding):
        call(server, "8")


def test_an_unknown_finding_is_not_searched_in_the_list():
    unknown = answer(404, encoded(refusal("unknown_finding")))
    with FaultServer(unknown) as server, pytest.raises(UnknownFinding):
        call(server)
    assert len(server.received) == 1


@pytest.mark.parametrize(
    "body",
    [
        finding(host="other.example.com"),
        finding(ok=False),
        finding(finding=threat("8")),
        finding(finding=threat(severity=None)),
        dashboard(),
    ],
)
def test_a_response_about_another_website_is_a_bad_response(body):
    with FaultServer(answer(200, encoded(body))) as server, pytest.raises(BadResponse):
        call(server)


def test_other_refusals_are_those_of_the_dashboard():
    with FaultServer(answer(429, encoded(refusal("rate_limited")))) as server, pytest.raises(RateLimited):
        call(server)
