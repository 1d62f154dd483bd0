"""The report about scripts, of websites on loopback: what is asked for, found, and left open."""

import json
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import msgspec
import pytest

from dashboard_api.crawler import facts as stored_facts
from dashboard_api.crawler import policy
from dashboard_api.crawler.engines import read_engines
from dashboard_api.crawler.essentials import program
from dashboard_api.crawler.essentials.program import _parser
from dashboard_api.crawler.essentials.scripts import report
from dashboard_api.models import Finding, ScanOptOut, SeenScript
from tests.dashboard_api.crawler.essentials.good_website import HOST
from tests.dashboard_api.crawler.essentials.test_scan import answer, http, import_report, redirect, routes
from tests.factories import make_website
from tests.foundation.outbound.internet import OTHER, PUBLIC

PAGE = f"https://{HOST}/"
JQUERY = b"/*! jQuery v3.4.1 | (c) JS Foundation */\n!function(){}();"
GTM = "https://www.googletagmanager.com/gtag/js"
CDN = "https://cdn.example.org"


def page(*urls, more=""):
    return http(
        200, ("<!doctype html><title>Shop</title>" + more + "".join(map(tag, urls))).encode(), headers=HTML
    )


HTML = [("Content-Type", "text/html; charset=utf-8")]


def tag(url):
    return f'<script src="{url}"></script>'


def scanned(**options):
    facts = {}
    *lines, last = report.report(HOST, PUBLIC, facts=facts, **options)
    found = [(line["finding"], line["matcher"], line["severity"]) for line in lines if "finding" in line]
    return found, facts.get("scripts"), lines, last


def unread(lines):
    return {rule: line["error"] for line in lines if "error" in line for rule in line["rules"]}


def asked(server):
    return [each.head.split(b" ")[1].decode() for each in server.received if each.head]


def test_scripts_are_listed_with_their_hash_and_libraries(serve):
    server = serve(routes({"/": page("/a.js", f"{CDN}/b.js"), "/a.js": http(200, JQUERY)}))
    found, facts, lines, last = scanned()
    assert found == [("library-vulnerable", f"jquery 3.4.1 {PAGE}a.js", "medium")]
    [finding] = [line for line in lines if "finding" in line]
    assert (finding["location"], finding["cve"]) == (PAGE, ["CVE-2020-11022", "CVE-2020-11023"])
    assert "CVE-2020-11022 (medium), fixed in 3.5.0" in finding["evidence"]
    digest = sha256(JQUERY).hexdigest()
    own = {"url": f"{PAGE}a.js", "host": HOST, "sha256": digest, "bytes": len(JQUERY), "integrity": False}
    other = {
        "url": f"{CDN}/b.js",
        "host": "cdn.example.org",
        "sha256": None,
        "bytes": None,
        "integrity": False,
    }
    libraries = [{"name": "jquery", "version": "3.4.1"}]
    assert facts == {
        "page": PAGE,
        "complete": True,
        "found": [own | {"libraries": libraries}, other | {"libraries": []}],
    }
    assert asked(server) == ["/", "/a.js"]
    assert last["complete"] is True


def test_at_most_ten_scripts_are_read_pinned_ones_and_those_of_the_website_first(serve):
    urls = [f"{CDN}/pinned.js", *(f"{CDN}/{n}.js" for n in range(5)), *(f"/{n}.js" for n in range(20))]
    server = serve(routes({"/": page(GTM, *urls)} | {f"/{n}.js": http(200, b"a") for n in range(20)}))
    pins = {f"{PAGE}19.js": sha256(b"a").hexdigest().upper()}
    found, facts, lines, last = scanned(expected=report.Expected(pins=pins))
    assert asked(server) == ["/", "/19.js", *(f"/{n}.js" for n in range(9))]
    assert (found, len(facts["found"]), unread(lines)) == ([], 27, {})
    # What was left out on purpose keeps its findings, and the report is complete.
    assert {rule for line in lines for rule in line.get("skipped", [])} == {
        *report.OF_LIBRARIES,
        *report.OF_HOSTS,
    }
    assert last["complete"] is True


def test_of_more_than_a_hundred_scripts_the_inventory_is_not_complete(serve):
    serve(routes({"/": page(*(f"{GTM}?id={n}" for n in range(101)))}))
    _, facts, lines, _ = scanned(expected=report.Expected(hosts=[]))
    assert (facts["complete"], len(facts["found"])) == (False, 100)
    assert unread(lines).keys() == {*report.OF_LIBRARIES, *report.OF_HOSTS, *report.OF_PINS}


@pytest.mark.parametrize(
    ("response", "is_unread"),
    [
        (http(500), True),
        (http(403), True),
        (http(429), True),
        (http(302, headers=[("Location", "https://other.example.net/a.js")]), True),
        (http(200, b"<!doctype html><title>Sign in</title>"), True),
        (http(200, b"a" * (report.SCRIPT_BYTES + 1)), True),
        (http(200, b"?", headers=[("Content-Encoding", "br")]), True),
        (http(404), False),
        (http(410), False),
    ],
    ids=["error", "forbidden", "too many", "elsewhere", "page", "long", "packed", "missing", "gone"],
)
def test_a_script_that_was_not_read_is_not_called_clean_or_changed(serve, response, is_unread):
    serve(routes({"/": page("/a.js"), "/a.js": response}))
    expected = report.Expected(pins={f"{PAGE}a.js": "0" * 64})
    found, facts, lines, last = scanned(expected=expected)
    assert found == []
    assert facts["found"][0]["sha256"] is None
    wanted = dict.fromkeys([*report.OF_LIBRARIES, *report.OF_PINS], "scripts_unread") if is_unread else {}
    assert unread(lines) == wanted
    assert last["complete"] is True


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["a.js", "jquery-3.7.1.js"])
def test_findings_stay_open_until_the_script_is_read_again(serve, name):
    site = make_website(HOST)
    states = []
    for days, response in ((3, http(200, JQUERY)), (2, http(500)), (1, http(200, b"/*! jQuery v3.7.1 */"))):
        serve(routes({"/": page(f"/{name}"), f"/{name}": response}))
        lines = [json.dumps(line) for line in report.report(HOST, PUBLIC)]
        import_report(site, lines, datetime.now(UTC) - timedelta(days=days))
        states.append(dict(Finding.objects.values_list("rule", "status")))
    assert states == [{"library-vulnerable": status} for status in ("open", "open", "fixed")]


@pytest.mark.parametrize(
    ("more", "severity"),
    [("", "medium"), ('<input type="password">', "high"), ('<input name="cardNumber">', "high")],
)
def test_a_new_host_is_worse_on_a_page_that_asks_for_secrets(serve, more, severity):
    serve(routes({"/": page(f"{CDN}/a.js", f"https://static.{HOST}/b.js", GTM, more=more)}))
    found, *_ = scanned(expected=report.Expected(hosts=["www.googletagmanager.com"]))
    assert found == [("script-host-new", "cdn.example.org", severity)]
    found, _, lines, _ = scanned()  # without an inventory, no host is new, and none counts as known
    assert (found, [rule for line in lines for rule in line.get("skipped", [])]) == (
        [],
        [*report.OF_HOSTS, *report.OF_PINS],
    )


@pytest.mark.django_db
def test_the_inventory_of_one_scan_is_what_the_next_one_expects(serve, tmp_path):
    site = make_website(HOST)
    found = []
    for urls in (["/a.js", GTM], ["/a.js", GTM, f"{CDN}/b.js"]):
        serve(routes({"/": page(*urls), "/a.js": http(200, JQUERY)}))
        expected = msgspec.convert(stored_facts.expected(site.pk), report.Expected)
        rules, facts, *_ = scanned(expected=expected)
        (tmp_path / stored_facts.FILE_NAME).write_text(json.dumps({"scripts": facts}))
        stored_facts.store(site.pk, tmp_path, seen_at=datetime.now(UTC), may_begin=True)
        found.append([matcher for rule, matcher, _ in rules if rule == "script-host-new"])
    assert found == [[], ["cdn.example.org"]]
    assert SeenScript.objects.get(url=f"{PAGE}a.js").sha256 == sha256(JQUERY).hexdigest()
    assert SeenScript.objects.count() == 3


def test_a_pinned_script_with_another_content_has_changed(serve):
    serve(routes({"/": page("/a.js"), "/a.js": http(200, b"steal()")}))
    digests = [sha256(text).hexdigest() for text in (b"pay()", b"steal()")]
    found, _, lines, _ = scanned(expected=report.Expected(pins={f"{PAGE}a.js": digests[0]}))
    assert found == [("script-changed", f"{PAGE}a.js", "high")]
    [finding] = [line for line in lines if "finding" in line]
    assert all(text in finding["evidence"] for text in (*digests, f"{datetime.now(UTC):%Y-%m-%d}"))
    assert scanned(expected=report.Expected(pins={f"{PAGE}a.js": digests[1]}))[0] == []


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (http(403), "blocked"),
        (redirect("https://other.example.net/"), "redirected_away"),
        (http(500), "server_error"),
    ],
)
def test_of_another_page_nothing_is_said(serve, response, reason):
    serve(response if callable(response) else routes({"/": response}))
    found, facts, lines, last = scanned(expected=report.Expected(hosts=[]))
    assert (found, facts, last["complete"]) == ([], None, False)
    assert lines[-1]["error"] == reason


def test_of_a_missing_page_and_a_cut_one_nothing_counts_as_fixed(serve):
    rules = {*report.OF_LIBRARIES, *report.OF_HOSTS, *report.OF_PINS}
    serve(routes({"/": http(404, b"<p>", headers=HTML)}))
    _, facts, lines, _ = scanned()
    assert (facts, unread(lines)) == (None, dict.fromkeys(rules, "no_page"))
    serve(routes({"/": http(200, b"<p>" + b" " * 1024**2, headers=HTML)}))
    _, facts, lines, _ = scanned()
    assert (facts["complete"], unread(lines)) == (False, dict.fromkeys(rules, "not_read_to_the_end"))


def test_a_wrong_address_and_one_at_another_port_are_no_failures(serve):
    serve(routes({"/": page("//[", "https://cdn.example.org:8443/b.js", "data:text/javascript,1")}))
    found, facts, lines, last = scanned(expected=report.Expected(hosts=["cdn.example.org"]))
    assert (found, unread(lines), last["complete"]) == ([], {}, True)
    assert [each["url"] for each in facts["found"]] == [f"{CDN}:8443/b.js"]


def test_a_page_full_of_hostile_addresses_keeps_the_scan_short(serve):
    path = "/wp-includes/js/" * 50_000
    serve(routes({"/": page(f"{GTM}{path}", *(f"{GTM}?{n}" for n in range(5000)))}))
    begun = time.process_time()
    scanned()
    assert time.process_time() - begun < 10


@pytest.mark.django_db
def test_addresses_that_scans_must_not_reach_are_not_asked(serve, internet):
    internet.zone |= {"cdn.example.org": [OTHER], "inside.example.org": ["10.0.0.1"]}
    ScanOptOut.objects.create(kind="host", value="cdn.example.org", reason="They asked", by="ada")
    serve(routes({"/": page(f"{CDN}/a.js", "https://inside.example.org/b.js", "http://127.0.0.1/c.js")}))
    serve(answer(200, JQUERY), at=OTHER)
    found, facts, lines, _ = scanned(never=policy.never_scanned(HOST))
    assert (found, [each["sha256"] for each in facts["found"]]) == ([], [None] * 3)
    assert unread(lines).keys() == {*report.OF_LIBRARIES}
    assert {address for address, _ in internet.connected} == {PUBLIC}


def test_the_engine_is_part_of_quick_scans(settings):
    settings.ALLOW_PRIVATE_HOSTS, settings.DNS_RESOLVERS = False, []
    settings.RETIREJS_FILE = "/etc/retire.json"
    [engine] = [each for each in read_engines(settings.CRAWLER_ENGINES) if each.name == "scripts"]
    assert engine.is_part_of("quick", HOST)
    assert engine.seconds > report.SECONDS
    _, *arguments = engine.arguments(host=HOST, address=PUBLIC, report=settings.BASE_DIR / "report")
    options = _parser().parse_args(arguments)
    assert (options.kind, options.retirejs) == ("scripts", "/etc/retire.json")


@pytest.mark.once
def test_the_program_writes_facts_next_to_the_report_and_reads_what_is_expected(tmp_path):
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    from threading import Thread

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html" if self.path == "/" else "text/javascript")
            self.end_headers()
            self.wfile.write(f"<title>Shop</title>{tag('/a.js')}".encode() if self.path == "/" else JQUERY)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://shop.localhost:{server.server_address[1]}/a.js"
        (tmp_path / "expected").write_text(json.dumps({"hosts": [], "pins": {url: "00"}}))
        words = ["scripts", "shop.localhost", "127.0.0.1", str(tmp_path / "report"), "agent", "--private"]
        words += ["--website", "shop.localhost", str(server.server_address[1])]
        words += ["--expected", str(tmp_path / "expected"), "--retirejs", str(tmp_path / "missing")]
        subprocess.run([sys.executable, program.__file__, *words], check=True, timeout=60)
        server.shutdown()
    lines = [json.loads(line) for line in (tmp_path / "report").read_text().splitlines()]
    assert [line["finding"] for line in lines if "finding" in line] == [
        "library-vulnerable",
        "script-changed",
    ]
    [script] = json.loads((tmp_path / "facts.json").read_text())["scripts"]["found"]
    assert (script["url"], script["libraries"]) == (
        url,
        [{"name": "jquery", "version": "3.4.1"}],
    )
