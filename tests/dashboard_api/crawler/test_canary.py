"""The canary: a website that refuses scans is distinguished from one that answers."""

import ssl

import pytest

from dashboard_api.crawler.canary import Look, look
from tests.faults.certificate import write_certificate
from tests.faults.server import answer, http
from tests.foundation.outbound.internet import OTHER, PUBLIC, PUBLIC_6, Internet

HOST = "shop.example.com"


@pytest.fixture
def internet(monkeypatch):
    internet = Internet(monkeypatch)
    internet.zone |= {f"{HOST}.": [PUBLIC], "elsewhere.example.net.": [OTHER]}
    return internet


@pytest.mark.parametrize(
    ("status", "body", "headers", "reason"),
    [
        (200, b"<title>Shop</title>", [], ""),
        (500, b"broken, but its own", [], ""),
        *((status, b"", [], "blocked") for status in (202, 403, 405, 429, 451, 503, 999)),
        (200, b"<html><title>Just a moment...</title>", [], "blocked"),
        (200, b"", [("cf-mitigated", "challenge")], "blocked"),
        (302, b"", [("Location", "http://elsewhere.example.net/")], "redirected_away"),
        (302, b"", [("Location", "/")], "redirect_loop"),
    ],
)
def test_the_home_page_decides(internet, status, body, headers, reason):
    internet.serve(answer(status, body, headers=headers), port=80)
    assert look(HOST, PUBLIC).reason == reason


@pytest.mark.slow
@pytest.mark.once
def test_a_website_that_needs_eight_seconds_for_a_response_answers(internet):
    def slow(server, connection):
        server.receive(connection)
        server.wait(8)
        connection.sendall(http(200, b"<title>Shop</title>"))

    internet.serve(slow, port=80)
    assert look(HOST, PUBLIC).reason == ""


def test_a_website_that_is_not_there_has_its_reason(internet):
    assert look(HOST, PUBLIC).reason == "connect_failed"


def test_only_the_address_that_is_scanned_is_asked(internet):
    internet.zone[f"{HOST}."] = [PUBLIC, PUBLIC_6, OTHER]
    internet.serve(answer(200), address=OTHER, port=80)
    assert look(HOST, OTHER).reason == ""
    assert internet.connected == [(OTHER, 443), (OTHER, 80)]
    assert internet.lookups == 0


def redirect(url):
    return answer(302, headers=[("Location", url)])


@pytest.mark.parametrize("encrypted", [answer(200), answer(403), redirect("https://elsewhere.example.net/")])
@pytest.mark.parametrize(
    ("plain", "reason"),
    [
        (answer(200), ""),
        (answer(403), "blocked"),
        (redirect("http://elsewhere.example.net/"), "redirected_away"),
    ],
)
def test_where_https_is_another_website_http_decides(internet, tmp_path, encrypted, plain, reason):
    tls = write_certificate(tmp_path, name="other.example.net")[1]
    internet.serve(encrypted, port=443, tls=tls)
    internet.serve(plain, port=80)
    assert look(HOST, PUBLIC).reason == reason


@pytest.mark.parametrize("name", [HOST, "other.example.net"])
def test_https_decides_with_any_certificate_where_http_is_closed(internet, tmp_path, name):
    internet.serve(answer(403), port=443, tls=write_certificate(tmp_path, name=name)[1])
    assert look(HOST, PUBLIC).reason == "blocked"


def test_a_certificate_for_this_name_leaves_the_decision_to_https(internet, tmp_path):
    tls = write_certificate(tmp_path, name=HOST)[1]
    internet.serve(answer(200), port=443, tls=tls)
    internet.serve(answer(403), port=80)
    assert look(HOST, PUBLIC).reason == ""


@pytest.mark.parametrize("plain", [None, redirect(f"https://{HOST}/")], ids=["closed", "redirect"])
def test_a_server_that_refuses_the_name_by_an_alert_was_reached(internet, tmp_path, plain):
    tls = write_certificate(tmp_path, name="other.example.net")[1]
    tls.sni_callback = lambda *_: ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
    internet.serve(answer(200), port=443, tls=tls)
    internet.serve(plain, port=80)
    assert look(HOST, PUBLIC).reason == "tls_invalid"


def test_a_refusal_names_the_protection_that_seems_to_have_sent_it(internet):
    internet.serve(answer(403, headers=[("Server", "AkamaiGHost")]))
    assert look(HOST, PUBLIC) == Look("blocked", protection="akamai")
    internet.serve(answer(403))
    assert look(HOST, PUBLIC) == Look("blocked")
