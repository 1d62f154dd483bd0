"""The instructions for production of docs/operating/install.md, followed word for word."""

import http.client
import json
import os
import re
import stat
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import pytest

import es1
from tests.dashboard_api.scanners.samples import json_lines, make_row
from tests.deploy.production import MACHINE, NAME, SERVING, error_of, nginx
from tests.factories import SECRET
from tests.faults.server import closed_port

pytestmark = pytest.mark.slow

PAGE = "/sites/shop.example.com/"
CALL = "/v1/site/dashboard"
IMMEDIATE = 32  # four times the threads of gunicorn.conf.py


def signed(link_id):
    body = json.dumps(
        {"host": "shop.example.com", "link_id": link_id, "portal_account_ref": "acct_0001"}
    ).encode()
    nonce = os.urandom(16).hex()
    headers = es1.sign(SECRET, method="POST", path=CALL, body=body, now=int(time.time()), nonce=nonce)
    return body, headers | {"content-type": "application/json"}


def test_the_documented_commands_set_it_up_without_an_error(production):
    assert (production.done.returncode, production.done.stderr) == (0, "")
    assert "make setup" in MACHINE
    assert SERVING.startswith(".venv/bin/gunicorn config.wsgi --bind 127.0.0.1:")


def test_what_they_write_is_for_its_user_alone(production, website):
    files = [production.folder / ".env", *(production.folder / "var").glob("*.sqlite3*")]
    assert {stat.S_IMODE(file.stat().st_mode) & 0o077 for file in files} == {0}


def test_four_times_as_many_pages_as_threads_at_once_are_all_answered(website):
    browsers = [website.another_browser().sign_in(name) for name in ("ada", "bob")]
    together = threading.Barrier(IMMEDIATE)

    def view(number):
        together.wait(30)
        status, _, page = browsers[number % 2].copy().ask("GET", PAGE)
        return status, b"Finding 1" in page

    with ThreadPoolExecutor(IMMEDIATE) as threads:
        assert set(threads.map(view, range(IMMEDIATE))) == {(200, True)}


def test_a_row_of_the_list_asks_the_service_in_the_same_way(website):
    browser = website.another_browser().sign_in("ada")
    status, _, row = browser.ask("GET", f"{PAGE}row/", headers={"HX-Request": "true"})
    assert (status, b"data-failed" in row) == (200, False)


def test_a_signed_call_is_answered_over_https_and_refused_without(website, link_id):
    body, headers = signed(link_id)
    assert website.another_browser().ask("POST", CALL, body, headers=headers)[0] == 200
    status, _, refusal = website.another_browser().ask("POST", CALL, body, headers=headers, tls=False)
    assert (status, error_of(refusal)["code"]) == (403, "https_required")


def test_gunicorn_itself_believes_no_header_about_the_scheme_unless_the_proxy_sets_it(
    production, website, link_id
):
    body, headers = signed(link_id)
    connection = http.client.HTTPConnection("127.0.0.1", production.port, timeout=30)
    connection.request("POST", CALL, body, headers | {"Host": NAME, "X-Forwarded-Ssl": "on"})
    assert error_of(connection.getresponse().read())["code"] == "https_required"
    connection.close()


def test_a_client_of_this_machine_cannot_split_the_path(production, website):
    connection = http.client.HTTPConnection("127.0.0.1", production.port, timeout=30)
    headers = {"Host": NAME, "X-Forwarded-Proto": "https", "SCRIPT_NAME": "/x"}
    connection.request("GET", "/x/v1/openapi.json", headers=headers)
    assert connection.getresponse().status == 404
    connection.close()


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
def test_a_probe_by_the_address_of_the_process_is_answered_and_one_from_outside_is_not(
    production, website, path
):
    connection = http.client.HTTPConnection("127.0.0.1", production.port, timeout=30)
    connection.request("GET", path)
    assert connection.getresponse().read() == b"ok\n"
    connection.close()
    assert website.another_browser().ask("GET", path)[0] == 404


@pytest.mark.parametrize(("path", "status"), [("/", 301), ("/v1/docs", 301), ("/v1/openapi.json", 403)])
def test_pages_without_https_are_redirected_and_calls_are_not(website, path, status):
    answered, headers, _ = website.another_browser().ask("GET", path, tls=False)
    assert answered == status
    assert headers["Location"] == (f"https://{NAME}{path}" if status == 301 else None)


HEADERS = {
    "Content-Security-Policy": r"base-uri 'none'; .*default-src 'none'; .*frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin$",
    "Cross-Origin-Resource-Policy": "same-origin$",
    "Referrer-Policy": "same-origin$",
    "Strict-Transport-Security": "max-age=3600$",
    "X-Content-Type-Options": "nosniff$",
    "X-Frame-Options": "DENY$",
}
PAGES = ["/", "/accounts/login/", PAGE, "/new/", "/admin/", "/v1/docs", "/v1/openapi.json", "/nothing-here/"]


@pytest.mark.parametrize("person", ["", "ada"])
def test_every_page_has_each_security_header_once_and_cookies_for_this_host_alone(website, person):
    browser = website.another_browser()
    if person:
        browser.sign_in(person)
    for path in PAGES:
        _, headers, _ = browser.ask("GET", path)
        for name, value in HEADERS.items():
            (given,) = headers.get_all(name)
            assert re.match(value, "; ".join(sorted(given.split("; ")))), (path, name, given)
        check_cookies(headers)


LEADING_ELSEWHERE = [
    "/accounts/",
    "/accounts/password/change/",
    "/admin/",
    "/nothing",
    "/new",
    "/accounts/reauthenticate/",
]


@pytest.mark.parametrize("letter", ["a", "<"])
@pytest.mark.parametrize("path", LEADING_ELSEWHERE)
def test_a_redirect_may_hold_the_longest_address(website, path, letter):
    """Otherwise nginx counts a failure of the machine that sent it, and avoids it for ten seconds."""
    room = 4094 - len(f"GET {path}?x= HTTP/1.1")
    status, headers, _ = website.another_browser().ask("GET", f"{path}?x={letter * room}")
    assert status < 500
    assert headers.get_all("Cross-Origin-Opener-Policy") == ["same-origin"]


def test_an_error_of_nginx_separates_its_window_from_the_one_that_opened_it(website):
    status, headers, _ = website.another_browser().ask("GET", f"/{'a' * 9000}")
    assert status == 414
    assert headers.get_all("Cross-Origin-Opener-Policy") == ["same-origin"]


def check_cookies(headers):
    """Fail if a cookie is not for this host alone."""
    for cookie in headers.get_all("Set-Cookie", []):
        assert cookie.startswith("__Host-"), cookie
        assert {"Secure", "HttpOnly", "SameSite=Lax"} <= set(cookie.split("; ")), cookie


def test_a_message_for_the_next_page_is_in_a_cookie_for_this_host_alone(website):
    form = {"Content-Type": "application/x-www-form-urlencoded", "Referer": f"https://{NAME}/"}
    status, headers, _ = website.another_browser().ask("POST", "/theme/", b"theme=dark", headers=form)
    assert status == 302
    assert "messages=" in headers["Set-Cookie"]
    check_cookies(headers)


@pytest.mark.parametrize(
    ("path", "size", "is_taken"),
    [
        (CALL, 8192, True),
        (CALL, 8193, False),
        ("/accounts/login/", 64 * 1024, True),
        ("/accounts/login/", 64 * 1024 + 1, False),
    ],
)
def test_a_body_is_as_large_as_its_place_allows(website, path, size, is_taken):
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    status, headers, body = website.another_browser().ask("POST", path, b"x" * size, headers=form)
    assert (status != 413) == is_taken
    if path == CALL and not is_taken:
        assert headers["Content-Type"] == "application/json"
        assert (error_of(body)["code"], error_of(body)["max_bytes"]) == ("body_too_large", 8192)


def test_a_report_passes_nginx_and_the_product_refuses_who_may_not_send_it(website):
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    path, body = "/admin/dashboard_api/website/1/import/", b"x" * (64 * 1024 + 1)
    status, _, page = website.another_browser().ask("POST", path, body, headers=form)
    assert status == 413
    assert b"nothing was changed" in page


def test_a_program_sends_a_report_through_nginx_and_a_stranger_cannot(production, website):
    code = (
        "from dashboard_api.models import Account, ReportToken, Website; from django.utils import timezone; "
        "from datetime import timedelta; a, w = Account.objects.get(), Website.objects.get(); "
        "print(ReportToken.objects.issue(a, [w], name='CI', sources=[], by='tests', "
        "expires_at=timezone.now() + timedelta(days=1))[1])"
    )
    issued = production.shell(f'.venv/bin/python manage.py shell -v 0 -c "{code}"')
    report = json_lines(*(make_row(template_id=f"rule-{number}") for number in range(1_000)))
    path = "/v1/reports?host=shop.example.com"
    for token, expected in (("rpt_wrong", 401), (issued.stdout.strip(), 200)):
        headers = {"Authorization": f"Bearer {token}"}
        status, _, body = website.another_browser().ask("POST", path, report, headers=headers)
        assert status == expected, body
    assert json.loads(body)["reports"][0]["new"] == 1_000
    folder = production.folder / "var" / "reports"
    assert (stat.S_IMODE(folder.stat().st_mode), list(folder.iterdir())) == (0o700, [])


@pytest.mark.once
def test_without_the_product_calls_get_json_and_pages_a_page(tmp_path):
    with nginx(tmp_path, closed_port()) as website:
        status, headers, body = website.ask("POST", CALL, b"{}")
        assert (status, error_of(body)["code"], headers["Retry-After"]) == (503, "unavailable", "5")
        assert website.ask("GET", "/")[0] == 502


STRANGER = {"127.0.0.0/8 0;": "127.0.0.0/8 0; 127.0.0.9 1;"}
IMPORT = "/admin/dashboard_api/website/1/import/"
BURSTS = {"/": 200, IMPORT: 200, "/v1/docs": 200, "/v1/openapi.json": 200, "/static/a": 1_000}
BURSTS |= dict.fromkeys((CALL, "/v1/reports", "/v1/callbacks/stripe"), 400)


@pytest.mark.once
@pytest.mark.parametrize(("path", "most"), BURSTS.items())
def test_a_flood_from_one_address_leaves_room_for_others(tmp_path, path, most):
    with nginx(tmp_path, closed_port(), changes=STRANGER) as website:
        began, extra = time.monotonic(), 2_000  # so many that a slow machine is refused, too
        refused, last = flood(website, path, "127.0.0.9", times=most + extra)
        refilled = (time.monotonic() - began) * most / 2  # a burst in four seconds, or in two, or in ten
        assert extra - 1 - refilled <= refused <= extra
        assert last["Retry-After"] == "5"
        assert ("json" in last["Content-Type"]) == path.startswith("/v1/")
        assert flood(website, path, "127.0.0.1")[0] == 0, "the portal calls the service from here"


PASSKEYS = "/accounts/2fa/webauthn/login/"


def by(mode, dest="", *, site="cross-site"):
    """Return the headers that a browser adds."""
    return {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}


@pytest.mark.once
@pytest.mark.parametrize("path", ["/", PASSKEYS, "/sample/", "/static/a", "/v1/openapi.json", CALL])
def test_what_pages_of_another_website_ask_for_is_refused_and_uses_up_no_limit(tmp_path, path):
    asked = [by("no-cors", "empty"), by("cors", "empty"), by("no-cors", "image", site="same-site")]
    asked += [by("navigate", "iframe"), by("navigate", "embed"), by("websocket", "websocket")]
    asked += [{"Upgrade": "websocket"}, by("navigate", "document", site="none") | {"Sec-Purpose": "prefetch"}]
    with nginx(tmp_path, closed_port(), changes=STRANGER) as website:
        for headers in asked:
            assert website.ask("GET", path, headers=headers)[0] == 403, headers
        for headers in (by("cors", "empty", site="same-origin"), by("navigate", "document", site="none"), {}):
            assert website.ask("GET", path, headers=headers)[0] in (502, 503), headers
        assert flood(website, path, "127.0.0.9", times=2_000, headers=asked[0])[0] == 0
        assert flood(website, path, "127.0.0.9", times=200)[0] == 0


@pytest.mark.once
def test_links_from_another_website_lead_here_but_not_to_the_start_of_a_passkey(tmp_path):
    pages = ["/", "/sample/", "/s/token/", "/sites/shop.example.com/", "/v1/docs", "/accounts/login/"]
    with nginx(tmp_path, closed_port()) as website:
        for dest in ("document", ""):  # browsers of 2019 do not say the second
            answers = {website.ask("GET", page, headers=by("navigate", dest))[0] for page in pages}
            assert answers <= {502, 503}
            assert website.ask("GET", PASSKEYS, headers=by("navigate", dest))[0] == 403


@pytest.mark.once
def test_what_is_made_for_other_websites_is_shown_there(tmp_path):
    feeds = [f"/v1/public{rest}" for rest in ("", "/feed", "/statistics", "/statistics/2026-11-21")]
    shown = [("/badge/token.svg", by("no-cors", "image")), ("/v1/public/feed.html", by("navigate", "iframe"))]
    with nginx(tmp_path, closed_port()) as website:
        for path, headers in shown + [(feed, by("cors", "empty")) for feed in feeds]:
            assert website.ask("GET", path, headers=headers)[0] in (502, 503), path


@pytest.mark.once
@pytest.mark.parametrize("path", [*BURSTS, "/badge/token.svg", "/v1/public/feed"])
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_another_website_may_cause_has_a_limit_of_its_own(tmp_path, path, site):
    with nginx(tmp_path, closed_port(), changes=STRANGER) as website:
        assert flood(website, path, "127.0.0.9", headers=by("navigate", "document", site=site))[0] > 100
        for own in ("/", "/static/a", CALL):
            assert flood(website, own, "127.0.0.9", times=200)[0] == 0


@pytest.mark.once
def test_pages_of_one_session_beyond_forty_wait_in_front_of_the_product(tmp_path):
    key = "k1" * 16
    with nginx(tmp_path, closed_port()) as website:
        for cookie, seconds in ((f"__Host-theme=dark; __Host-sessionid={key}", 2), ("__Host-theme=dark", 0)):
            began = time.monotonic()
            assert flood(website, "/", "127.0.0.1", times=80, headers={"Cookie": cookie})[0] == 0
            assert seconds <= time.monotonic() - began < seconds + 2
        odd = [f"__Host-sessionid ={key}", f"__Host-sessionid=x; __Host-sessionid={key}"]
        odd += [f"__Host-sessionid={number:05}{key * 100}" for number in range(78)]
        began = time.monotonic()
        for cookie in odd:  # all count as one
            assert flood(website, "/", "127.0.0.1", times=1, headers={"Cookie": cookie})[0] == 0
        assert time.monotonic() - began >= 2


@pytest.mark.once
def test_pages_of_many_sessions_at_one_address_wait_like_those_of_one(tmp_path):
    with nginx(tmp_path, closed_port(), changes=STRANGER) as website:
        for address, seconds in (("127.0.0.9", 2), ("127.0.0.1", 0)):
            began = time.monotonic()
            for number in range(6):
                cookie = {"Cookie": f"__Host-sessionid={number:032}"}
                assert flood(website, "/", address, times=11, headers=cookie)[0] == 0
            assert seconds <= time.monotonic() - began < seconds + 2


@pytest.mark.once
def test_another_host_than_in_the_handshake_gets_no_response(tmp_path):
    with nginx(tmp_path, closed_port()) as website, website.connected("127.0.0.1") as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: evil.example.com\r\n\r\n")
        received = b""
        with suppress(ConnectionResetError):
            received = connection.recv(4096)
        assert received == b""


@pytest.mark.once
@pytest.mark.parametrize("path", ["/accounts/login/", "/admin/login/", "/accounts/reauthenticate/"])
def test_passwords_from_one_address_beyond_six_wait_in_front_of_the_product(tmp_path, path):
    with nginx(tmp_path, closed_port(), changes=STRANGER) as website:
        for method, address, seconds in (
            ("POST", "127.0.0.9", 2),
            ("GET", "127.0.0.9", 0),
            ("POST", "127.0.0.1", 0),
        ):
            began = time.monotonic()
            assert flood(website, path, address, times=14, method=method)[0] == 0
            assert seconds <= time.monotonic() - began < seconds + 2


@pytest.mark.once
def test_the_addresses_of_one_line_with_ipv6_count_as_one(tmp_path):
    as_by_proxy = {"    server_tokens off;": "set_real_ip_from 127.0.0.1; real_ip_header X-Real-IP;"}
    with nginx(tmp_path, closed_port(), changes=as_by_proxy) as website:
        one_line = [f"2001:db8:0:7:{number:x}::1" for number in range(1, 801)]
        assert flood(website, "/", "127.0.0.1", forwarded=one_line)[0] > 300
        lines = [f"2001:db8:{number:x}::1" for number in range(1, 801)]
        assert flood(website, "/", "127.0.0.1", forwarded=lines)[0] == 0


@pytest.mark.once
def test_ten_large_bodies_or_files_of_an_address_are_stored_at_a_time(tmp_path):
    with nginx(tmp_path, closed_port(), changes=STRANGER) as website, ExitStack() as stack:
        for _ in range(10):
            head = f"POST {IMPORT} HTTP/1.1\r\nHost: {NAME}\r\nContent-Length: 30000000\r\n\r\n"
            stack.enter_context(website.connected("127.0.0.9")).sendall(head.encode())
        time.sleep(0.5)
        for path in (IMPORT, "/sites/shop.example.com/findings.csv", "/api/calls.csv"):
            assert flood(website, path, "127.0.0.9", times=1)[0] == 1
        assert flood(website, "/", "127.0.0.9", times=1)[0] == 0


@pytest.mark.once
def test_what_nginx_answers_itself_does_not_fill_the_disk_with_lines(tmp_path):
    with nginx(tmp_path, closed_port(), changes=STRANGER) as website:
        for path in ("/livez", "/"):
            flood(website, path, "127.0.0.9")
    lines = (tmp_path / "access.log").read_text().splitlines()
    assert len([line for line in lines if " /livez 404 " in line or " / 429 " in line]) < 100
    assert len([line for line in lines if " / 502 " in line]) >= 200


def flood(website, path, address, *, times=800, forwarded=(), headers=None, method=""):
    """Send requests from an address; return how many were refused, and the headers of the last refusal."""
    connection = http.client.HTTPConnection("127.0.0.1")
    connection.sock = website.connected(address)
    refused, of_refusal = 0, None
    for number in range(times):
        sent = {"Host": NAME} | (headers or {}) | ({"X-Real-IP": forwarded[number]} if forwarded else {})
        usual = "POST" if path.startswith("/v1/") else "GET"
        connection.request(method or usual, path, headers=sent)
        response = connection.getresponse()
        response.read()
        if response.status == 429:
            refused, of_refusal = refused + 1, response.headers
        if response.headers["Connection"] == "close":  # after a thousand requests
            connection.close()
            connection.sock = website.connected(address)
    connection.close()
    return refused, of_refusal


@pytest.mark.once
def test_the_logs_of_nginx_contain_no_token_and_no_query(tmp_path):
    pages = ["s", "invitations", "prove", "sign-up", "notifications/unsubscribe", "news/stop"]
    pages += ["accounts/password/reset/key"]
    with nginx(tmp_path, closed_port()) as website:
        for page in pages:
            website.ask("GET", f"/{page}/a-secret-token/?query=a-search")
    log = (tmp_path / "access.log").read_text()
    assert [page for page in pages if f"/{page}/..." not in log] == []
    log += (tmp_path / "error.log").read_text()  # each of these pages is a 502
    assert "a-secret-token" not in log
    assert "a-search" not in log


def test_settings_that_the_checks_refuse_stop_the_start(production):
    done = production.shell(
        f"timeout 60 {SERVING.replace('%i', '0')}", DASHBOARD_BASE_URL="http://127.0.0.1:8000"
    )
    assert done.returncode != 0
    assert "portal.E002" in done.stderr
