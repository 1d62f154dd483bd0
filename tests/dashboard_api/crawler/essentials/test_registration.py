"""The registration of a domain by RDAP: its last day, or the reason why that is not known."""

import json

import pytest

from dashboard_api.crawler.essentials.domain.registration import registration
from dashboard_api.crawler.essentials.domain.site import Site
from dashboard_api.crawler.reasons import domain_explanation
from foundation.outbound.deadline import Deadline
from tests.faults.server import answer, hang_up
from tests.foundation.outbound.internet import OTHER, PUBLIC, Internet

SERVICE, REGISTRY = "http://rdap.example.org", "http://registry.example.net"
ENDS = {"eventAction": "expiration", "eventDate": "2027-08-13T04:00:00Z"}
CARD = ["vcard", [["version", {}, "text", "4.0"], ["fn", {}, "text", "Example\u202e Registrar"]]]
ANSWER = {
    "objectClassName": "domain",
    "ldhName": "EXAMPLE.COM",
    "events": [{"eventAction": "registration", "eventDate": "1995-08-14T04:00:00Z"}, ENDS],
    "entities": [{"roles": ["abuse"]}, {"roles": ["registrar"], "vcardArray": CARD}],
}


@pytest.fixture
def internet(monkeypatch):
    internet = Internet(monkeypatch)
    internet.zone |= {"rdap.example.org.": [PUBLIC], "registry.example.net.": [OTHER]}
    yield internet
    internet.end()


def found(*, host="shop.example.com", domain="example.com", service=SERVICE, seconds=20.0, **options):
    return registration(Site(host=host, domain=domain, deadline=Deadline(seconds), **options), service)


def said(content, status=200):
    return answer(status, content if isinstance(content, bytes) else json.dumps(content).encode())


def redirect(to):
    return answer(302, headers=[("Location", to)])


def test_the_last_day_is_that_of_the_registry_to_which_the_service_leads(internet):
    service = internet.serve(redirect(f"{REGISTRY}/v1/domain/example.com"))
    registry = internet.serve(said(ANSWER), address=OTHER)
    assert found(agent="Agent/1") == {
        "name": "example.com",
        "valid_until": "2027-08-13T04:00:00Z",
        "registrar": "Example Registrar",
        "reason": "",
    }
    assert b"GET /domain/example.com HTTP" in service.received[0].head
    assert registry.received[0].header("user-agent") == "Agent/1"


@pytest.mark.parametrize(
    ("date", "shown"),
    [
        ("2027-08-13T06:00:00+02:00", "2027-08-13T04:00:00Z"),
        ("2027-08-13T04:00:00.0Z", "2027-08-13T04:00:00Z"),
        ("2027-08-13", "2027-08-13T00:00:00Z"),
        ("9999-12-31T23:59:59-23:00", None),
        ("soon", None),
        ("", None),
    ],
)
def test_dates_are_read_in_the_forms_that_registries_use(internet, date, shown):
    internet.serve(said(ANSWER | {"events": [ENDS | {"eventDate": date}]}))
    facts = found()
    assert (facts["valid_until"], facts["reason"]) == (shown, "" if shown else "no_day")


@pytest.mark.parametrize(
    "entities",
    [None, {}, [1], [{"roles": "registrar"}], [{"roles": ["registrar"], "vcardArray": ["vcard"]}]],
    ids=str,
)
def test_a_registrar_that_cannot_be_read_is_left_out(internet, entities):
    internet.serve(said(ANSWER | {"entities": entities}))
    assert (found()["registrar"], found()["valid_until"]) == ("", "2027-08-13T04:00:00Z")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (said({}, 404), "no_server"),
        (said({}, 429), "failed"),
        (said({}, 500), "failed"),
        (said([]), "failed"),
        (said(b"<html>"), "failed"),
        (said(b"[" * 100_000), "failed"),
        (said(ANSWER | {"ldhName": "example.net"}), "failed"),
        (said(ANSWER | {"objectClassName": "entity"}), "failed"),
        (said(ANSWER | {"events": [{"eventAction": 1}]}), "failed"),
        (said(ANSWER | {"events": []}), "no_day"),
        (said(ANSWER | {"remarks": "x" * 300_000}), "failed"),
        (redirect("file:///etc/passwd"), "failed"),
        (redirect("http://127.0.0.1/domain/example.com"), "failed"),
        (redirect("http://[/"), "failed"),
        (redirect(f"{SERVICE}/domain/example.com"), "failed"),
        (hang_up, "failed"),
    ],
)
def test_a_failure_is_a_reason_in_words(internet, script, reason):
    internet.serve(script)
    facts = found()
    assert (facts["valid_until"], facts["reason"]) == (None, reason)
    assert domain_explanation(reason)


def test_a_domain_that_the_registry_does_not_know_is_not_found(internet):
    internet.serve(redirect(f"{REGISTRY}/domain/example.com"))
    internet.serve(said({}, 404), address=OTHER)
    assert found()["reason"] == "not_found"


def test_nothing_is_asked_without_a_service_for_names_of_platforms_and_after_the_deadline(internet):
    assert found(service="")["reason"] == "no_service"
    assert found(domain="shop.github.io")["reason"] == "of_platform"
    assert found(domain="localhost")["reason"] == "of_platform"
    assert found(seconds=-1)["reason"] == "failed"
    assert found(never=["rdap.example.org"])["reason"] == "failed"
    assert internet.connected == []
