"""Requests to addresses that customers typed: to the host that was meant, or to none."""

import gzip
import itertools
import random
import re
import socket
import ssl
import threading
import time
import zlib

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding

from foundation.outbound import fetch as outbound
from foundation.outbound.deadline import Deadline
from foundation.outbound.fetch import FetchFailed, Hop, fetch
from tests.faults.certificate import make_certificate, write_certificate
from tests.faults.server import (
    TOO_LATE,
    FaultServer,
    answer,
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
from tests.faults.tickets import endless_hellos, endless_tickets
from tests.foundation.outbound.internet import OTHER, PUBLIC, PUBLIC_6, TRAP

HOST = "shop.example.com"
URL = f"http://{HOST}/"


@pytest.fixture
def shop(internet):
    """The internet, with a website that has one address."""
    internet.zone[f"{HOST}."] = [PUBLIC]
    return internet


def get(url=URL, *, seconds=20, max_bytes=100, **options):
    return fetch(url, max_bytes=max_bytes, deadline=Deadline(seconds), **options)


def failure(url=URL, **options):
    with pytest.raises(FetchFailed) as caught:
        get(url, **options)
    return caught.value


@pytest.fixture
def hanging_port():
    with silent_port("127.0.0.1") as port:
        yield port


def redirect(location, status=302):
    return answer(status, headers=[("Location", location)])


@pytest.fixture
def trap(internet):
    """A server on loopback to which nothing may ever connect."""
    with FaultServer(answer(200, b"a secret")) as server:
        internet.trap = server.port
        yield server


def test_a_request_names_the_host_and_carries_nothing_of_this_machine(shop, settings, monkeypatch, tmp_path):
    settings.SUPPORT_URL = "https://dashboard.example.com/höfe"
    (tmp_path / ".netrc").write_text(f"machine {HOST} login ada password secret")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    server = shop.serve(answer(200, b"hello", headers=[("Set-Cookie", "a=b")]))
    response = get(f"http://{HOST}:80/a b/ü?q=ö#part")
    get()
    assert (response.status, response.body, response.is_whole) == (200, b"hello", True)
    assert response.hops == (Hop(f"http://{HOST}/a%20b/%C3%BC?q=%C3%B6", (PUBLIC,)),)
    head, *fields = server.received[0].head.decode().split("\r\n")
    assert head == "GET /a%20b/%C3%BC?q=%C3%B6 HTTP/1.1"
    assert sorted(fields) == [
        "Accept-Encoding: identity",
        "Accept: */*",
        "Cache-Control: no-cache",
        f"Host: {HOST}",
        "User-Agent: ThreatDashboard/1 (+https://dashboard.example.com/h%C3%B6fe)",
    ]
    assert b"ookie" not in server.received[1].head
    get(f"http://{HOST}/", origin="https://evil.example")
    assert [each.header("origin") for each in server.received] == [None, None, "https://evil.example"]


@pytest.mark.parametrize(
    ("support", "portal", "agent"),
    [
        (
            "mailto:help@example.com",
            "https://portal.example.com",
            "ThreatDashboard/1 (+mailto:help@example.com)",
        ),
        ("", "https://portal.example.com", "ThreatDashboard/1 (+https://portal.example.com)"),
        ("", "", "ThreatDashboard/1"),
    ],
)
def test_the_owner_of_the_host_reads_whom_to_ask_about_the_requests(shop, settings, support, portal, agent):
    settings.SUPPORT_URL, settings.PORTAL_BASE_URL = support, portal
    server = shop.serve(answer(200))
    get()
    assert server.received[0].header("user-agent") == agent


@pytest.mark.parametrize(
    ("url", "port", "host", "written"),
    [
        ("https://{}/", 443, HOST, "https://{}/"),
        ("https://{}:443/", 443, HOST, "https://{}/"),
        ("https://{}:80/", 80, f"{HOST}:80", "https://{}:80/"),
        ("http://{}:443/", 443, f"{HOST}:443", "http://{}:443/"),
    ],
)
def test_the_ports_of_the_web_are_those_of_both_schemes(shop, tmp_path, url, port, host, written):
    file, tls = write_certificate(tmp_path, name=HOST)
    server = shop.serve(answer(200, b"here"), port=port, tls=tls if url.startswith("https") else None)
    response = get(url.format(HOST), tls=trusting(file))
    assert (response.body, response.url) == (b"here", written.format(HOST))
    assert shop.connected == [(PUBLIC, port)]
    assert server.received[0].header("host") == host


def test_a_body_ends_at_its_limit(shop):
    shop.serve(answer(200, b"x" * 101), answer(200, b"x" * 100))
    first, second = get(), get()
    assert (first.body, first.is_whole) == (b"x" * 100, False)
    assert (second.body, second.is_whole) == (b"x" * 100, True)


BARE_DEFLATE = zlib.compress(b"hello")[2:-4]


@pytest.mark.parametrize(
    ("encoding", "sent", "body", "is_whole"),
    [
        ("gzip", gzip.compress(b"hello"), b"hello", True),
        (" X-GZip ", gzip.compress(b"hello"), b"hello", True),
        ("deflate", zlib.compress(b"hello"), b"hello", True),
        ("deflate", BARE_DEFLATE, b"hello", True),
        ("identity", b"hello", b"hello", True),
        ("identity, gzip", gzip.compress(b"hello"), b"hello", True),
        ("utf-8", b"hello", b"hello", True),
        ("none, 8bit", b"hello", b"hello", True),
        ("utf-8, br", b"hello", b"", False),
        ("gzip", b"", b"", True),
        ("gzip", gzip.compress(b"x" * 100), b"x" * 100, True),
        ("gzip", gzip.compress(b"x" * 101), b"x" * 100, False),
        ("gzip", gzip.compress(b"x" * 10_000_000), b"x" * 100, False),
        ("gzip", gzip.compress(random.Random(1).randbytes(50))[:-1], random.Random(1).randbytes(50), False),
        ("gzip", gzip.compress(b"hello") + b"more", b"hello", False),
        ("gzip", b"hello", b"", False),
        ("deflate", b"hello", b"", False),
        ("br", b"hello", b"", False),
        ("zstd", b"hello", b"", False),
        ("gzip, gzip", gzip.compress(gzip.compress(b"hello")), b"", False),
        ("gzip, deflate", zlib.compress(gzip.compress(b"hello")), b"", False),
    ],
    ids=itertools.count(),
)
def test_a_body_is_unpacked_within_its_limit_or_is_not_whole(shop, encoding, sent, body, is_whole):
    shop.serve(answer(200, sent, headers=[("Content-Encoding", encoding)]))
    response = get()
    assert (response.body, response.is_whole) == (body, is_whole)


def test_an_endless_body_is_read_to_its_limit_only(shop):
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    endless = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk * 4
    shop.serve(stall(endless))
    assert len(get(max_bytes=4096).body) == 4096


def test_a_chunk_of_a_negative_size_is_not_read(shop):
    """http.client reads one to the end of the connection, which would fill the memory of the process."""
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n"
    shop.serve(send(head + b"x" * 4096))
    error = failure()
    assert (error.reason, "4096" in error.detail) == ("broken_response", False), "nothing was read"


ODD = [
    b"X-A : y",
    b"Bad Name: x",
    "\N{LATIN SMALL LETTER A WITH DIAERESIS}: x".encode(),
    b"PHP Warning without a colon",
    b"a warning\r\n\tthat goes on: 1",
    b": no name",
    b"From somewhere",
    b" folded",
    b"X-B: y\r",
    b"X-C: y\rand more",
    b"\r",
]


@pytest.mark.parametrize("line", ODD, ids=repr)
@pytest.mark.parametrize("before", [b"", b"X-First: 1\r\n"], ids=["first", "second"])
def test_headers_after_a_line_that_is_none_are_read_as_browsers_do(shop, line, before):
    response = b"HTTP/1.1 200 OK\r\n" + before + line + b"\r\nTransfer-Encoding: chunked\r\nLast: 1\r\n\r\n"
    shop.serve(send(response + b"2\r\nhi\r\n0\r\n\r\n"))
    page = get()
    assert (page.headers["Last"], page.body) == ("1", b"hi")
    assert page.headers.get("X-First", "1") in ("1", "1 folded")


def test_a_redirect_after_a_line_that_is_no_header_is_followed(shop):
    moved = send(b"HTTP/1.1 301 Moved\r\nA warning\r\nContent-Length: 0\r\nLocation : /b\r\n\r\n")
    shop.serve(moved, answer(200, b"here"))
    assert get().url == f"{URL}b"


@pytest.mark.parametrize(
    "lines",
    [b"odd\r\n" * 1_000, b"odd" * 100_000, b"X: %s\r\n" % (b"y" * 50_000) * 6, b"\r" * 65_537 + b"X: y"],
    ids=["lines", "one line", "bytes", "a line in two parts"],
)
@pytest.mark.parametrize("before", [b"", b"HTTP/1.1 103 Early Hints\r\n"], ids=["response", "hints"])
def test_headers_have_an_end(shop, lines, before):
    end = b"\r\nHTTP/1.1 200 OK\r\n\r\n" if before else b"\r\n"
    shop.serve(send((before or b"HTTP/1.1 200 OK\r\n") + lines + end))
    assert failure().reason == "broken_response"


@pytest.mark.parametrize(
    ("line", "seen"),
    [(b":\r" * 30_000, 0), (b"a:\r" * 20_000, 1), (b"odd\r" * 15_000, 0), (b"a:\r\n b" + b"\r" * 60_000, 1)],
    ids=["no name", "name", "no header", "folded"],
)
@pytest.mark.parametrize("end", [b"\r\n\r\n", b""], ids=["ended", "cut"])
def test_a_line_is_one_header_at_most(shop, caplog, line, seen, end):
    """The parser of e-mails splits lines at a bare CR, too, and remembers each part that is no header."""
    shop.serve(send(b"HTTP/1.1 200 OK\r\n" + line + end))
    assert len(get().headers) == seen
    assert not caplog.records


def test_a_bare_cr_begins_no_header(shop):
    shop.serve(send(b"HTTP/1.1 200 OK\r\nX-A: 1\rX-B: 2\r\n\rX-C: 3\r\n\r\n"))
    assert dict(get().headers) == {"X-A": "1 X-B: 2"}


@pytest.mark.parametrize(
    "url",
    [
        "ftp://shop.example.com/",
        "file:///etc/passwd",
        "//shop.example.com/",
        "http:///",
        "http://shop.example.com:22/",
        "http://shop.example.com:0/",
        "http://shop.example.com:99999/",
        "http://ada@shop.example.com/",
        "http://ada:secret@shop.example.com/",
        "http://@shop.example.com/",
        "http://8.8.8.8/",
        "http://127.0.0.1/",
        "http://[::1]/",
        "http://[::1/",
        "http://2130706433/",
        "http://0x7f.0.0.1/",
        "http://localhost/",
        "http://shop.example.com\\@127.0.0.1/",
        "http://shop.example.com%00.evil.example/",
    ],
)
def test_an_address_that_is_no_website_is_refused_before_anything_is_asked(shop, trap, url):
    assert failure(url).reason == "wrong_url"
    assert (shop.lookups, shop.connected, trap.connections) == (0, [], 0)


def test_ports_of_private_hosts_are_free(settings):
    settings.ALLOW_PRIVATE_HOSTS = True
    with FaultServer(answer(200, b"private")) as server:
        assert get(f"http://127.0.0.1:{server.port}/").body == b"private"
        assert server.received[0].header("host") == f"127.0.0.1:{server.port}"


def test_a_website_of_this_machine_is_fetched_at_its_port_by_its_name(settings):
    settings.ALLOW_PRIVATE_HOSTS = True
    with FaultServer(answer(200, b"demo")) as server:
        settings.LOCALHOST_WEBSITES = {"demo-shop.localhost": server.port}
        page = get("http://demo-shop.localhost/")
        assert (page.body, page.url) == (b"demo", f"http://demo-shop.localhost:{server.port}/")


@pytest.mark.parametrize("private", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1"])
def test_nothing_is_sent_to_a_host_with_a_private_address(shop, trap, private):
    shop.zone[f"{HOST}."] = [PUBLIC, private]
    error = failure()
    assert (error.reason, error.hops) == ("private_address", (Hop(URL),))
    assert (shop.connected, trap.connections) == ([], 0)


@pytest.mark.parametrize("lookups", ["in turns", "at random"])
def test_a_name_that_changes_between_lookups_never_leads_into_the_network(shop, trap, lookups):
    """A thousand checks of a rebinding name, each of whose responses redirects to itself."""
    answers = [[PUBLIC], [TRAP], [PUBLIC, TRAP], [TRAP, PUBLIC], ["::1"], ["::ffff:127.0.0.1", PUBLIC]]
    turns = itertools.cycle(answers[:2])
    shop.zone[HOST] = lambda: next(turns) if lookups == "in turns" else random.choice(answers)
    shop.zone[f"{HOST}."] = shop.zone[HOST]
    shop.serve(redirect("/again"))
    reasons = {failure().reason for _ in range(500)}
    assert trap.connections == 0
    assert set(shop.connected) == {(PUBLIC, 80)}
    assert reasons <= {"private_address", "redirected_away", "redirect_loop"}


def test_the_trap_catches_a_client_that_checks_first_and_connects_by_name(shop, trap):
    """The control of the test above."""
    turns = itertools.cycle([[PUBLIC], [TRAP]])
    shop.zone[HOST] = lambda: next(turns)
    assert socket.getaddrinfo(HOST, 80)[0][4][0] == PUBLIC
    with socket.create_connection((socket.getaddrinfo(HOST, 80)[0][4][0], 80)) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert b"a secret" in connection.recv(1000)
    assert trap.connections == 1


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1/",
        "http://127.0.0.1:{port}/",
        "http://[::1]:{port}/",
        "http://localhost:{port}/",
        "http://2130706433/",
        "http://0177.0.0.1/",
        "http://shop.example.com:{port}/",
        "http://ada@shop.example.com/",
        "//127.0.0.1/",
        "\\\\127.0.0.1/",  # a path of the same website here, and the trap for a browser
        "https://evil.example.net/",
        "http://com/",
        "ftp://shop.example.com/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:{port}/_a",
        "http://[",
    ],
)
def test_a_redirect_to_another_owner_or_port_is_not_followed(shop, trap, location):
    shop.zone |= {"localhost.": [TRAP], "evil.example.net.": [PUBLIC], "com.": [PUBLIC]}
    shop.serve(redirect(location.format(port=trap.port)))
    error = failure()
    is_a_path = location.startswith("\\")  # of the same host
    assert error.reason == ("redirect_loop" if is_a_path else "redirected_away")
    assert {address for address, _ in shop.connected} == {PUBLIC}
    assert trap.connections == 0


@pytest.mark.parametrize("private", ["127.0.0.1", "::1", "10.0.0.1", "2002:7f00:1::"])
def test_a_redirect_to_a_private_address_of_the_same_domain_is_not_followed(shop, trap, private):
    shop.zone["trap.example.com."] = [private]
    shop.serve(redirect("http://trap.example.com/"))
    error = failure()
    assert error.reason == "private_address"
    assert error.hops == (Hop(URL, (PUBLIC,)), Hop("http://trap.example.com/"))
    assert (shop.connected, trap.connections) == ([(PUBLIC, 80)], 0)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_within_the_domain_is_followed(shop, status):
    shop.zone["www.example.com."] = [OTHER]
    there = redirect("http://www.example.com/ä", status)
    shop.serve(there)
    second = shop.serve(answer(200, b"here"), address=OTHER)
    response = get()
    assert (response.body, response.url) == (b"here", "http://www.example.com/%C3%A4")
    assert [hop.addresses for hop in response.hops] == [(PUBLIC,), (OTHER,)]
    assert second.received[0].header("host") == "www.example.com"


def test_a_domain_below_a_public_suffix_belongs_to_another_owner(internet):
    internet.zone |= {"a.github.io.": [PUBLIC], "b.github.io.": [OTHER]}
    internet.serve(redirect("http://b.github.io/"))
    assert failure("http://a.github.io/").reason == "redirected_away"
    assert internet.connected == [(PUBLIC, 80)]


def test_a_location_that_is_sent_twice_is_followed(shop):
    moved = http(301, headers=[("Location", "/b"), ("Location", "/b")])

    def script(server, connection):
        server.receive(connection)
        connection.sendall(http(200) if b" /b " in server.received[-1].head else moved)

    shop.serve(script)
    assert get().url == f"{URL}b"


@pytest.mark.parametrize("location", ["/b ", " /b", "/b\t \t"])
def test_spaces_around_a_location_do_not_count(shop, location):
    shop.serve(redirect(location), answer(200))
    assert get().url == f"{URL}b"


def test_a_letter_at_the_end_of_a_location_is_no_space(shop):
    shop.serve(redirect("/voilà"), answer(200))
    assert get().url == f"{URL}voil%C3%A0"


def test_five_redirects_are_followed_and_no_more(shop):
    server = shop.serve(*[redirect("/on")] * 5, answer(200, b"end"))
    assert len(get().hops) == 6
    server = shop.serve(redirect("/on"))
    assert failure().reason == "redirect_loop"
    assert server.connections == 6


def test_a_redirect_without_a_location_is_the_response(shop):
    shop.serve(answer(302, b"where to?"))
    assert get().status == 302


def test_ipv6_is_asked_first_and_ipv4_after_it_or_alone(shop):
    shop.zone[f"{HOST}."] = [PUBLIC, PUBLIC_6]
    shop.serve(answer(200, b"four"))
    assert get().body == b"four"  # nothing listens at the other
    shop.serve(answer(200, b"six"), address=PUBLIC_6)
    assert get().body == b"six"
    assert get(ip_version=4).body == b"four"
    assert shop.connected[:2] == [(PUBLIC_6, 80), (PUBLIC, 80)]


def test_a_host_has_no_address_of_a_version_that_it_lacks(shop):
    assert failure(ip_version=6).reason == "no_address"


def test_only_two_addresses_of_each_version_are_tried(shop):
    shop.zone[f"{HOST}."] = [f"8.8.8.{last}" for last in range(1, 100)]
    error = failure()
    assert (error.reason, error.detail) == ("connect_failed", "Connection refused")
    assert len(shop.connected) == 2
    assert error.hops == (Hop(URL, ("8.8.8.1", "8.8.8.2")),)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (say_nothing, "timed_out"),
        (drip(b"", b"HTTP/1.1 200 OK\r\n" * 50), "timed_out"),
        (drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 50, every=0.01), "timed_out"),
        (drip(http(200, b"", length=90), b"x" * 90), "timed_out"),
        (stall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n"), "timed_out"),
        (reset, "broken_response"),
        (hang_up, "broken_response"),
        (send(b"220 mail.example.com ESMTP\r\n"), "broken_response"),
        (send(b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 200), "broken_response"),
        (send(http(200, b"x", length=5)), "broken_response"),
    ],
)
def test_a_bad_server_ends_with_its_reason_at_the_wall_clock(shop, script, reason):
    began = time.monotonic()
    shop.serve(script)
    error = failure(seconds=0.7)
    assert (error.reason, error.hops) == (reason, (Hop(URL, (PUBLIC,)),))
    assert time.monotonic() - began < TOO_LATE


def test_a_host_whose_addresses_are_known_is_not_resolved_again_and_others_of_its_redirects_are(shop, trap):
    shop.zone |= {f"{HOST}.": [OTHER], "www.example.com.": [TRAP]}
    shop.serve(redirect("/on"), redirect("http://www.example.com/"))
    error = failure(pinned=[PUBLIC])
    assert (error.reason, [hop.addresses for hop in error.hops]) == (
        "private_address",
        [(PUBLIC,)] * 2 + [()],
    )
    assert (set(shop.connected), shop.lookups) == ({(PUBLIC, 80)}, 1)


def test_redirects_share_one_limit_of_time(shop):
    def late(server, connection):
        server.wait(0.3)
        redirect("/on")(server, connection)

    shop.serve(late)
    error = failure(seconds=0.7)
    assert error.reason == "timed_out"
    assert len(error.hops) < 5


def test_a_port_that_hangs_ends_at_the_wall_clock(hanging_port, shop):
    shop.routes[PUBLIC, 80] = hanging_port
    assert failure(seconds=0.5).reason in {"timed_out", "connect_failed"}


def test_a_resolver_that_hangs_ends_at_the_wall_clock(shop):
    over = threading.Event()
    shop.zone[f"{HOST}."] = lambda: over.wait() and []
    assert failure(seconds=0.2).reason == "timed_out"
    over.set()


@pytest.mark.parametrize(
    ("code", "reason"), [(socket.EAI_NONAME, "no_address"), (socket.EAI_AGAIN, "servers_silent")]
)
def test_a_name_without_an_address_has_its_reason(shop, code, reason):
    shop.zone[f"{HOST}."] = socket.gaierror(code, "no")
    assert failure().reason == reason


def trusting(file):
    return ssl.create_default_context(cafile=file)


def test_https_names_the_host_and_checks_its_certificate(shop, tmp_path):
    file, tls = write_certificate(tmp_path, name=HOST)
    names = []
    tls.sni_callback = lambda *given: names.append(given[1])
    server = shop.serve(answer(200, b"safe"), port=443, tls=tls)
    assert get(f"https://{HOST}/", tls=trusting(file)).body == b"safe"
    assert names == [HOST]
    assert server.received[0].header("host") == HOST


@pytest.mark.parametrize(("name", "is_valid"), [(HOST, True), ("evil.example.net", False)])
def test_https_with_older_ciphers_of_browsers_is_reached_and_its_certificate_is_checked(
    shop, tmp_path, monkeypatch, name, is_valid
):
    file, tls = write_certificate(tmp_path, key=rsa.generate_private_key(65537, 2048), name=name)
    tls.maximum_version = ssl.TLSVersion.TLSv1_2
    tls.set_ciphers("AES128-SHA")
    monkeypatch.setattr(outbound, "DEFAULT_CA_BUNDLE_PATH", file)
    monkeypatch.setattr(outbound, "trusted", outbound.trusted.__wrapped__)
    shop.serve(answer(200, b"token"), port=443, tls=tls)
    assert get(f"https://{HOST}/", verify=False).body == b"token"
    if is_valid:
        assert get(f"https://{HOST}/").body == b"token"
    else:
        assert "certificate verify failed" in failure(f"https://{HOST}/").detail


def test_a_certificate_whose_subject_alone_names_the_website_is_refused_as_by_browsers(
    shop, tmp_path, monkeypatch
):
    key = ec.generate_private_key(ec.SECP256R1())
    root = make_certificate(key, name="A root")
    (tmp_path / "root.pem").write_bytes(root.public_bytes(Encoding.PEM))
    _, tls = write_certificate(tmp_path, name=HOST, issuer=(root, key), has_names=False)
    monkeypatch.setattr(outbound, "DEFAULT_CA_BUNDLE_PATH", tmp_path / "root.pem")
    monkeypatch.setattr(outbound, "trusted", outbound.trusted.__wrapped__)
    server = shop.serve(answer(200, b"not sent"), port=443, tls=tls)
    assert failure(f"https://{HOST}/").reason == "tls_invalid"
    assert server.received == []


def test_a_root_without_a_key_identifier_is_trusted_as_by_browsers(shop, tmp_path, monkeypatch):
    key = ec.generate_private_key(ec.SECP256R1())
    root = make_certificate(key, name="A root")
    (tmp_path / "root.pem").write_bytes(root.public_bytes(Encoding.PEM))
    _, tls = write_certificate(tmp_path, name=HOST, issuer=(root, key))
    made = ssl.create_default_context

    def as_python_3_13(**options):
        context = made(**options)
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        return context

    monkeypatch.setattr(ssl, "create_default_context", as_python_3_13)
    monkeypatch.setattr(outbound, "DEFAULT_CA_BUNDLE_PATH", tmp_path / "root.pem")
    monkeypatch.setattr(outbound, "trusted", outbound.trusted.__wrapped__)
    shop.serve(answer(200, b"token"), port=443, tls=tls)
    assert get(f"https://{HOST}/").body == b"token"


@pytest.mark.parametrize("name", ["evil.example.net", "*.shop.example.com", "example.com"])
def test_a_certificate_for_another_name_is_refused_and_no_request_is_sent(shop, tmp_path, name):
    file, tls = write_certificate(tmp_path, name=name)
    server = shop.serve(answer(200, b"not sent"), port=443, tls=tls)
    error = failure(f"https://{HOST}/", tls=trusting(file))
    assert (error.reason, server.received) == ("tls_invalid", [])
    assert re.fullmatch(r"certificate verify failed: [\w ,']+'shop\.example\.com'\.", error.detail)


def test_a_certificate_of_an_unknown_authority_is_refused(shop, tmp_path):
    _, tls = write_certificate(tmp_path, name=HOST)
    server = shop.serve(answer(200, b"not sent"), port=443, tls=tls)
    assert failure(f"https://{HOST}/").reason == "tls_invalid"
    assert server.received == []


def test_any_certificate_is_accepted_where_the_caller_says_so(shop, tmp_path):
    _, tls = write_certificate(tmp_path, name="evil.example.net")
    shop.serve(answer(200, b"from anyone"), port=443, tls=tls)
    assert get(f"https://{HOST}/", verify=False).body == b"from anyone"


def test_a_tls_handshake_that_stalls_ends_at_the_wall_clock(shop):
    shop.serve(drip_unasked, port=443)
    assert failure(f"https://{HOST}/", seconds=0.7).reason in {"timed_out", "connect_failed"}


def test_a_server_that_sends_session_tickets_only_ends_at_the_wall_clock(shop, tmp_path):
    _, tls = write_certificate(tmp_path, name=HOST)
    started = time.monotonic()
    shop.serve(endless_tickets(tls, tmp_path), port=443, tls=tls)
    assert failure(f"https://{HOST}/", verify=False, seconds=2).reason == "timed_out"
    assert time.monotonic() - started < TOO_LATE


def test_a_server_that_never_ends_the_handshake_ends_at_the_wall_clock(shop):
    started = time.monotonic()
    shop.serve(endless_hellos, port=443)
    assert failure(f"https://{HOST}/", verify=False, seconds=2).reason == "timed_out"
    assert time.monotonic() - started < TOO_LATE
