"""A whole scan of websites on loopback: with TLS, without, refused, redirected away, and by the worker."""

import gzip
import hashlib
import io
import json
import socket
import ssl
import warnings
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import msgspec
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from dashboard_api.crawler import facts as stored_facts
from dashboard_api.crawler import policy
from dashboard_api.crawler.canary import look
from dashboard_api.crawler.engines import read_engines
from dashboard_api.crawler.essentials import encryption, scan
from dashboard_api.crawler.essentials.certificates import facts_of
from dashboard_api.crawler.essentials.domain_rules import OF_DOMAIN
from dashboard_api.crawler.essentials.encryption import check_certificate, check_tls
from dashboard_api.crawler.essentials.page import OF_SECURITY_TXT, OF_THE_PAGE
from dashboard_api.crawler.essentials.program import _parser
from dashboard_api.crawler.essentials.rules import RULES
from dashboard_api.crawler.essentials.scan import report
from dashboard_api.importing.ingest import ReportOptions
from dashboard_api.importing.service import ImportOptions, import_file
from dashboard_api.models import Coverage, Finding, ScanOptOut
from dashboard_api.scanners import finding_lines
from foundation.outbound.deadline import Deadline
from foundation.outbound.fetch import trusted
from foundation.outbound.refusals import REFUSALS
from foundation.outbound.tls import Handshake, NotConnected, shake_hands
from tests.dashboard_api.crawler.essentials.good_website import HEADERS, HOST, MISSING
from tests.factories import make_website
from tests.faults import server as faults
from tests.faults.certificate import make_certificate, signed_with_sha_1, write_certificate
from tests.faults.server import FaultServer, closed_port, hang_up, reset_soon, send
from tests.foundation.outbound.internet import OTHER, PUBLIC, PUBLIC_6

GOOD = [(name, value) for name, value in HEADERS.items() if name != "Content-Security-Policy"]


def http(status=200, body=b"<p>", **fields):
    """Return a response with a page, however short: an empty one is none."""
    return faults.http(status, body, **fields)


def answer(*args, **fields):
    return send(http(*args, **fields))


def scanned(tls=None):
    """Return the rules of a report, and its last line."""
    *lines, last = report(HOST, PUBLIC, tls=tls)
    return [line["finding"] for line in lines if "finding" in line], lines, last


def test_a_website_is_scanned_from_its_certificate_to_its_security_txt(serve, trusting):
    serve(answer(200, b"<p>Hello</p>", headers=GOOD))
    serve(answer(200), port=80)
    rules, lines, last = scanned(trusting)
    assert last["complete"] is True
    assert rules == [
        "certificate-expires-soon",  # that of the tests ends in an hour
        "csp-missing",
        "framing-allowed",
        "https-not-enforced",
        *MISSING,  # of the page by http
        "security-txt-missing",
    ]
    assert {line["location"][:8] for line in lines if line.get("finding") == "nosniff-missing"} == {
        "http://s"
    }


def test_a_certificate_that_browsers_refuse_is_a_finding_and_the_page_is_checked(serve):
    serve(answer(200, headers=GOOD))
    rules, _, last = scanned()
    assert rules[0] == "certificate-not-trusted"
    assert "csp-missing" in rules
    assert last["complete"] is True


def test_the_certificates_of_all_names_on_the_way_are_facts(serve, trusting, www, certificate):
    serve(redirect(www))
    serve(answer(200, headers=GOOD), at=OTHER)
    facts = {}
    list(report(HOST, PUBLIC, tls=trusting, facts=facts))
    first, second = facts["certificates"]
    assert (first["host"], first["port"], first["problem"]) == (HOST, 443, "")
    assert (second["host"], second["problem"]) == (urlsplit(www).hostname, "other_name")
    assert first["names"] == [HOST, "127.0.0.1"]
    assert (first["subject"], first["key"]) == ("127.0.0.1", "secp256r1, 256 bits")
    der = ssl.PEM_cert_to_DER_cert(certificate[0].read_text().partition("-----BEGIN PRIVATE")[0])
    assert first["sha256"] == hashlib.sha256(der).hexdigest()
    assert first["chain"] == []  # of one that signed itself


def test_a_hostile_certificate_has_harmless_facts():
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, "\0\x1b[2J\u202e" + "x" * 3_000)])
    names = x509.SubjectAlternativeName([x509.DNSName(f"{number}.example.com") for number in range(500)])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1)
        .not_valid_before(datetime(1950, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC))
        .add_extension(names, critical=False)
        .sign(key, hashes.SHA256())
    )
    der = certificate.public_bytes(Encoding.DER)
    facts = facts_of(HOST, 443, Handshake("TLSv1.3", der, chain=(der, b"no certificate", der)), "")
    assert facts["subject"] == "[2J" + "x" * 197
    assert facts["valid_until"] == "9998-12-31T00:00:00Z"
    assert (len(facts["names"]), len(facts["chain"])) == (40, 1)
    assert facts_of(HOST, 443, Handshake("TLSv1.3", b"no certificate"), "") is None
    items = [msgspec.Raw(msgspec.json.encode(facts))]
    assert len(stored_facts._items(1, items, stored_facts._Certificate)) == 1


def test_a_website_without_https_is_checked_over_http(serve):
    serve(answer(200, headers=GOOD), port=80)
    rules, lines, last = scanned()
    assert rules == ["https-not-offered", "https-not-enforced", "csp-missing", "framing-allowed"]
    assert {line["checked"] for line in lines if "checked" in line} == {f"http://{HOST}/"}
    [missing] = [line for line in lines if line.get("finding") == "https-not-offered"]
    assert missing["evidence"] == "No connection by TLS: Connection refused."
    assert last["complete"] is True


HTML = [*GOOD, ("Content-Type", "text/html")]
PAGE = b'<img src="http://shop.example.com/a.png"><script src="https://cdn.example.net/a.js"></script>'


def test_a_page_that_was_packed_without_being_asked_for_is_checked(serve, trusting):
    packed = answer(200, gzip.compress(PAGE), headers=[*HTML, ("Content-Encoding", "gzip")])
    serve(packed)
    rules, _, last = scanned(trusting)
    assert {"mixed-content", "script-without-integrity"} <= set(rules)
    assert last["complete"] is True


@pytest.mark.django_db
@pytest.mark.parametrize("encrypted", [True, False])
def test_only_what_was_read_is_fixed(serve, trusting, encrypted):
    site = make_website(HOST)
    readable, packed = (
        HTML[1:],
        [*GOOD[1:], ("Content-Encoding", "br"), ("X-Frame-Options", "DENY"), HTML[-1]],
    )
    for day, headers in enumerate((readable, packed)):
        serve(answer(200, PAGE, headers=headers), port=443 if encrypted else 80)
        lines = [json.dumps(line) for line in report(HOST, PUBLIC, tls=trusting)]
        scanned_at = datetime.now(UTC) - timedelta(days=2 - day)
        import_report(site, lines, scanned_at)
    statuses = dict(Finding.objects.values_list("rule", "status"))
    assert statuses["script-without-integrity"] == "open"
    assert statuses.get("mixed-content") == ("open" if encrypted else None)
    assert statuses["framing-allowed"] == "fixed"
    assert statuses["csp-missing"] == "open"
    assert Coverage.objects.get(website=site).state == "partial"


def redirect(url):
    return answer(301, headers=[("Location", url)])


def import_report(site, lines, scanned_at):
    report = ReportOptions(scanned_at=scanned_at)
    options = ImportOptions(file_name="report", by="tests", report=report)
    import_file(io.BytesIO("\n".join(lines).encode()), site, options)


def imported(site, *, days):
    """Import the report of a scan ``days`` ago."""
    lines = [json.dumps(line) for line in report(HOST, PUBLIC, tls=ssl.create_default_context())]
    import_report(site, lines, datetime.now(UTC) - timedelta(days=days))
    return dict(Finding.objects.values_list("rule", "status"))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("later", "status"),
    [(redirect(f"https://{HOST}/"), "fixed"), (None, "fixed"), (answer(200), "open"), (answer(403), "open")],
    ids=["redirect", "http is off", "no redirect", "refused"],
)
def test_the_redirect_from_http_is_fixed_once_it_is_there_or_http_is_off(serve, internet, later, status):
    site = make_website(HOST)
    serve(answer(200))
    serve(answer(200), port=80)
    assert imported(site, days=2)["https-not-enforced"] == "open"
    del internet.routes[PUBLIC, 80]
    serve(later, port=80)
    assert imported(site, days=1)["https-not-enforced"] == status


@pytest.mark.django_db
def test_problems_of_a_page_behind_a_redirect_are_fixed_when_the_last_one_is_gone(serve, internet):
    internet.zone[f"www.{HOST}."] = [OTHER]
    site = make_website(HOST)
    good = [*GOOD, ("Content-Security-Policy", "default-src 'self'; frame-ancestors 'self'")]
    serve(redirect(f"https://www.{HOST}/"))
    for days, headers, status in ((2, GOOD, "open"), (1, good, "fixed")):
        serve(answer(200, headers=headers), at=OTHER)
        assert imported(site, days=days)["csp-missing"] == status


LONG = b"<p>" + b" " * 1024**2


@pytest.mark.parametrize(
    ("body", "encoding", "rules"),
    [
        (PAGE, "br", {"unread policy"}),
        (b"damaged", "gzip", {"unread policy"}),
        (gzip.compress(LONG + PAGE), "gzip", set()),
        (LONG + PAGE, "identity", set()),
        (PAGE + LONG, "identity", {"mixed-content", "script-without-integrity"}),
    ],
    ids=["another encoding", "damaged", "long when unpacked", "long", "problems at the beginning"],
)
@pytest.mark.parametrize("encrypted", [True, False])
def test_the_markup_of_a_page_that_is_not_read_to_its_end_is_not_checked(
    serve, trusting, body, encoding, rules, encrypted
):
    page = answer(200, body, headers=[*HTML, ("Content-Encoding", encoding)])
    serve(page, port=443 if encrypted else 80)
    found, lines, last = scanned(trusting)
    by_http = set() if encrypted else {"mixed-content"}
    assert {"mixed-content", "script-without-integrity"} & set(found) == rules - by_http - {"unread policy"}
    is_unread = "unread policy" in rules  # that of a tag in the page
    assert ("csp-missing" in found) is not is_unread
    url = f"http{'s' * encrypted}://{HOST}/"
    rules_of_markup = ["directory-listing", "mixed-content", "script-without-integrity"]
    rules_of_markup += ["form-to-http", "password-by-http", "https-leads-to-http", "referrer-policy-weak"]
    rules_of_markup += ["platform-end-of-life"]
    rules_of_markup += ["csp-missing", "csp-unsafe-scripts"] * is_unread
    failed = {"checked": url, "error": "not_read_to_the_end", "rules": rules_of_markup}
    assert next(line for line in lines if "error" in line) == failed  # those of security.txt follow
    assert last["complete"] is True


def test_a_security_txt_that_cannot_be_unpacked_is_not_called_missing(serve, trusting):
    def script(server, connection):
        server.receive(connection)
        is_text = b"security.txt" in server.received[-1].head
        headers = [("Content-Encoding", "br")] if is_text else GOOD
        connection.sendall(http(200, b"?", headers=headers))

    serve(script)
    rules, lines, _ = scanned(trusting)
    assert "security-txt-missing" not in rules
    failed = {rule for line in lines for rule in line.get("rules", [])}
    assert failed == {"security-txt-missing", "security-txt-expired"}


@pytest.mark.parametrize(
    ("plain", "failed"),
    [
        (answer(403), {f"http://{HOST}/": "blocked"}),
        (answer(502), {f"http://{HOST}/": "server_error"}),
        (hang_up, {f"http://{HOST}/": "broken_response"}),
        (answer(301, headers=[("Location", f"https://{HOST}/")]), {}),
        (None, {}),
    ],
    ids=["refused", "broken", "no response", "redirect", "http is off"],
)
def test_http_is_checked_only_by_a_response_or_where_it_is_off(serve, trusting, plain, failed):
    serve(answer(200, headers=GOOD))
    serve(plain, port=80)
    rules, lines, last = scanned(trusting)
    assert "https-not-enforced" not in rules
    assert {line["checked"]: line["error"] for line in lines if "error" in line} == failed
    assert last["complete"] is True


AWAY = [("Location", "https://other.example.net/security.txt")]


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (http(429), "blocked"),
        (http(403, headers=[("cf-mitigated", "challenge")]), "blocked"),
        (http(500), "server_error"),
        (b"", "broken_response"),
        (http(302, headers=AWAY), ""),
    ],
    ids=["refused", "challenge", "broken", "no response", "elsewhere"],
)
def test_a_security_txt_without_a_response_is_not_checked(serve, trusting, response, reason):
    def script(server, connection):
        server.receive(connection)
        is_text = b"security.txt" in server.received[-1].head
        connection.sendall(response if is_text else http(200, headers=GOOD))

    serve(script)
    rules, lines, _ = scanned(trusting)
    assert not {"security-txt-missing", "security-txt-expired"} & set(rules)
    failed = ["security-txt-missing", "security-txt-expired"] if reason else []
    assert failures_of(lines) == dict.fromkeys(failed, reason)


@pytest.mark.parametrize("status", [401, 403, 406])
def test_a_security_txt_that_the_public_cannot_read_is_missing(serve, trusting, status):
    """S3 answers 403 for files that do not exist, and many servers for names with a dot."""
    denied = routes({"/": http(200, headers=WHOLE), "/.well-known/security.txt": http(status)})
    serve(denied)
    _, lines, last = scanned(trusting)
    [found] = [line for line in lines if line.get("finding") == "security-txt-missing"]
    assert found["evidence"] == f"Status {status}"
    assert failures_of(lines) == {}
    assert last["complete"] is True


def failures_of(lines):
    """Return the reasons by the rules that could not be checked."""
    return {rule: line["error"] for line in lines for rule in line.get("rules", [])}


class OldVersionsReset(FaultServer):
    """A server whose second connection, with TLS 1.0 or 1.1, is reset before a handshake."""

    def _serve(self, connection, script):
        if self.connections == 2:
            with connection:
                reset_soon(self, connection)
        else:
            super()._serve(connection, script)


def test_a_server_that_resets_old_versions_of_tls_offers_https(serve, trusting):
    serve(answer(200, headers=GOOD), server=OldVersionsReset)
    rules, lines, last = scanned(trusting)
    assert not {"https-not-offered", "tls-1-0-offered", "tls-1-1-offered", "tls-1-3-not-offered"} & set(rules)
    assert "csp-missing" in rules
    assert failures_of(lines) == {}
    assert last["complete"] is True


def test_versions_of_tls_are_not_checked_if_connections_begin_to_fail(serve, trusting, monkeypatch):
    def offers(*_, **__):
        raise NotConnected("Connection refused")

    monkeypatch.setattr(encryption, "offers", offers)
    serve(answer(200, headers=GOOD))
    rules, lines, _ = scanned(trusting)
    assert "https-not-offered" not in rules
    versions = ["tls-1-0-offered", "tls-1-1-offered"]
    assert failures_of(lines) == dict.fromkeys(versions, "connect_failed")


def test_https_that_answers_after_a_failure_is_not_called_missing(serve, trusting, monkeypatch):
    def check_tls(*_, **__):
        raise NotConnected("timed out")

    monkeypatch.setattr(scan, "check_tls", check_tls)
    redirect = answer(301, headers=[("Location", f"https://{HOST}/")])
    serve(answer(200))
    serve(redirect, port=80)
    rules, lines, last = scanned(trusting)
    assert (rules, lines[-1]["error"], last["complete"]) == ([], "connect_failed", False)


class AwayAtFirst(FaultServer):
    """A server whose first connection, and another try by old versions, are reset before a handshake."""

    def _serve(self, connection, script):
        if self.connections <= 2:
            with connection:
                reset_soon(self, connection)
        else:
            super()._serve(connection, script)


def test_https_that_answers_a_second_handshake_is_not_called_missing(serve, trusting):
    serve(answer(200), server=AwayAtFirst)
    serve(answer(200), port=80)
    rules, lines, last = scanned(trusting)
    assert (rules, lines[-1]["error"], last["complete"]) == ([], "connect_failed", False)


@pytest.mark.django_db
def test_nothing_about_https_is_fixed_while_it_is_off_or_open_once_it_is_back(serve, internet):
    site = make_website(HOST)
    serve(answer(200), port=80)
    encrypted = serve(answer(200))
    before = imported(site, days=3)
    assert {"hsts-missing", "security-txt-missing", "https-not-enforced"} <= set(before)
    del internet.routes[PUBLIC, 443]
    off = imported(site, days=2)
    assert Coverage.objects.get(website=site).state == "ok"
    internet.serve(encrypted, port=443)
    back = imported(site, days=1)
    assert set(before.values()) == {"open"}
    assert off == before | {"https-not-offered": "open"}
    assert back == before | {"https-not-offered": "fixed"}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("page", "reasons"),
    [(answer(status), {"no_page"}) for status in (404, 410, 408, 302, 204)]
    + [(answer(206, b"x"), {"no_page"}), (answer(200, b"", headers=HTML[2:]), set())],
)
@pytest.mark.parametrize("encrypted", [True, False])
def test_a_response_without_a_page_fixes_nothing_about_the_page(serve, certificate, page, reasons, encrypted):
    site, tls = make_website(HOST), certificate[1] if encrypted else None
    before = {}
    for days, script in ((2, answer(200, PAGE, headers=HTML[2:])), (1, page)):
        serve(script, port=443 if encrypted else 80, tls=tls)
        _, lines, _ = scanned()
        after = imported(site, days=days)
        before = before or after
    assert after == before
    assert set(failures_of(lines).values()) == reasons


def test_only_the_address_that_is_scanned_is_asked(serve, internet, trusting):
    internet.zone[f"{HOST}."] = [PUBLIC_6, OTHER, PUBLIC]
    serve(*[answer(200)] * 9)
    scanned(trusting)
    assert {address for address, _port in internet.connected} == {PUBLIC}


@pytest.mark.parametrize(
    ("status", "reason"),
    [*((status, "blocked") for status in sorted(REFUSALS)), (500, "server_error")],
)
def test_a_scan_that_is_refused_or_meets_a_broken_website_fixes_nothing(serve, trusting, status, reason):
    serve(answer(status))
    rules, lines, last = scanned(trusting)
    assert rules == []
    assert (lines[-1]["error"], last["complete"]) == (reason, False)


def test_a_program_that_answers_other_methods_only_has_no_page_and_refuses_nothing(serve, trusting):
    serve(answer(405, headers=[("Allow", "POST")]))
    assert look(HOST, PUBLIC).reason == ""
    _, lines, _ = scanned(trusting)
    assert "no_page" in {line.get("error") for line in lines}


def test_a_page_that_tests_for_a_browser_is_not_checked(serve, trusting):
    serve(answer(200, b"<title>Just a moment...</title>"))
    rules, lines, _ = scanned(trusting)
    assert (rules, lines[-1]["error"]) == ([], "blocked")


def test_a_website_that_is_down_or_leads_away_is_not_called_clean(serve, trusting):
    _, lines, last = scanned(trusting)
    assert (lines[-1]["error"], last["complete"]) == ("connect_failed", False)
    away = answer(302, headers=[("Location", "https://www.example.net/")])
    serve(*[away] * 9)
    _, lines, last = scanned(trusting)
    assert (lines[-1]["error"], last["complete"]) == ("redirected_away", False)


def test_a_report_is_one_that_the_importer_reads(serve, trusting, tmp_path):
    serve(answer(200))
    lines = list(report(HOST, PUBLIC, tls=trusting))
    rows = [finding_lines._convert(number, line) for number, line in enumerate(lines[1:], start=2)]
    assert len(rows) == len(lines) - 1


def old_tls(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate[0])
    context.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_2
    return context


def test_old_versions_of_tls_and_a_missing_new_one_are_found(certificate, trusting):
    with FaultServer(answer(200), tls=old_tls(certificate)) as server:
        _certificate, *problems = check_tls(
            HOST, "127.0.0.1", Deadline(20), now=datetime.now(UTC), port=server.port, tls=trusting
        )
    rules = [problem.rule for problem in problems]
    assert rules == ["certificate-expires-soon", "tls-1-3-not-offered", "tls-1-0-offered", "tls-1-1-offered"]


@pytest.mark.parametrize("plain", [None, answer(200)], ids=["closed", "http"])
def test_a_website_with_old_versions_of_tls_only_is_checked_and_says_so(serve, certificate, plain):
    tls = old_tls(certificate)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        tls.maximum_version = ssl.TLSVersion.TLSv1_1
    serve(answer(200, headers=GOOD), tls=tls)
    serve(plain, port=80)
    assert look(HOST, PUBLIC).reason == ""
    rules, lines, last = scanned()
    evidence = {line["finding"]: line["evidence"] for line in lines if "finding" in line}
    assert evidence["tls-1-0-offered"] == evidence["tls-1-1-offered"]
    assert "browsers cannot open the website" in evidence["tls-1-0-offered"]
    assert {"certificate-not-trusted", "tls-1-3-not-offered", "csp-missing"} <= set(rules)
    assert not {"https-not-offered", "hsts-missing"} & set(rules)
    assert (failures_of(lines), last["complete"]) == ({}, True)


def test_a_closed_port_is_no_handshake(trusting):
    with pytest.raises(NotConnected):
        list(check_tls(HOST, "127.0.0.1", Deadline(5), now=datetime.now(UTC), port=closed_port()))


def test_the_name_and_the_end_of_a_certificate():
    key = ec.generate_private_key(ec.SECP256R1())
    der = make_certificate(key, begins=-24 * 60).public_bytes(Encoding.DER)
    now = datetime.now(UTC)

    def rules(problem, at):
        return [rule for rule, _ in check_certificate(Handshake("TLSv1.3", der, problem), at)]

    assert rules("", now - timedelta(days=30)) == []
    assert rules("", now) == ["certificate-expires-soon"]
    assert rules("expired", now + timedelta(days=1)) == ["certificate-expired"]
    assert rules("other_name", now - timedelta(days=30)) == ["certificate-other-name"]
    later = now + timedelta(days=1)
    assert rules("other_name", later) == ["certificate-other-name", "certificate-expired"]
    assert rules("not_trusted", later) == ["certificate-not-trusted", "certificate-expired"]


@pytest.mark.parametrize(
    ("lifetime", "left", "is_soon"),
    [(90, 15, False), (90, 13.9, True), (45, 12, False), (45, 11, True), (6.7, 2.1, False), (6.7, 1.6, True)],
)
def test_a_certificate_expires_soon_in_a_quarter_of_its_lifetime_or_two_weeks(lifetime, left, is_soon):
    certificate = make_certificate(ec.generate_private_key(ec.SECP256R1()), hours=lifetime * 24 - 9)
    now = certificate.not_valid_after_utc - timedelta(days=left)
    found = check_certificate(Handshake("TLSv1.3", certificate.public_bytes(Encoding.DER)), now)
    assert [rule for rule, _ in found] == ["certificate-expires-soon"] * is_soon


def test_an_expired_intermediate_is_not_the_certificate_of_the_website():
    der = make_certificate(ec.generate_private_key(ec.SECP256R1()), hours=24 * 90).public_bytes(Encoding.DER)
    [(rule, evidence)] = check_certificate(Handshake("TLSv1.3", der, "expired"), datetime.now(UTC))
    assert rule == "certificate-not-trusted"
    assert evidence.endswith("An intermediate certificate has expired, and this one has not.")


@pytest.mark.parametrize(
    ("key", "found"),
    [
        (rsa.generate_private_key(65537, 1024), ["certificate-weak-key"]),
        (ec.generate_private_key(ec.SECP192R1()), ["certificate-weak-key"]),
        (rsa.generate_private_key(65537, 2048), []),
        (ec.generate_private_key(ec.SECP256R1()), []),
    ],
    ids=["RSA 1024", "EC 192", "RSA 2048", "EC 256"],
)
def test_a_short_key_is_a_problem(key, found):
    der = make_certificate(key, hours=24 * 90).public_bytes(Encoding.DER)
    assert [rule for rule, _ in check_certificate(Handshake("TLSv1.3", der, ""), datetime.now(UTC))] == found


def test_the_file_of_engines_begins_with_essentials(settings):
    settings.ALLOW_PRIVATE_HOSTS, settings.DNS_RESOLVERS = False, [("192.0.2.53", 53)]
    first = read_engines(settings.BASE_DIR / "deploy/engines.toml")[0]
    assert first.name == "essentials"
    program, *arguments = first.arguments(
        host=HOST,
        address=PUBLIC,
        report=settings.BASE_DIR / "report",
        agent="agent",
        gate=7,
        never=["192.0.2.0/24"],
    )
    assert program.endswith("essentials/program.py")
    own = ["website", HOST, PUBLIC, str(settings.BASE_DIR / "report"), "agent"]
    assert arguments == [*own, "--gate=7", "--resolver", "192.0.2.53", "53", "--never=192.0.2.0/24"]
    assert vars(_parser().parse_args(arguments))["never"] == ["192.0.2.0/24"]


@pytest.fixture(scope="module")
def authority():
    """The certificate of an authority, and its key."""
    key = rsa.generate_private_key(65537, 2048)
    return make_certificate(key, hours=9999), key


@pytest.mark.parametrize(
    ("bits", "fields", "is_sha_1", "rules", "evidence"),
    [
        (2048, {}, False, [], ""),
        (2048, {"begins": 24}, False, ["certificate-not-yet-valid"], "OpenSSL: certificate is not yet valid"),
        (1024, {}, False, ["certificate-weak-key"], "Key: RSA, 1024 bits"),
        (2048, {}, True, ["certificate-not-trusted", "certificate-weak-key"], "Signature: sha1"),
    ],
    ids=["good", "not yet valid", "RSA 1024", "SHA-1"],
)
def test_a_certificate_of_an_authority_that_has_a_fault_is_called_by_it(
    tmp_path, authority, bits, fields, is_sha_1, rules, evidence
):
    root, key = authority
    own = rsa.generate_private_key(65537, bits)
    certificate = make_certificate(own, name=HOST, issuer=authority, **{"hours": 24 * 90} | fields)
    der = signed_with_sha_1(certificate, key) if is_sha_1 else certificate.public_bytes(Encoding.DER)
    file, tls = write_certificate(tmp_path, key=own)
    file.write_text(
        ssl.DER_cert_to_PEM_cert(der) + file.read_text().partition("-----END CERTIFICATE-----\n")[2]
    )
    tls.load_cert_chain(file)
    trusting = trusted.__wrapped__(legacy=True)
    trusting.load_verify_locations(cadata=root.public_bytes(Encoding.DER))
    with FaultServer(answer(200), tls=tls) as server:
        shaken = shake_hands(HOST, "127.0.0.1", Deadline(5), port=server.port, tls=trusting)
    found = dict(check_certificate(shaken, datetime.now(UTC)))
    assert list(found) == rules
    for text in found.values():
        assert evidence in text
        assert f"Valid from {certificate.not_valid_before_utc:%Y-%m-%d}" in text
        assert "local issuer" not in text


def test_a_signature_with_sha_1_is_refused_also_where_openssl_accepts_it(authority):
    certificate = make_certificate(authority[1], name=HOST, hours=24 * 90)
    handshake = Handshake("TLSv1", signed_with_sha_1(certificate, authority[1]))
    found = dict(check_certificate(handshake, datetime.now(UTC)))
    assert list(found) == ["certificate-not-trusted", "certificate-weak-key"]
    assert "Browsers refuse signatures with sha1." in found["certificate-not-trusted"]


def test_an_intermediate_that_is_not_valid_yet_is_not_the_certificate_of_the_website():
    der = make_certificate(ec.generate_private_key(ec.SECP256R1()), hours=24 * 90).public_bytes(Encoding.DER)
    [(rule, evidence)] = check_certificate(Handshake("TLSv1.3", der, "not_yet_valid"), datetime.now(UTC))
    assert rule == "certificate-not-trusted"
    assert evidence.endswith("An intermediate certificate is not valid yet, and this one is.")


def test_a_certificate_that_only_others_can_read_does_not_end_the_scan():
    der = make_certificate(ec.generate_private_key(ec.SECP256R1()), hours=24 * 90).public_bytes(Encoding.DER)
    rare = der.replace(bytes.fromhex("2a8648ce3d030107"), bytes.fromhex("2a8648ce3d030104"))
    latin = der.replace(b"127.0.0.1", b"h\xf6fe.test")  # in a name that must be UTF-8
    assert latin != der
    for unread in (rare, latin, b"0\0"):
        handshakes = (Handshake("TLSv1.3", unread, problem) for problem in ("", "not_trusted"))
        found = [[rule for rule, _ in check_certificate(each, datetime.now(UTC))] for each in handshakes]
        assert found == [[], ["certificate-not-trusted"]]


def later_than(problems, *, trusting):
    """Return the statuses of ``problems``, found two days ago, after a scan of the website as it is now."""
    site = make_website(HOST)
    rows = [{"scan": "findings/1", "source": "essentials", "name": "Essentials"}]
    for rule, url in problems.items():
        rows.append({"finding": rule, "title": rule, "severity": "low", "location": url, "matcher": ""})
    rows.append({"complete": True})
    for days, lines in ((2, rows), (1, report(HOST, PUBLIC, tls=trusting))):
        import_report(site, map(json.dumps, lines), datetime.now(UTC) - timedelta(days=days))
    return dict(Finding.objects.values_list("rule", "status"))


@pytest.mark.django_db
def test_https_is_no_longer_called_missing_where_http_is_refused(serve, trusting):
    serve(answer(200))
    serve(answer(403), port=80)
    problems = dict.fromkeys(("https-not-offered", "https-not-enforced"), f"http://{HOST}/")
    statuses = later_than(problems, trusting=trusting)
    assert statuses["https-not-offered"] == "fixed"
    assert statuses["https-not-enforced"] == "open"


@pytest.mark.django_db
def test_problems_of_a_page_stay_open_where_a_redirect_leads_to_none(serve, internet, trusting):
    internet.zone[f"www.{HOST}."] = [OTHER]
    serve(redirect(f"https://www.{HOST}/"))
    serve(answer(404), at=OTHER)
    statuses = later_than({"mixed-content": f"https://{HOST}/"}, trusting=trusting)
    assert statuses["mixed-content"] == "open"


@pytest.mark.django_db
def test_http_is_off_only_if_its_own_port_is_closed(serve, internet, trusting):
    internet.zone[f"www.{HOST}."] = [OTHER]
    serve(answer(200))
    serve(redirect(f"http://www.{HOST}/"), port=80)
    statuses = later_than({"https-not-enforced": f"http://{HOST}/"}, trusting=trusting)
    assert statuses["https-not-enforced"] == "open"


@pytest.mark.django_db
@pytest.mark.parametrize("failure", [TimeoutError, ConnectionRefusedError], ids=["time", "refused"])
@pytest.mark.parametrize(("times", "status"), [(1, "open"), (2, "fixed")], ids=["once", "twice"])
def test_http_is_off_if_nothing_answers_also_after_a_pause(
    serve, trusting, monkeypatch, failure, times, status
):
    connect, failures = socket.socket.connect, [failure] * times

    def fail_by_http(sock, to):
        if to[1] == 80 and failures:
            raise failures.pop()
        return connect(sock, to)

    monkeypatch.setattr(socket.socket, "connect", fail_by_http)
    serve(answer(200))
    serve(answer(200), port=80)
    statuses = later_than({"https-not-enforced": f"http://{HOST}/"}, trusting=trusting)
    assert statuses["https-not-enforced"] == status
    assert Coverage.objects.get().state == "ok"


@pytest.mark.django_db
def test_problems_of_https_at_another_name_stay_open_where_it_was_not_looked_for(serve, internet, trusting):
    internet.zone[f"www.{HOST}."] = [OTHER]
    www_page = f"https://www.{HOST}/"
    serve(redirect(www_page), port=80)
    serve(answer(200), at=OTHER)
    problems = dict.fromkeys(("hsts-missing", "security-txt-expired"), www_page)
    statuses = later_than(problems, trusting=trusting)
    assert (statuses["hsts-missing"], statuses["security-txt-expired"]) == ("open", "open")
    assert Coverage.objects.get().state == "ok"


@pytest.mark.django_db
def test_a_scan_is_complete_where_the_certificate_is_for_www_only(serve, internet, www, tmp_path):
    file, tls = write_certificate(tmp_path, name=f"www.{HOST}")
    page = routes({"/": http(200, headers=WHOLE), **TEXT})
    encrypted = serve(page, tls=tls)
    serve(redirect(www), port=80)
    internet.serve(encrypted, address=OTHER, port=443)
    problems = dict.fromkeys(("csp-missing", "security-txt-expired"), www)
    statuses = later_than(problems, trusting=ssl.create_default_context(cafile=file))
    assert (statuses["csp-missing"], statuses["security-txt-expired"]) == ("fixed", "open")
    assert statuses["certificate-other-name"] == "open"
    assert Coverage.objects.get().state == "ok"


@pytest.mark.django_db
def test_problems_of_the_page_by_http_stay_open_after_https_was_set_up(serve, trusting):
    listing = answer(200, b"<title>Index of /</title>", headers=[("Server", "Apache/2.2.1")])
    serve(answer(200))
    serve(listing, port=80)
    statuses = later_than({"directory-listing": f"http://{HOST}/"}, trusting=trusting)
    assert statuses["directory-listing"] == "open"


def test_a_security_txt_behind_a_redirect_has_one_address(serve, internet, trusting):
    expired = b"Contact: mailto:a@example.com\nExpires: 2020-01-01T00:00:00Z"

    def script(server, connection):
        server.receive(connection)
        head = server.received[-1].head
        moved = http(302, headers=[("Location", f"https://www.{HOST}/security.txt")])
        connection.sendall(moved if b"well-known" in head else http(200, expired, headers=GOOD))

    internet.zone[f"www.{HOST}."] = [OTHER]
    server = serve(script)
    internet.serve(server, address=OTHER, port=443)
    _, lines, _ = scanned(trusting)
    [found] = [line for line in lines if line.get("finding") == "security-txt-expired"]
    assert found["location"] == f"https://{HOST}/.well-known/security.txt"


def routes(table):
    """Respond by the path of the request; a status of 404 to others."""

    def script(server, connection):
        server.receive(connection)
        path = server.received[-1].head.split(b" ")[1].decode()
        connection.sendall(table.get(path, http(404)))

    return script


WHOLE = [*HEADERS.items()]
COOKIE = ("Set-Cookie", "sid=1; HttpOnly; SameSite=Lax")
TEXT = {"/.well-known/security.txt": http(200, b"Contact: mailto:a@example.com")}


@pytest.mark.django_db
def test_a_cookie_that_a_redirect_sets_is_not_fixed(serve, trusting):
    first = http(302, headers=[("Location", "/de/"), COOKIE])
    page = http(200, headers=WHOLE)
    serve(routes({"/": first, "/de/": page}))
    problems = dict.fromkeys(("cookie-without-secure", "csp-missing"), f"https://{HOST}/")
    problems_of = [line for line in report(HOST, PUBLIC, tls=trusting) if "finding" in line]
    statuses = later_than(problems, trusting=trusting)
    assert statuses["csp-missing"] == "fixed", "the address shows no page any more"
    [found] = [line for line in problems_of if line["finding"] == "cookie-without-secure"]
    assert (found["location"], found["matcher"]) == (f"https://{HOST}/", "sid")


@pytest.mark.django_db
def test_a_problem_of_a_cookie_stays_open_while_the_page_comes_from_a_cache(serve, trusting):
    cached = answer(200, headers=[*WHOLE, ("X-Cache", "HIT")])
    serve(cached)
    problems = dict.fromkeys(("cookie-without-secure", "csp-missing"), f"https://{HOST}/")
    statuses = later_than(problems, trusting=trusting)
    assert (statuses["cookie-without-secure"], statuses["csp-missing"]) == ("open", "fixed")
    assert Coverage.objects.get().state == "ok"


@pytest.mark.parametrize("location", [f"https://{HOST}/", f"http://www.{HOST}/"])
def test_a_redirect_by_http_has_the_problems_of_its_cookies_and_of_its_headers(
    serve, internet, trusting, location
):
    internet.zone[f"www.{HOST}."] = [OTHER]
    moved = answer(301, headers=[("Location", location), COOKIE, ("Server", "Apache/2.4.1")])
    serve(answer(200, headers=WHOLE))
    serve(moved, port=80)
    serve(redirect(f"https://{HOST}/"), port=80, at=OTHER)
    _, lines, _ = scanned(trusting)
    found = {line["finding"]: line["location"] for line in lines if "finding" in line}
    assert found["cookie-without-secure"] == found["version-shown"] == f"http://{HOST}/"


@pytest.fixture
def www(internet):
    """The name with www has another address."""
    internet.zone[f"www.{HOST}."] = [OTHER]
    return f"https://www.{HOST}/"


@pytest.mark.parametrize(
    ("of_redirect", "of_page", "found"),
    [
        ([], GOOD, {"hsts-missing": f"https://{HOST}/"}),
        ([("Strict-Transport-Security", "max-age=60")], GOOD, {"hsts-short": f"https://{HOST}/"}),
        (GOOD, [], {"hsts-missing": f"https://www.{HOST}/"}),
        (GOOD, GOOD, {}),
    ],
    ids=["none", "short", "none of the page", "good"],
)
def test_each_name_on_the_way_to_the_page_needs_hsts(serve, trusting, www, of_redirect, of_page, found):
    moved = answer(301, headers=[("Location", www), *of_redirect])
    serve(moved)
    serve(answer(200, headers=of_page), at=OTHER)
    _, lines, _ = scanned(trusting)
    of_hsts = {
        line["finding"]: line["location"] for line in lines if line.get("finding", "").startswith("hsts")
    }
    assert of_hsts == found


@pytest.mark.parametrize("is_first", [True, False])
def test_one_response_of_a_name_with_hsts_is_enough(serve, trusting, is_first):
    hsts = GOOD[:1]
    first = http(302, headers=[("Location", "/de/"), *(hsts if is_first else [])])
    page = http(200, headers=[*([] if is_first else hsts), *WHOLE[1:]])
    serve(routes({"/": first, "/de/": page}))
    rules, _, _ = scanned(trusting)
    assert not {"hsts-missing", "hsts-short"} & set(rules)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "status", "expected"),
    [("status", 302, "open"), ("status", 307, "open"), ("status", 301, "fixed"), ("www", 302, "fixed")],
)
def test_problems_of_a_page_stay_open_while_its_name_redirects_temporarily_to_another(
    serve, internet, trusting, name, status, expected
):
    internet.zone[f"{name}.{HOST}."] = [OTHER]
    moved = answer(status, headers=[("Location", f"https://{name}.{HOST}/"), *GOOD])
    serve(moved)
    serve(answer(200, headers=WHOLE), at=OTHER)
    rules = ("csp-missing", "mixed-content", "any-origin-with-credentials", "hsts-missing")
    statuses = later_than(dict.fromkeys(rules, f"https://{HOST}/"), trusting=trusting)
    assert [statuses[rule] for rule in rules] == [*[expected] * 3, "fixed"]
    assert Coverage.objects.get().state == "ok"


@pytest.mark.django_db
def test_problems_of_a_page_are_fixed_where_another_name_leads_back_to_it(serve, internet, trusting):
    internet.zone[f"login.{HOST}."] = [OTHER]
    there = http(302, headers=[("Location", f"https://login.{HOST}/")])
    back = http(302, headers=[("Location", f"https://{HOST}/home")])
    serve(routes({"/": there, "/home": http(200, headers=WHOLE)}))
    serve(routes({"/": back}), at=OTHER)
    statuses = later_than({"mixed-content": f"https://{HOST}/"}, trusting=trusting)
    assert statuses["mixed-content"] == "fixed"


@pytest.mark.django_db
@pytest.mark.parametrize(("kind", "value"), [("host", f"www.{HOST}"), ("prefix", f"{OTHER}/32")])
@pytest.mark.parametrize("port", [443, 80])
def test_a_redirect_to_a_host_that_opted_out_is_not_followed(
    serve, internet, trusting, www, port, kind, value
):
    ScanOptOut.objects.create(kind=kind, value=value, reason="They asked", by="ada")
    never = policy.never_scanned(HOST)
    serve(redirect(www), port=port)
    serve(answer(200), at=OTHER)
    lines = list(report(HOST, PUBLIC, tls=trusting, never=never))
    assert look(HOST, PUBLIC, never=never).reason == "opted_out"
    assert {address for address, _ in internet.connected} == {PUBLIC}
    assert "opted_out" in json.dumps(lines)


@pytest.mark.django_db
@pytest.mark.parametrize("is_encrypted", [True, False], ids=["https", "http"])
def test_the_tls_of_a_name_that_a_redirect_leads_to_is_checked(serve, trusting, www, tmp_path, is_encrypted):
    (tmp_path / "old").mkdir()
    old = write_certificate(tmp_path / "old", name=f"www.{HOST}", hours=24 * 90)
    serve(redirect(www), port=443 if is_encrypted else 80)
    serve(answer(200, headers=WHOLE), at=OTHER, tls=old_tls(old))
    _, lines, _ = scanned(trusting)
    found = {line["finding"] for line in lines if line.get("location") == www}
    assert found == {
        "certificate-not-trusted",
        *("tls-1-0-offered", "tls-1-1-offered", "tls-1-3-not-offered"),
    }


@pytest.mark.django_db
@pytest.mark.parametrize("is_encrypted", [True, False], ids=["https", "http"])
def test_problems_of_tls_stay_open_at_a_name_whose_handshake_fails(
    serve, trusting, www, monkeypatch, is_encrypted
):
    checked = scan.check_tls

    def check_tls(host, *args, **kwargs):
        if host != HOST:
            raise NotConnected("timed out")
        return checked(host, *args, **kwargs)

    monkeypatch.setattr(scan, "check_tls", check_tls)
    serve(redirect(www), port=443 if is_encrypted else 80)
    serve(answer(200, headers=WHOLE), at=OTHER)
    problems = dict.fromkeys((*encryption.OF_TLS, "csp-missing"), www)
    statuses = later_than(problems, trusting=trusting)
    assert {rule for rule, status in statuses.items() if status == "fixed"} == {"csp-missing"}


def test_the_rules_of_tls_are_those_that_a_name_can_break():
    of_website = RULES.keys() - OF_DOMAIN
    assert {*encryption.OF_TLS} == {rule for rule in of_website if rule.startswith(("certificate-", "tls-"))}


def test_a_good_website_behind_a_redirect_needs_few_connections(serve, trusting, www):
    page = routes({"/": http(200, headers=WHOLE), **TEXT})
    moved = routes({"/": http(301, headers=[("Location", www), *GOOD]), **TEXT})
    first = serve(moved)
    second = serve(page, at=OTHER)
    plain = serve(redirect(f"https://{HOST}/"), port=80)
    rules, lines, _ = scanned(trusting)
    assert set(rules) == {"certificate-expires-soon", "certificate-other-name"}  # of the tests
    assert not [line for line in lines if "error" in line]
    assert [each.connections for each in (first, second, plain)] == [5, 7, 1]


@pytest.mark.django_db
@pytest.mark.parametrize("status", [400, 404, 405, 410, 421, 426])
def test_http_without_a_page_shows_no_problems_of_one(serve, trusting, status):
    refusal = answer(status, headers=[COOKIE])
    serve(routes({"/": http(200, headers=WHOLE), **TEXT}))
    serve(refusal, port=80)
    rules, lines, _ = scanned(trusting)
    problems = dict.fromkeys(("mixed-content", "csp-missing"), f"http://{HOST}/")
    statuses = later_than(problems, trusting=trusting)
    assert set(rules) == {"certificate-expires-soon", "https-not-enforced", "cookie-without-secure"}
    assert not [line for line in lines if "error" in line]
    assert (statuses["mixed-content"], statuses["csp-missing"]) == ("fixed", "fixed")


@pytest.mark.django_db
@pytest.mark.parametrize("status", [400, 404, 405, 410, 421, 426])
def test_problems_of_the_page_by_http_stay_open_while_https_shows_no_page(serve, trusting, status):
    """As while the whole website is broken, or https has no page yet."""
    serve(answer(404))
    serve(answer(status), port=80)
    _, lines, _ = scanned(trusting)
    problems = dict.fromkeys(OF_THE_PAGE, f"http://{HOST}/")
    statuses = later_than(problems, trusting=trusting)
    assert {statuses[rule] for rule in problems} == {"open"}
    assert {line["error"] for line in lines if "error" in line} == {"no_page"}


def test_the_page_by_http_is_checked_where_https_shows_none(serve, trusting):
    serve(answer(404))
    serve(answer(200, headers=GOOD), port=80)
    _, lines, _ = scanned(trusting)
    [found] = [line["location"] for line in lines if line.get("finding") == "csp-missing"]
    assert found == f"http://{HOST}/"


def test_a_response_by_http_that_is_no_page_does_not_speak_of_the_home_page(serve, trusting):
    serve(answer(200, headers=WHOLE))
    serve(answer(408), port=80)
    _, lines, _ = scanned(trusting)
    assert {line["checked"]: line["error"] for line in lines if "error" in line} == {
        f"http://{HOST}/": "no_page_by_http"
    }


@pytest.mark.django_db
@pytest.mark.parametrize(
    "later", [answer(200, headers=WHOLE), redirect(f"https://{HOST}/")], ids=["page", "redirect"]
)
def test_problems_at_another_name_that_http_leads_to_are_fixed(serve, trusting, www, later):
    serve(answer(200, headers=WHOLE))
    serve(redirect(f"http://www.{HOST}/"), port=80)
    serve(later, port=80, at=OTHER)
    statuses = later_than({"csp-missing": f"http://www.{HOST}/"}, trusting=trusting)
    assert statuses["csp-missing"] == "fixed"


def test_a_report_names_nothing_outside_of_the_website(serve, internet, trusting):
    internet.zone["example.com."] = [OTHER]
    serve(answer(200, headers=WHOLE))
    serve(redirect("http://example.com/"), port=80)
    serve(answer(404, headers=[COOKIE]), port=80, at=OTHER)
    _, lines, _ = scanned(trusting)
    named = {line.get("checked") or line.get("location") for line in lines[1:]}
    assert not [url for url in named if f"//{HOST}/" not in url]


def reflecting(server, connection):
    """Allow every origin, with credentials."""
    server.receive(connection)
    origin = server.received[-1].header("origin")
    allowed = [("Access-Control-Allow-Origin", origin), ("Access-Control-Allow-Credentials", "true")]
    connection.sendall(http(200, headers=[*WHOLE, *(allowed if origin else [])]))


@pytest.mark.parametrize("is_encrypted", [True, False], ids=["https", "http"])
def test_a_page_that_allows_every_origin_is_found_by_asking_with_one(serve, trusting, www, is_encrypted):
    port = 443 if is_encrypted else 80
    url = www if is_encrypted else f"http://www.{HOST}/"
    serve(redirect(url), port=port)
    server = serve(reflecting, port=port, at=OTHER)
    _, lines, last = scanned(trusting)
    [found] = [line for line in lines if line.get("finding") == "any-origin-with-credentials"]
    origin = f"https://www.{HOST}.evilexample.com"
    assert (found["location"], last["complete"]) == (url, True)
    assert f"Origin: {origin}\n" in found["evidence"]
    assert [each.header("origin") for each in server.received].count(origin) == 1


def test_a_page_that_allows_the_origin_of_sandboxed_frames_is_found(serve, trusting):
    def script(server, connection):
        server.receive(connection)
        allowed = [("Access-Control-Allow-Origin", "null"), ("Access-Control-Allow-Credentials", "true")]
        is_null = server.received[-1].header("origin") == "null"
        connection.sendall(http(200, headers=[*WHOLE, *(allowed * is_null)]))

    serve(script)
    _, lines, _ = scanned(trusting)
    [found] = [line for line in lines if line.get("finding") == "any-origin-with-credentials"]
    assert "Origin: null\n" in found["evidence"]


@pytest.mark.django_db
def test_the_origins_of_a_website_that_refuses_the_second_request_are_not_checked(serve, trusting):
    def script(server, connection):
        server.receive(connection)
        has_origin = server.received[-1].header("origin")
        connection.sendall(http(403) if has_origin else http(200, headers=WHOLE))

    serve(script)
    problems = dict.fromkeys(("any-origin-with-credentials", "csp-missing"), f"https://{HOST}/")
    statuses = later_than(problems, trusting=trusting)
    assert (statuses["any-origin-with-credentials"], statuses["csp-missing"]) == ("open", "fixed")


def test_https_that_leads_to_http_is_found_and_the_page_there_is_checked(serve, trusting):
    serve(redirect(f"http://{HOST}/"))
    serve(answer(200), port=80)
    _, lines, last = scanned(trusting)
    found = {line["finding"]: line["location"] for line in lines if "finding" in line}
    assert found["https-leads-to-http"] == f"https://{HOST}/"
    assert found["https-not-enforced"] == found["csp-missing"] == f"http://{HOST}/"
    assert last["complete"] is True


@pytest.mark.parametrize("plain", [answer(200), redirect(f"https://{HOST}/")], ids=["page", "redirect"])
def test_https_that_demands_a_certificate_is_not_called_missing(serve, certificate, plain):
    demanding = write_certificate(certificate[0].parent, name=HOST)[1]
    demanding.maximum_version = ssl.TLSVersion.TLSv1_2
    demanding.verify_mode = ssl.CERT_REQUIRED
    serve(answer(200), tls=demanding)
    serve(plain, port=80)
    rules, lines, last = scanned()
    assert (rules, lines[-1]["error"], last["complete"]) == ([], "tls_invalid", False)


@pytest.fixture(params=["trusted", "self-signed"])
def others(request, certificate, tmp_path):
    """The TLS of another website on the same server, and a client that may trust its certificate."""
    file, tls = write_certificate(tmp_path, name="other.example.net")
    return tls, ssl.create_default_context(cafile=file if request.param == "trusted" else None)


OTHERS = answer(200, b'<title>Index of /</title><script src="https://cdn.example.net/a.js"></script>')


@pytest.mark.parametrize(
    "encrypted",
    [OTHERS, answer(404), answer(403), answer(421), answer(500), redirect("https://www.example.net/")],
)
@pytest.mark.parametrize(
    ("plain", "later"), [(answer(200, headers=GOOD), ()), (redirect(f"http://www.{HOST}/"), ("www.",))]
)
def test_where_https_is_another_website_the_one_at_http_is_checked(
    serve, internet, others, encrypted, plain, later
):
    internet.zone[f"www.{HOST}."] = [OTHER]
    serve(encrypted, tls=others[0])
    serve(plain, port=80)
    serve(answer(200, headers=GOOD), port=80, at=OTHER)
    rules, lines, last = scanned(others[1])
    assert look(HOST, PUBLIC).reason == ""
    assert rules[0] in ("certificate-other-name", "certificate-not-trusted")
    certificates = [line for line in lines if line.get("finding") == rules[0]]
    assert "does not name this host, so https may show another website" in certificates[0]["evidence"]
    found = {line["finding"]: line["location"] for line in lines if "finding" in line}
    assert found["csp-missing"] == f"http://{''.join(later)}{HOST}/"
    assert not {"hsts-missing", "script-without-integrity", "directory-listing"} & set(rules)
    assert (last["complete"], failures_of(lines)) == (True, {})


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("scheme", "plain"),
    [("https", answer(200, headers=WHOLE))]
    + [(scheme, plain) for scheme in ("https", "http") for plain in (None, *map(answer, (403, 500, 404)))],
)
def test_no_problem_of_a_website_is_fixed_by_the_page_of_another(serve, others, plain, scheme):
    serve(answer(200, headers=WHOLE), tls=others[0])
    serve(plain, port=80)
    rules = [*OF_THE_PAGE, *(OF_SECURITY_TXT if scheme == "https" else [])]
    found = dict.fromkeys(rules, f"{scheme}://{HOST}/")
    statuses = later_than(found, trusting=others[1])
    assert {statuses[rule] for rule in found} == {"open"}


@pytest.mark.parametrize("plain", [None, redirect(f"https://{HOST}/")], ids=["closed", "redirect"])
def test_a_wrong_name_is_a_problem_whatever_http_says(serve, others, plain):
    serve(answer(200, headers=GOOD), tls=others[0])
    serve(plain, port=80)
    rules, lines, last = scanned(others[1])
    assert look(HOST, PUBLIC).reason == ""
    assert rules[0] in ("certificate-other-name", "certificate-not-trusted")
    assert last["complete"] is True
    assert ("csp-missing" in rules) is (plain is not None)
    assert (set(failures_of(lines).values()) == {"page_unknown"}) is (plain is None)


@pytest.mark.parametrize("ciphers", ["AES256-GCM-SHA384", "AES128-SHA", "ECDHE-RSA-AES256-SHA"])
def test_https_with_older_ciphers_of_browsers_is_not_called_missing(serve, tmp_path, ciphers):
    tls = write_certificate(tmp_path, key=rsa.generate_private_key(65537, 2048), name=HOST)[1]
    tls.maximum_version = ssl.TLSVersion.TLSv1_2
    tls.set_ciphers(ciphers)
    serve(answer(200, headers=WHOLE), tls=tls)
    serve(answer(200), port=80)
    rules, _, last = scanned()
    assert {"certificate-not-trusted", "tls-1-3-not-offered", "https-not-enforced"} <= set(rules)
    assert "https-not-offered" not in rules
    assert last["complete"] is True
