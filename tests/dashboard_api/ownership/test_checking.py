"""Looks for tokens: each outcome, at servers that give it and at others that nearly do."""

import gzip
import socket
import ssl
import time
from datetime import UTC, datetime

import pytest

from dashboard_api.ownership import checking
from dashboard_api.ownership.checking import check
from dashboard_api.ownership.claims import Verdict
from tests.faults.certificate import write_certificate
from tests.faults.server import TOO_LATE, FaultServer, answer, drip, hang_up, http, say_nothing
from tests.foundation.outbound.internet import PUBLIC, PUBLIC_6, Internet

HOST, TOKEN = "shop.example.com", "tdv1-" + "abcdefgh" * 4
OTHER_TOKEN = "tdv1-" + "h" * 32
FILE = f"https://{HOST}/.well-known/threat-dashboard-challenge.txt"
TAG = f'<meta name="threat-dashboard-verification" content="{TOKEN}">'
OTHER_TAG = TAG.replace(TOKEN, OTHER_TOKEN)
NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
HTML = [("Content-Type", "text/html")]


@pytest.fixture
def internet(monkeypatch):
    made = Internet(monkeypatch)
    made.zone[f"{HOST}."] = [PUBLIC]
    return made


@pytest.fixture
def site(internet, tmp_path):
    """A website with a valid certificate: a function that checks it, as its script answers."""
    file, tls = write_certificate(tmp_path, name=HOST)
    trusted = ssl.create_default_context(cafile=file)

    def checked(*scripts, method="file", address=PUBLIC):
        with FaultServer(*scripts, tls=tls) as server:
            internet.serve(server, address=address, port=443)
            return check(HOST, TOKEN, method, now=NOW, tls=trusted)

    return checked


def page(head="", body="", *, status=200, headers=()):
    text = f"<!DOCTYPE html><html><head><title>A shop</title>{head}</head><body>{body}</body></html>"
    return answer(status, text.encode(), headers=[*HTML, *headers])


@pytest.mark.parametrize(
    "content",
    [
        TOKEN,
        f"{TOKEN}\n",
        f"\ufeff  {TOKEN}\t\r\n",
        f"a comment\n{OTHER_TOKEN}\n{TOKEN}\nanother",
        f"{TOKEN}\n" + "x" * 10_000,
    ],
)
def test_a_file_one_of_whose_lines_is_the_token_is_a_proof(site, content):
    result = site(answer(200, content.encode()))
    assert (result.outcome, result.verdict, result.strength) == ("found", Verdict.FOUND, "https")
    assert (result.expected, result.found, result.advice) == (TOKEN, (TOKEN,), "")
    assert result.asked == (f"{FILE} ({PUBLIC})",)


def test_a_file_that_an_editor_saved_in_utf_16_is_a_proof(site):
    assert site(answer(200, TOKEN.encode("utf-16"))).outcome == "found"


@pytest.mark.parametrize(
    "content",
    [
        "",
        OTHER_TOKEN,
        TOKEN.upper(),
        TOKEN + "x",
        f"token={TOKEN}",
        f"{TOKEN} {OTHER_TOKEN}",
        "x" * (32 * 1024 - 38) + f"\n{TOKEN}x",  # the limit cuts a longer line
        "x" * 32 * 1024 + f"\n{TOKEN}",
    ],
)
def test_a_file_without_the_token_is_none(site, content):
    result = site(answer(200, content.encode()))
    assert (result.outcome, result.verdict, result.strength) == ("other_content", Verdict.MISSING, "")
    assert "one of its lines must be exactly" in result.advice


def test_what_was_found_is_five_short_texts_of_one_line_each(site):
    found = site(answer(200, b"\n\n".join(bytes([65 + n]) * 200 + b"\x1b[31m\xff" for n in range(9)))).found
    assert len(found) == 5
    assert found[0] == "A" * 100
    assert site(answer(200, b"\x1b]0;a title\x07")).found == ("\ufffd]0;a title\ufffd",)


@pytest.mark.parametrize(
    ("script", "outcome", "verdict"),
    [
        (answer(404), "not_found", Verdict.MISSING),
        (answer(410, TOKEN.encode()), "not_found", Verdict.MISSING),
        (answer(405), "blocked", Verdict.NOT_ASKED),
        (answer(405, headers=[("Allow", "POST")]), "status", Verdict.MISSING),
        (answer(204), "status", Verdict.MISSING),
        (answer(302, TOKEN.encode()), "status", Verdict.MISSING),
        (answer(500, TOKEN.encode()), "status", Verdict.NOT_ASKED),
        (page(), "html_instead", Verdict.MISSING),
        (answer(200, b"  <html>A page without a content type"), "html_instead", Verdict.MISSING),
        (answer(403), "blocked", Verdict.NOT_ASKED),
        (answer(401), "blocked", Verdict.NOT_ASKED),
        (answer(429), "blocked", Verdict.NOT_ASKED),
        (answer(503), "blocked", Verdict.NOT_ASKED),
        (answer(202, headers=[("x-amzn-waf-action", "challenge")]), "blocked", Verdict.NOT_ASKED),
        (page(headers=[("CF-Mitigated", "challenge")]), "blocked", Verdict.NOT_ASKED),
        (answer(404, headers=[("Age", "120")]), "stale_cache", Verdict.MISSING),
        (answer(200, b"old", headers=[("Age", "1")]), "stale_cache", Verdict.MISSING),
        (answer(404, headers=[("Age", "0")]), "not_found", Verdict.MISSING),
        (answer(404, headers=[("Age", "-5")]), "not_found", Verdict.MISSING),
        (
            answer(302, headers=[("Location", "https://evil.example.net/")]),
            "redirected_away",
            Verdict.MISSING,
        ),
        (answer(302, headers=[("Location", "https://127.0.0.1/")]), "redirected_away", Verdict.MISSING),
        (answer(302, headers=[("Location", "/")]), "status", Verdict.MISSING),
        (hang_up, "connect_failed", Verdict.NOT_ASKED),
    ],
)
def test_an_answer_without_the_proof_has_its_outcome_and_advice(site, script, outcome, verdict):
    result = site(script)
    assert (result.outcome, result.verdict) == (outcome, verdict)
    assert result.advice
    assert result.asked[0] == f"{FILE} ({PUBLIC})"


CHALLENGES = {
    "Imunify360": answer(200, b"<html><title>One moment, please...</title>"),
    "LiteSpeed": answer(200, b'<html><title>Bot Verification</title><form action="/.lsrecap/recaptcha?">'),
    "F5": answer(200, b"<html><title>Request Rejected</title>Your support ID is: 1"),
    "SiteGround": answer(202, headers=[("SG-Captcha", "challenge")]),
    "Alibaba": answer(200, b"<html><script>" + b" " * 9000 + b'setCookie("acw_sc__v2", x)</script>'),
    "as an error": answer(404, b"<html><title>Just a moment...</title>"),
}


@pytest.mark.parametrize("method", ["file", "meta"])
@pytest.mark.parametrize("script", CHALLENGES.values(), ids=CHALLENGES)
def test_a_page_of_a_protection_does_not_mean_that_the_proof_is_missing(site, script, method):
    result = site(script, method=method)
    assert (result.outcome, result.verdict) == ("blocked", Verdict.NOT_ASKED)
    assert "allow the user agent" in result.advice


SCRIPTS = {
    "Cloudflare": "<script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>",
    "Imperva": "<script src='/_Incapsula_Resource?SWJIYLWA=719d&ns=1' async></script>",
    "AWS": "<script>window.awsWafCookieDomainList=[];</script>",
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_a_page_of_the_website_with_the_script_of_a_protection_says_what_is_wrong_with_the_proof(
    site, script
):
    assert site(page(script)).outcome == "html_instead"
    assert site(page(script), method="meta").outcome == "not_found"
    assert site(page(script, TAG), method="meta").outcome == "tag_outside_head"
    assert site(page(OTHER_TAG + script), method="meta").outcome == "other_content"
    assert site(page(script), method="meta").verdict is Verdict.MISSING


@pytest.mark.parametrize("method", ["file", "meta"])
def test_a_proof_is_one_whatever_else_the_answer_has(site, method):
    body = TOKEN if method == "file" else f"<title>Just a moment...</title>{TAG}"
    shown = answer(200, body.encode(), headers=[("CF-Mitigated", "challenge")])
    assert site(shown, method=method).outcome == "found"


def test_a_proof_in_a_cache_is_one(site):
    assert site(answer(200, TOKEN.encode(), headers=[("Age", "120")])).outcome == "found"


def test_an_old_copy_says_when_it_was_made(site):
    result = site(answer(200, b"old", headers=[("Age", "120")]))
    assert result.found == ("a copy of 2026-11-23 11:58:00 UTC", "old")


def test_a_page_instead_of_the_file_is_named_by_its_title(site):
    assert site(page()).found == ("A shop",)
    assert site(page(status=404)).found == ("404 A shop",)


def test_a_page_that_echoes_the_request_proves_nothing(site):
    def echo(server, connection):
        server.receive(connection)
        connection.sendall(http(200, server.received[-1].head))

    for method in ("file", "meta"):
        assert site(echo, method=method).verdict is Verdict.MISSING


def test_a_redirect_within_the_domain_leads_to_the_proof(site):
    away = answer(301, headers=[("Location", "/there.txt")])
    result = site(away, answer(200, TOKEN.encode()))
    assert (result.outcome, result.strength) == ("found", "https")
    assert result.asked == (f"{FILE} ({PUBLIC})", f"https://{HOST}/there.txt ({PUBLIC})")


def test_a_redirect_to_http_makes_a_weaker_proof(site, internet):
    with FaultServer(answer(200, TOKEN.encode())) as plain:
        internet.serve(plain)
        result = site(answer(302, headers=[("Location", f"http://{HOST}/there.txt")]))
    assert (result.outcome, result.strength) == ("found", "http")
    assert "without a valid certificate" in result.advice


@pytest.mark.parametrize(
    "head",
    [
        TAG,
        f"<META CONTENT='{TOKEN}' NAME=Threat-Dashboard-Verification />",
        f"<script>if (1 < 2) '</head>'</script><link rel=x><style>a{{}}</style>{TAG}",
        TAG.replace(TOKEN, OTHER_TOKEN) + TAG,
        f"<!-- a comment -->{TAG}",
        f"<noscript></noscript>{TAG}",
    ],
)
def test_a_tag_in_the_head_is_a_proof(site, head):
    result = site(page(head), method="meta")
    assert (result.outcome, result.strength, result.expected) == ("found", "https", TAG)
    assert result.asked == (f"https://{HOST}/ ({PUBLIC})",)


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        (page(), "not_found"),
        (answer(404), "not_found"),
        (page(body=TAG), "tag_outside_head"),
        (page(f"<p>text</p>{TAG}"), "tag_outside_head"),
        (page(f"text{TAG}"), "tag_outside_head"),
        (page(f"</body>{TAG}"), "tag_outside_head"),
        (answer(200, f"<p>{TAG}".encode()), "tag_outside_head"),
        (page(TAG.replace(TOKEN, OTHER_TOKEN)), "other_content"),
        (page(TAG.replace(TOKEN, TOKEN + "x")), "other_content"),
        (page(TAG.replace(' content="', f' content="{OTHER_TOKEN}" content="')), "other_content"),
        (page(TAG.replace("threat-dashboard", "google-site")), "not_found"),
        (page(f"<!-- {TAG} -->"), "not_found"),
        (page(f"<!-- {TAG}"), "not_found"),
        (page(f"<title>{TAG}</title>"), "not_found"),
        (page(f"<script>'{TAG}'</script>"), "not_found"),
        (page(f"<style>{TAG}</style>"), "not_found"),
        (page(f"<template>{TAG}</template>"), "not_found"),
        (page(f"<noscript>{TAG}</noscript>"), "not_found"),
        (page(body=f"<textarea>{TAG}</textarea>"), "not_found"),
        (page(body=TAG.replace("<", "&lt;")), "not_found"),
        (page("<link>" + " " * 256 * 1024 + TAG), "unreadable"),
        (page(body=" " * 256 * 1024), "not_found"),
        (page(headers=[("Age", "9")]), "stale_cache"),
    ],
)
def test_a_page_without_the_tag_in_its_head_has_its_outcome_and_advice(site, script, outcome):
    result = site(script, method="meta")
    assert result.outcome == outcome
    assert result.advice


@pytest.mark.parametrize("method", ["file", "meta"])
def test_a_proof_that_was_compressed_without_being_asked_for_is_one(site, method):
    body = gzip.compress((TOKEN if method == "file" else f"<head>{TAG}</head>").encode())
    packed = answer(200, body, headers=[("Content-Encoding", "gzip")])
    assert site(packed, method=method).outcome == "found"


@pytest.mark.parametrize(("encoding", "outcome"), [("utf-16", "found"), ("utf-32", "unreadable")])
def test_a_page_is_read_as_it_is_encoded(site, encoding, outcome):
    body = f"<head>{TAG}</head>".encode(encoding)
    assert site(answer(200, body, headers=HTML), method="meta").outcome == outcome


@pytest.mark.parametrize(
    ("method", "body", "encoding"),
    [
        ("file", b"?", "br"),
        ("meta", b"?", "br"),
        ("meta", b"damaged", "gzip"),
        ("meta", b"<head>" + OTHER_TAG.encode() + b" " * 256 * 1024 + TAG.encode(), "identity"),
    ],
    ids=["file", "page", "damaged page", "long head"],
)
def test_what_cannot_be_read_is_not_called_missing(site, method, body, encoding):
    headers = [*HTML, ("Content-Encoding", encoding), ("Age", "9")]
    result = site(answer(200, body, headers=headers), method=method)
    assert (result.outcome, result.verdict) == ("unreadable", Verdict.NOT_ASKED)
    assert "compressed" in result.advice


def test_another_value_of_the_tag_is_shown(site):
    result = site(page(TAG.replace(TOKEN, OTHER_TOKEN)), method="meta")
    assert result.found == (OTHER_TOKEN,)
    assert result.advice.startswith("The tag has another value")


PLAIN = FILE.replace("https", "http")


@pytest.fixture(params=["another name", "another name, self-signed", "self-signed", "expired"])
def untrusted(request, tmp_path):
    """A server's context with a certificate that is not valid for HOST, and the client's."""
    name = "evil.example.net" if "another name" in request.param else HOST
    file, tls = write_certificate(tmp_path, name=name, hours=-1 if request.param == "expired" else 1)
    return tls, ssl.create_default_context(cafile=None if "self-signed" in request.param else file)


def anywhere(method):
    """A script that answers every request with the proof."""
    return answer(200, TOKEN.encode()) if method == "file" else page(TAG)


@pytest.mark.parametrize("method", ["file", "meta"])
@pytest.mark.parametrize("plain", [answer(404), page(), answer(403), hang_up, None])
def test_what_https_says_without_a_valid_certificate_proves_nothing(internet, untrusted, method, plain):
    tls, trusted = untrusted
    with FaultServer(anywhere(method), tls=tls) as other, FaultServer(plain) as own:
        internet.serve(other, port=443)
        if plain is not None:
            internet.serve(own)
        result = check(HOST, TOKEN, method, now=NOW, tls=trusted)
    assert result.outcome != "found"
    assert (result.strength, [each.partition(":")[0] for each in result.asked]) == ("", ["https", "http"])


def both(internet, certificate, encrypted, plain):
    """Return a check of a website whose https has a certificate and client of ``untrusted``."""
    tls, trusted = certificate
    with FaultServer(encrypted, tls=tls) as other, FaultServer(plain) as own:
        internet.serve(other, port=443)
        if plain is not None:
            internet.serve(own)
        return check(HOST, TOKEN, "file", now=NOW, tls=trusted)


@pytest.mark.parametrize("untrusted", ["self-signed", "expired"], indirect=True)
@pytest.mark.parametrize(("plain", "found"), [(page(status=404), "404 A shop"), (None, "Connection refused")])
def test_a_proof_is_not_missing_because_a_certificate_expired(internet, untrusted, plain, found):
    result = both(internet, untrusted, answer(200, TOKEN.encode()), plain)
    assert (result.outcome, result.verdict) == ("tls_invalid", Verdict.NOT_ASKED)
    assert result.found[0].startswith("https: certificate verify failed: ")
    assert result.found[1].startswith("http: ")
    assert found in result.found[1]
    assert "publish it there, correct the certificate, or use a DNS record" in result.advice


@pytest.mark.parametrize("untrusted", ["another name", "another name, self-signed"], indirect=True)
@pytest.mark.parametrize(
    ("plain", "outcome", "verdict"),
    [
        (answer(404), "not_found", Verdict.MISSING),
        (page(), "html_instead", Verdict.MISSING),
        (answer(302, headers=[("Location", "http://www.example.net/")]), "redirected_away", Verdict.MISSING),
        (answer(403), "blocked", Verdict.NOT_ASKED),
        (None, "tls_invalid", Verdict.NOT_ASKED),
    ],
)
def test_where_https_is_that_of_another_website_the_answer_over_http_counts(
    internet, untrusted, plain, outcome, verdict
):
    result = both(internet, untrusted, answer(200, TOKEN.encode()), plain)
    assert (result.outcome, result.verdict) == (outcome, verdict)
    assert result.found[0].startswith("https: certificate verify failed: ")


@pytest.mark.parametrize("method", ["file", "meta"])
def test_a_proof_over_http_counts_where_https_is_that_of_another_website(internet, untrusted, method):
    tls, trusted = untrusted
    with FaultServer(answer(404), tls=tls) as other, FaultServer(anywhere(method)) as own:
        internet.serve(other, port=443)
        internet.serve(own)
        result = check(HOST, TOKEN, method, now=NOW, tls=trusted)
    assert (result.outcome, result.verdict, result.strength) == ("found", Verdict.FOUND, "http")
    assert "without a valid certificate" in result.advice


def test_a_redirect_from_http_leads_to_https_with_any_certificate_for_a_weaker_proof(internet, untrusted):
    tls, trusted = untrusted
    with (
        FaultServer(answer(200, TOKEN.encode()), tls=tls) as encrypted,
        FaultServer(answer(301, headers=[("Location", FILE)])) as plain,
    ):
        internet.serve(encrypted, port=443)
        internet.serve(plain)
        result = check(HOST, TOKEN, "file", now=NOW, tls=trusted)
    assert (result.outcome, result.verdict, result.strength) == ("found", Verdict.FOUND, "http")
    assert result.asked == tuple(f"{url} ({PUBLIC})" for url in (FILE, PLAIN, FILE))


def test_without_https_the_proof_is_read_by_http_and_weaker(internet):
    with FaultServer(answer(200, TOKEN.encode())) as server:
        internet.serve(server)
        result = check(HOST, TOKEN, "file", now=NOW)
    assert (result.outcome, result.strength) == ("found", "http")
    assert result.asked == tuple(f"{url} ({PUBLIC})" for url in (FILE, PLAIN))


def test_a_server_that_speaks_no_tls_and_no_http_has_an_invalid_certificate(internet):
    with FaultServer(lambda _, connection: connection.sendall(b"220 mail.example.com")) as server:
        internet.serve(server, port=443)
        result = check(HOST, TOKEN, "file", now=NOW)
    assert (result.outcome, result.verdict) == ("tls_invalid", Verdict.NOT_ASKED)
    assert result.asked[-1] == f"{PLAIN} ({PUBLIC})"


ALERT = b"\x15\x03\x03\x00\x02\x02\x70"  # unrecognized_name: a server with many names has none for this one


@pytest.mark.parametrize("said", [ALERT, b"HTTP/1.1 400 Bad Request\r\n\r\n"])
@pytest.mark.parametrize(("plain", "outcome"), [(answer(404), "not_found"), (page(), "html_instead")])
def test_without_a_certificate_the_answer_over_http_counts(internet, said, plain, outcome):
    def refuse(_, connection):
        connection.recv(4096)
        connection.sendall(said)

    with FaultServer(refuse) as encrypted, FaultServer(plain) as own:
        internet.serve(encrypted, port=443)
        internet.serve(own)
        result = check(HOST, TOKEN, "file", now=NOW)
    assert (result.outcome, result.verdict) == (outcome, Verdict.MISSING)
    assert [each.partition(": ")[0] for each in result.found] == ["https", "http"]


@pytest.mark.parametrize("untrusted", ["self-signed", "expired"], indirect=True)
@pytest.mark.parametrize(
    ("plain", "outcome", "advice"),
    [
        (page(), "html_instead", "deliver files below /.well-known/"),
        (answer(403), "blocked", "allow the user agent"),
        (answer(200, OTHER_TOKEN.encode()), "other_content", "one of its lines"),
        (answer(302, headers=[("Location", "http://www.example.net/")]), "redirected_away", "another domain"),
    ],
)
def test_what_is_wrong_over_http_is_said_and_no_proof_is_missing_because_a_certificate_expired(
    internet, untrusted, plain, outcome, advice
):
    result = both(internet, untrusted, answer(200, TOKEN.encode()), plain)
    assert (result.outcome, result.verdict) == (outcome, Verdict.NOT_ASKED)
    assert advice in result.advice
    assert result.found[0].startswith("https: certificate verify failed: ")
    assert result.found[1].startswith("http: ")


def test_a_website_without_https_that_redirects_to_another_says_so(internet):
    with FaultServer(answer(301, headers=[("Location", "https://www.example.net/")])) as server:
        internet.serve(server)
        assert check(HOST, TOKEN, "file", now=NOW).outcome == "redirected_away"


def test_a_valid_certificate_is_never_left_for_http(site, internet):
    with FaultServer(answer(200, TOKEN.encode())) as plain:
        internet.serve(plain)
        assert site(answer(404)).outcome == "not_found"
        assert plain.connections == 0


def test_servers_that_differ_are_both_named(site, internet, tmp_path):
    internet.zone[f"{HOST}."] = [PUBLIC, PUBLIC_6]
    file, tls = write_certificate(tmp_path, name=HOST)
    trusted = ssl.create_default_context(cafile=file)
    with FaultServer(answer(404), tls=tls) as six, FaultServer(answer(200, TOKEN.encode()), tls=tls) as four:
        internet.serve(six, address=PUBLIC_6, port=443)
        internet.serve(four, port=443)
        result = check(HOST, TOKEN, "file", now=NOW, tls=trusted)
    assert (result.outcome, result.verdict) == ("addresses_differ", Verdict.MISSING)
    assert result.found == (f"{PUBLIC_6}: 404", f"{PUBLIC}: {TOKEN}")
    assert result.asked == (f"{FILE} ({PUBLIC_6})", f"{FILE} ({PUBLIC})")


def test_servers_that_both_lack_the_proof_do_not_differ(site, internet):
    internet.zone[f"{HOST}."] = [PUBLIC_6]
    assert site(answer(404), address=PUBLIC_6).outcome == "not_found"


@pytest.mark.parametrize(
    ("addresses", "outcome", "verdict"),
    [
        ([], "no_address", Verdict.MISSING),
        (socket.gaierror(socket.EAI_NONAME, "no"), "no_address", Verdict.MISSING),
        (socket.gaierror(socket.EAI_AGAIN, "no"), "servers_silent", Verdict.NOT_ASKED),
        (["127.0.0.1"], "private_address", Verdict.MISSING),
        ([PUBLIC, "10.0.0.1"], "private_address", Verdict.MISSING),
        ([PUBLIC], "connect_failed", Verdict.NOT_ASKED),
    ],
)
def test_a_name_that_leads_nowhere_has_its_outcome_and_advice(internet, addresses, outcome, verdict):
    internet.zone[f"{HOST}."] = addresses
    result = check(HOST, TOKEN, "file", now=NOW)
    assert (result.outcome, result.verdict) == (outcome, verdict)
    assert result.advice
    assert all(address == PUBLIC for address, _ in internet.connected)


def test_an_address_as_a_website_is_private_unless_it_is_allowed(internet):
    assert check("127.0.0.1", TOKEN, "file", now=NOW).outcome == "private_address"
    assert internet.connected == []


@pytest.mark.parametrize("script", [say_nothing, drip(b"", b"HTTP/1.1 200 OK\r\n" * 50)])
def test_a_slow_website_ends_at_the_limit_of_the_whole_check(internet, monkeypatch, script):
    monkeypatch.setattr(checking, "SECONDS", 0.7)
    began = time.monotonic()
    with FaultServer(script) as server:
        internet.serve(server)
        result = check(HOST, TOKEN, "file", now=NOW)
    assert (result.outcome, result.verdict) == ("timed_out", Verdict.NOT_ASKED)
    assert time.monotonic() - began < TOO_LATE
