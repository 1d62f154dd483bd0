"""Facts of scans: what a built-in engine wrote next to its report is checked, bounded and stored."""

import hashlib
import json
import os
import ssl
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from dashboard_api.crawler import engines, facts, inventory, queue, worker
from dashboard_api.crawler.canary import Look
from dashboard_api.crawler.home_page import HomePage
from dashboard_api.crawler.worker import Worker
from dashboard_api.models import (
    Finding,
    RegisteredDomain,
    ScanJob,
    ScriptInventory,
    SeenCertificate,
    SeenScript,
)
from signed_api import limits
from signed_api.inventory import InventoryResponse
from tests.dashboard_api.calls import account_site
from tests.dashboard_api.crawler.conftest import PAGE
from tests.dashboard_api.crawler.engines import WRITE, engine
from tests.factories import make_link, make_scannable, make_website
from tests.faults.certificate import write_certificate
from tests.faults.server import FaultServer, answer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("public_address", "crawler")]

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
DAY = timedelta(days=1)
HOST = "shop.example.com"
FIRST_YEAR = {"subject": "", "issuer": "", "valid_until": "0001-01-01T00:00:00Z"}
CDN = "https://cdn.example.net/a.js"


def certificate(number=1, **fields):
    return {
        "host": HOST,
        "port": 443,
        "sha256": f"{number:064x}",
        "subject": HOST,
        "issuer": "R3",
        "names": [HOST],
        "key": "RSA, 2048 bits",
        "signature": "sha256",
        "valid_from": "2026-10-01T00:00:00Z",
        "valid_until": "2026-12-30T00:00:00Z",
        "chain": [{"subject": "R3", "issuer": "Root", "valid_until": "2030-01-01T00:00:00Z"}],
        "problem": "",
    } | fields


def script(url=CDN, **fields):
    host = url.split("/")[2]
    of_page = {"url": url, "host": host, "sha256": "a" * 64, "bytes": 9, "integrity": False, "libraries": []}
    return of_page | fields


def scripts(*found, complete=True):
    return {"page": f"https://{HOST}/", "complete": complete, "found": found}


def domain(**fields):
    known = {"name": "example.com", "valid_until": "2027-08-13T04:00:00Z", "registrar": "R", "reason": ""}
    return known | fields


@pytest.fixture
def website():
    return make_website(HOST)


@pytest.fixture
def store(website, tmp_path):
    """Store these facts as of a day after NOW."""

    def store(content, day=0, *, may_begin=True):
        text = content if isinstance(content, str | bytes) else json.dumps(content)
        data = text if isinstance(text, bytes) else text.encode()
        (tmp_path / facts.FILE_NAME).write_bytes(data)
        facts.store(website.pk, tmp_path, seen_at=NOW + day * DAY, may_begin=may_begin)

    return store


def test_a_certificate_keeps_its_first_day_and_a_new_one_of_its_host_replaces_it(store):
    store({"certificates": [certificate()]})
    store({"certificates": [certificate()]}, 1)
    store({"certificates": [certificate(2), certificate(3, host="www.example.com")]}, 2)
    rows = SeenCertificate.objects.order_by("fingerprint").values_list(
        "is_current", "first_seen_at", "seen_at"
    )
    assert list(rows) == [
        (False, NOW, NOW + DAY),
        (True, NOW + 2 * DAY, NOW + 2 * DAY),
        (True, NOW + 2 * DAY, NOW + 2 * DAY),
    ]


def test_a_host_that_scans_no_longer_reach_has_a_current_certificate_for_30_days(store):
    store({"certificates": [certificate(1, host="www.example.com")]})
    store({"certificates": [certificate(2)]}, 30)
    assert SeenCertificate.objects.get(host="www.example.com").is_current
    store({"certificates": [certificate(2)]}, 31)
    assert not SeenCertificate.objects.get(host="www.example.com").is_current


def test_only_the_newest_certificates_and_scripts_are_kept_and_pinned_scripts(store):
    store({"scripts": scripts(script("https://cdn.example.net/pinned.js"))})
    SeenScript.objects.update(pinned_sha256="a" * 64)
    for day in (1, 2):
        found = [script(f"https://cdn.example.net/{day}/{number}.js") for number in range(150)]
        certificates = [certificate(100 * day + number) for number in range(40)]
        store({"scripts": scripts(*found), "certificates": certificates}, day)
    assert SeenCertificate.objects.count() == limits.MAX_CERTIFICATES
    assert SeenCertificate.objects.filter(is_current=True).count() == 40
    assert SeenScript.objects.count() == limits.MAX_SCRIPTS
    assert SeenScript.objects.filter(url__endswith="/pinned.js").exists()
    assert SeenScript.objects.filter(seen_at=NOW + 2 * DAY).count() == 150


def test_the_largest_inventory_fits_into_a_response(store, website):
    wide = "\U0001f600"
    authority = {"subject": wide * 100, "issuer": wide * 100, "valid_until": "2030-01-01T00:00:00Z"}
    widest = {
        "subject": wide * 200,
        "issuer": wide * 200,
        "names": ["a" * 253] * 40,
        "chain": [authority] * 8,
    }
    certificates = [certificate(number, **widest) for number in range(limits.MAX_CERTIFICATES)]
    store(json.dumps({"certificates": certificates}, ensure_ascii=False))
    libraries = [{"name": "a" * 100, "version": "1" * 30}] * 16
    addresses = [f"https://cdn.example.net/{number:0>1976}" for number in range(limits.MAX_SCRIPTS)]
    store({"scripts": scripts(*[script(url, libraries=libraries) for url in addresses])})
    encoded = msgspec.json.encode(inventory.build_inventory(account_site(make_link(website=website))))
    assert SeenCertificate.objects.count() == limits.MAX_CERTIFICATES
    assert SeenScript.objects.count() == limits.MAX_SCRIPTS
    assert len(encoded) < limits.MAX_RESPONSE_BYTES
    assert msgspec.json.decode(encoded, type=InventoryResponse).scripts


def test_facts_end_with_their_website(store, website):
    store({"certificates": [certificate()], "domain": domain(), "scripts": scripts(script())})
    website.delete_unused()
    for model in (SeenCertificate, RegisteredDomain, ScriptInventory, SeenScript):
        assert not model.objects.exists()


def test_the_last_day_of_a_domain_stays_when_a_later_scan_cannot_read_it(store):
    store({"domain": domain(valid_until=None, registrar="", reason="failed")})
    assert RegisteredDomain.objects.get().reason == "failed"
    store({"domain": domain()}, 1)
    store({"domain": domain(valid_until=None, registrar="", reason="failed")}, 2)
    row = RegisteredDomain.objects.get()
    assert (row.reason, row.registrar, row.read_at) == ("failed", "R", NOW + DAY)
    assert f"{row.valid_until:%Y-%m-%d}" == "2027-08-13"


def test_the_first_complete_inventory_makes_its_hosts_the_expected_ones(store, website):
    assert facts.expected(website.pk) == {"hosts": None, "pins": {}}
    store({"scripts": scripts(script(), complete=False)})
    assert facts.expected(website.pk)["hosts"] is None
    store({"scripts": scripts(script())}, may_begin=False)
    assert facts.expected(website.pk)["hosts"] is None
    store({"scripts": scripts(script(), script(f"https://{HOST}/app.js"))})
    store({"scripts": scripts(script("https://evil.example/x.js"))}, 1)
    assert facts.expected(website.pk)["hosts"] == ["cdn.example.net", HOST]
    assert ScriptInventory.objects.get().at == NOW + DAY


def test_a_script_says_when_its_content_changed_and_unread_content_changes_nothing(store, website):
    store({"scripts": scripts(script())})
    SeenScript.objects.update(pinned_sha256="a" * 64)
    store({"scripts": scripts(script(sha256=None, bytes=None))}, 1)
    row = SeenScript.objects.get()
    assert (row.sha256, row.size, row.changed_at) == ("a" * 64, 9, None)
    store({"scripts": scripts(script(sha256="b" * 64))}, 2)
    row = SeenScript.objects.get()
    assert (row.sha256, row.changed_at, row.first_seen_at) == ("b" * 64, NOW + 2 * DAY, NOW)
    assert facts.expected(website.pk)["pins"] == {CDN: "a" * 64}


@pytest.mark.parametrize(
    "content",
    [
        "no JSON",
        b"\xff\xfe",
        "[]",
        "[" * 100_000,
        '{"certificates": ' + "[" * 100_000,
        {"certificates": {}, "domain": [], "scripts": None},
        {"certificates": [None, 1, "x", {}]},
        {"certificates": [certificate(host="a\0b")]},
        {"certificates": [certificate(subject="a\0b")]},
        {"certificates": [certificate(valid_until="9999-12-31T23:59:59Z")]},
        {"certificates": [certificate(valid_until="2026-12-30")]},
        {"certificates": [certificate(chain=[FIRST_YEAR])]},
        {"certificates": [certificate(names=["a"] * 41)]},
        {"certificates": [certificate()] * 51},
        {"domain": domain(registrar="\ud800")},
        {"domain": domain(reason="<script>")},
        {"scripts": scripts(script(f"https://cdn.example.net/{'ä' * 1_000}.js"))},
        {"scripts": scripts(script("javascript:alert(1)//x/"))},
        {"scripts": scripts(script(f"https://cdn.example.net/{'a' * 2_000}.js"))},
        {"scripts": scripts(script(bytes=2**60))},
        {"scripts": scripts(script(sha256="A" * 64))},
        {"scripts": scripts(*[script()] * 201)},
        json.dumps({"scripts": scripts(script())}) + " " * facts.MAX_BYTES,
    ],
    ids=lambda content: str(content)[:60],
)
def test_wrong_facts_are_dropped_and_logged(store, caplog, content):
    store(content)
    assert not SeenCertificate.objects.exists()
    assert not RegisteredDomain.objects.exists()
    assert not SeenScript.objects.exists()
    assert not ScriptInventory.objects.exists()
    assert "facts of a scan" in caplog.text or "of a scan were dropped" in caplog.text


def test_one_wrong_script_is_left_out_and_the_inventory_is_then_not_complete(store):
    store({"scripts": scripts(script(), {"url": "wrong"}), "domain": domain()})
    assert SeenScript.objects.get().url == CDN
    assert not ScriptInventory.objects.exists()
    assert RegisteredDomain.objects.exists()


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("good.json")])
def test_only_a_file_is_read(website, tmp_path, caplog, make):
    (tmp_path / "good.json").write_text(json.dumps({"domain": domain()}))
    make(tmp_path / facts.FILE_NAME)
    facts.store(website.pk, tmp_path, seen_at=NOW, may_begin=True)
    assert "cannot be read" in caplog.text
    assert not RegisteredDomain.objects.exists()


# Whole scans, by a program in the place of our own one

_FACTS = {"certificates": [certificate()], "domain": domain(), "scripts": scripts(script())}
_WRITE_FACTS = f"""
import json, pathlib, sys
report = sys.argv[4]
{WRITE}
folder = pathlib.Path(report).parent
folder.joinpath("facts.json").write_text({json.dumps(_FACTS)!r})
print([each for each in sys.argv if each.startswith("--expected=")])
for each in sys.argv:
    if each.startswith("--expected="):
        print(pathlib.Path(each.partition("=")[2]).read_text())
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Run this program as the built-in one."""
    path = tmp_path / "program.py"
    path.write_text(_WRITE_FACTS)
    monkeypatch.setattr(engines, "_PROGRAM", str(path))
    monkeypatch.setitem(engines._BUILT_IN, "$scripts", "scripts")


def scan(*kinds, website=None):
    queue.add(website or make_scannable(), by="ada")
    commands = {kind: [kind, "$host", "$address", "$report"] for kind in kinds}
    run = [engine(name=kind.strip("$"), source="stub", command=each) for kind, each in commands.items()]
    return Worker("w", run, bool).run_one()


@pytest.mark.usefixtures("program")
def test_facts_are_stored_with_the_report():
    job = scan("$essentials")
    assert job.outcome == ScanJob.Outcome.COMPLETE
    assert Finding.objects.exists()
    seen = SeenCertificate.objects.get()
    assert (seen.website, seen.seen_at) == (job.website, job.runs.get().started_at)
    assert RegisteredDomain.objects.get().website == job.website
    assert ScriptInventory.objects.get().expected_hosts == ["cdn.example.net"]


def test_the_certificate_of_a_website_is_stored_by_a_scan_with_our_own_program(settings, tmp_path):
    settings.ALLOW_PRIVATE_HOSTS = True
    file, tls = write_certificate(tmp_path, name="shop.localhost")
    with FaultServer(answer(200, b"<p>Hello"), tls=tls) as server:
        settings.LOCALHOST_WEBSITES = {"shop.localhost": server.port}
        queue.add(make_scannable("shop.localhost"), by="ada")
        command = ["$essentials", "$host", "127.0.0.1", "$report"]
        job = Worker("w", [engine(name="essentials", command=command)], bool).run_one()
    der = ssl.PEM_cert_to_DER_cert(file.read_text().partition("-----BEGIN PRIVATE")[0])
    seen = SeenCertificate.objects.get(website=job.website)
    assert (seen.host, seen.port) == ("shop.localhost", settings.LOCALHOST_WEBSITES["shop.localhost"])
    assert seen.fingerprint == hashlib.sha256(der).hexdigest()
    assert seen.details["problem"] == "not_trusted"
    assert seen.details["names"] == ["shop.localhost", "127.0.0.1"]


@pytest.mark.usefixtures("program")
def test_only_the_engine_of_scripts_learns_pins_and_expected_hosts():
    website = make_scannable()
    ScriptInventory.objects.create(website=website, page="", at=NOW, expected_hosts=["cdn.example.net"])
    SeenScript.objects.create(
        website=website,
        url=CDN,
        host="cdn.example.net",
        sha256="b" * 64,
        pinned_sha256="b" * 64,
        has_integrity=False,
        first_seen_at=NOW,
        seen_at=NOW,
    )
    job = scan("$essentials", "$scripts", website=website)
    logs = dict(job.runs.values_list("engine", "log"))
    assert logs["essentials"] == "[]"
    said = json.loads(logs["scripts"].splitlines()[1])
    assert said == {"hosts": ["cdn.example.net"], "pins": {CDN: "b" * 64}}


def test_facts_of_other_programs_are_not_read():
    queue.add(make_scannable(), by="ada")
    write = f"{WRITE}; open('facts.json', 'w').write({json.dumps(_FACTS)!r})"
    assert Worker("w", [engine(write)], bool).run_one().outcome == ScanJob.Outcome.COMPLETE
    assert not SeenCertificate.objects.exists()


@pytest.mark.usefixtures("program")
@pytest.mark.parametrize("last", [Look("blocked"), Look("", HomePage(title="Just a moment"))])
def test_facts_of_a_scan_whose_report_does_not_count_are_not_stored(monkeypatch, last):
    looks = iter([Look("", PAGE), last])
    monkeypatch.setattr(worker, "look", lambda *_, **__: next(looks))
    job = scan("$essentials")
    assert job.outcome in (ScanJob.Outcome.BLOCKED, ScanJob.Outcome.DIFFERENT)
    assert not SeenCertificate.objects.exists()
    assert not ScriptInventory.objects.exists()


@pytest.mark.usefixtures("program")
def test_a_page_without_content_makes_hosts_expected_only_when_it_is_seen_again(monkeypatch):
    monkeypatch.setattr(worker, "look", lambda *_, **__: Look("", HomePage(title="App", size=9)))
    website = make_scannable()
    scan("$scripts", website=website)
    assert SeenScript.objects.exists()
    assert not ScriptInventory.objects.exists()
    ScanJob.objects.update(created_at=NOW - DAY)  # scans by hand have a pause
    scan("$scripts", website=website)
    assert ScriptInventory.objects.exists()
