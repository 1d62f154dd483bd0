"""Scanners that make engines installs, in real runs against a website on loopback."""

import base64
import os
import ssl
import warnings
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings

from dashboard_api.crawler import queue
from dashboard_api.crawler.engines import read_engines
from dashboard_api.crawler.runs import run_engine
from dashboard_api.crawler.worker import Worker
from dashboard_api.models import Coverage, Finding
from dashboard_api.scanners import read_report
from dashboard_api.scanners.report import Severity
from tests import factories
from tests.faults.certificate import write_certificate
from tests.faults.server import FaultServer, answer

pytestmark = pytest.mark.usefixtures("behind_wall")


def installed(name):
    engines = read_engines(Path(settings.BASE_DIR) / "deploy" / "engines.toml")
    found = next(engine for engine in engines if engine.name == name)
    if found.program() is None:
        pytest.skip(f"not installed: {name} (make engines)")
    return found


PAGE = b"<title>Shop</title><a href='/about'>About</a><a href='http://trap.localhost:9/'>Elsewhere</a>"


@pytest.mark.slow
@pytest.mark.django_db
def test_wapiti_crawls_the_website_through_our_proxy_and_its_report_is_imported(settings, monkeypatch):
    engine = installed("wapiti-passive")
    settings.ALLOW_PRIVATE_HOSTS = True
    page = answer(200, PAGE, headers=[("Content-Type", "text/html"), ("Set-Cookie", "a=b")])
    with FaultServer(page) as server:
        settings.LOCALHOST_WEBSITES = {"shop.localhost": server.port}
        queue.add(factories.make_scannable("shop.localhost"), by="ada", profile="standard")
        job = Worker(f"w{os.getpid()}", [engine], lambda: False).run_one()
    run = job.runs.get()
    assert (job.outcome, run.state) == ("complete", "ok"), run.log
    asked = {received.head.split()[1] for received in server.received}
    assert asked == {b"/", b"/about", b"/robots.txt"}
    assert all(received.header("user-agent").startswith("ThreatDashboard/1") for received in server.received)
    assert Finding.objects.filter(source__slug="wapiti", rule__contains="cookie").count() == 2
    assert Coverage.objects.get(source__slug="wapiti").state == "ok"


@pytest.mark.slow
@pytest.mark.django_db
def test_wapiti_whose_time_for_a_module_was_used_up_has_not_tried_everything(settings):
    engine = installed("wapiti-attacks")
    words = ["exec" if "," in word else word for word in engine.command]
    words[words.index("--max-attack-time") + 1] = "1"
    settings.ALLOW_PRIVATE_HOSTS = True
    page = answer(200, b"<a href='/shop?p=1'>Shop</a>", headers=[("Content-Type", "text/html")])
    with FaultServer(page) as server:
        settings.LOCALHOST_WEBSITES = {"shop.localhost": server.port}
        queue.add(factories.make_scannable("shop.localhost"), by="ada", profile="standard")
        engine = msgspec.structs.replace(engine, command=words, profile="standard")
        job = Worker(f"w{os.getpid()}", [engine], lambda: False).run_one()
    assert job.runs.get().exit_code == 0, job.runs.get().log
    assert (job.outcome, job.reason) == ("partial", "stopped_early"), job.runs.get().log


def run_sslyze(server, settings, folder):
    """Return a run of SSLyze against a server of the test, behind the wall."""
    engine = installed("sslyze")
    settings.ALLOW_PRIVATE_HOSTS, settings.LOCALHOST_WEBSITES = True, {"shop.localhost": server.port}
    command = [part.replace(":443", f":{server.port}") for part in engine.command]
    engine = msgspec.structs.replace(engine, command=command, seconds=300)
    job, _ = queue.add(factories.make_scannable("shop.localhost"), by="ada")
    return run_engine(job, engine, "127.0.0.1", folder / "sslyze", lambda: None, seconds=300, requests=0)


@pytest.mark.django_db
def test_sslyze_reports_the_website_through_the_tunnel(tmp_path, settings):
    with FaultServer(answer(200, b""), tls=write_certificate(tmp_path)[1]) as server:
        run = run_sslyze(server, settings, tmp_path)
    assert run.row.exit_code in run.engine.success, run.row.log
    with run.report.open("rb") as file:
        scan = read_report(file, format_name="sslyze")
        assert scan.source == "sslyze"
        assert list(scan)


# The group 2 of RFC 2409, of 1,024 bits, and its generator, as OpenSSL reads them.
GROUP_2 = bytes.fromhex(
    "30818702818100"
    "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD"
    "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
    "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF"
    "020102"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ciphers", "rule"),
    [("DHE-RSA-AES128-SHA", "key_exchange"), ("AES128-SHA", "forward_secrecy")],
)
@pytest.mark.django_db
def test_sslyze_sees_the_key_exchange_of_a_server_with_old_versions_only(tmp_path, settings, ciphers, rule):
    file, tls = write_certificate(tmp_path, key=rsa.generate_private_key(65537, 2048))
    text = base64.encodebytes(GROUP_2).decode()
    file.write_text(f"-----BEGIN DH PARAMETERS-----\n{text}-----END DH PARAMETERS-----\n")
    tls.load_dh_params(file)
    tls.set_ciphers(f"{ciphers}:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        tls.minimum_version, tls.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    with FaultServer(answer(200, b""), tls=tls) as server:
        run = run_sslyze(server, settings, tmp_path)
    with run.report.open("rb") as stream:
        found = {row.rule: row.severity for row in read_report(stream).entries if hasattr(row, "severity")}
    assert {"tls_1_0", "tls_1_1", rule} <= set(found)
    assert {found[name] for name in ("tls_1_0", "tls_1_1", rule)} == {Severity.MEDIUM}
