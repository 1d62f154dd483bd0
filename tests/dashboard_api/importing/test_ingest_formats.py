"""Every format's sample, through the import into the database."""

import json
from datetime import UTC, datetime

import pytest

from dashboard_api.importing.service import RefusedReport
from dashboard_api.models import Coverage, Finding, Occurrence
from dashboard_api.scanners import READERS
from tests.dashboard_api.importing.reports import import_bytes
from tests.dashboard_api.scanners import samples
from tests.dashboard_api.scanners.samples import (
    SAMPLES,
    make_entry,
    make_greenbone,
    make_greenbone_result,
    make_item,
    make_nessus,
    make_nessus_host,
    make_nessus_item,
    make_nikto,
    make_nikto_xml,
    make_nmap,
    make_nmap_host,
    make_nmap_port,
    make_result,
    make_row,
    make_sarif,
    make_sslyze,
    suites,
)
from tests.factories import make_website

pytestmark = pytest.mark.django_db
every_format = pytest.mark.parametrize("name", READERS)
NOW = datetime(2026, 3, 2, tzinfo=UTC)


def import_sample(website, data):
    return import_bytes(data, website, scanned_at=NOW, base_url=f"https://{website.host}/")


def stored():
    findings = Finding.objects.order_by("fingerprint")
    return list(findings.values_list("fingerprint", "title", "severity", "location", "evidence", "last_seen"))


@every_format
def test_every_row_is_accounted_for(name):
    result = import_sample(make_website(), SAMPLES[name])
    piles = (result.findings, result.occurrences, result.coverage, result.rejected)
    assert sum(piles) == result.rows > 0
    assert result.new == result.findings == Finding.objects.count() > 0
    assert result.rejected == 0


@every_format
def test_importing_twice_is_importing_once(name):
    website = make_website()
    first = import_sample(website, SAMPLES[name])
    before, occurrences = stored(), Occurrence.objects.count()
    again = import_sample(website, SAMPLES[name])
    assert (again.new, again.updated, again.fixed) == (0, first.findings, 0)
    assert (stored(), Occurrence.objects.count()) == (before, occurrences)


def broken_off():
    """Yield a report of each format that can say that its scan failed, with a part of the reason."""
    yield samples.make_acunetix(samples.make_acunetix_scan(Aborted="True")), "the scan was aborted"
    yield samples.make_acunetix(samples.make_acunetix_scan(Responsive="False")), "did not respond"
    yield samples.make_qualys(status="Canceled"), "the status of the scan is Canceled"
    yield samples.make_greenbone(status="Stopped", names={"192.0.2.7": "shop.example.com"}), "is Stopped"
    nmap = samples.make_nmap(samples.make_nmap_host(samples.make_nmap_port("22")), end="error")
    yield nmap, "Nmap ended with an error"
    yield nmap.replace(b'exit="error"', b'exit="error" errormsg="out of memory"'), "out of memory"
    for name in ("scan_aborted", "not_fully_configured"):
        yield samples.make_wpscan(**{name: "The API token is invalid."}), "The API token is invalid"
    yield (
        samples.make_wpscan(response_status_codes_warning=True),
        "many requests failed: WPScan may be blocked",
    )
    fatal = samples.make_entry(id="scanProblem", severity="FATAL", finding="No connection")
    yield [samples.make_entry(), fatal], "No connection"
    yield [samples.make_entry(id="scanTime", severity="WARN", finding="Scan interrupted")], "interrupted"
    scan = samples.make_observatory(cookies={"pass": True})
    for member, value in (("error", "site-down"), ("state", "ABORTED")):
        yield scan | {"scan": scan["scan"] | {member: value}}, value
    yield scan | {"scan": scan["scan"] | {"testsQuantity": 10}}, "1 of 10 tests are in the report"
    for reason, invocation in {
        "the tool says that it was not successful": {"executionSuccessful": False},
        "out of disk": {"executionSuccessful": False, "exitCodeDescription": "out of disk"},
        "SIGKILL ended the tool": {"executionSuccessful": True, "exitSignalName": "SIGKILL"},
        "no such program": {"executionSuccessful": True, "processStartFailureMessage": "no such program"},
        "a rule is broken": {
            "executionSuccessful": True,
            "toolConfigurationNotifications": [{"level": "error", "message": {"text": "a rule is broken"}}],
        },
    }.items():
        yield make_sarif(make_result(kind="pass"), invocations=[invocation]), reason
    yield samples.make_wapiti(crawled_pages_nbr=0), "Wapiti reached no page"
    yield samples.make_nikto(samples.make_item(id="FAIL", msg="Unable to connect")), "Unable to connect"
    yield samples.make_nessus(samples.make_nessus_host(HOST_END=None)), "did not end"
    server = samples.make_sslyze() | {"invalid_server_strings": []}
    server["server_scan_results"][0] |= {"scan_result": None, "connectivity_error_trace": "timed out"}
    yield server, "timed out"
    yield [make_row(error="no such host", matcher_status=False)], "no such host"


@pytest.mark.parametrize(("report", "reason"), [*broken_off()])
def test_a_scan_that_says_that_it_failed_says_why_and_checked_no_address(report, reason):
    data = report if isinstance(report, bytes) else json.dumps(report).encode()
    result = import_bytes(data, make_website(), complete=True, base_url="https://shop.example.com/")
    assert result.state in ("partial", "failed")
    coverage = Coverage.objects.get()
    assert f"{reason}." in coverage.detail
    assert result.detail.startswith("The scan is incomplete: ")
    assert f"{reason}." in result.detail
    assert coverage.completed_at is None
    assert not coverage.urls_checked


def test_the_reason_of_a_failed_scan_is_short_and_shows_no_password():
    text = "cannot open https://ada:s3cr3t@shop.example.com/\n" + "x" * 500
    report = samples.make_wpscan(scan_aborted=text)
    result = import_bytes(json.dumps(report).encode(), make_website())
    assert "s3cr3t" not in result.detail + str(result.failures)
    assert result.detail.startswith("The scan is incomplete: cannot open https://")
    assert len(result.detail) < 300


@every_format
def test_report_of_another_website_is_refused(name):
    other = make_website(host="other.example.com")
    with pytest.raises(RefusedReport, match="rejected"):
        import_bytes(SAMPLES[name], other)
    assert not Finding.objects.exists()


def test_names_of_images_and_packages_in_sarif_are_places_below_the_base():
    names = ["docker://shop", "ubuntu:20.04", "alpine_3.18", "localhost:3000", "pkg:npm/lodash@4.17.15"]
    places = [{"physicalLocation": {"artifactLocation": {"uri": name}}} for name in names]
    results = [make_result(ruleId=name, locations=[place]) for name, place in zip(names, places, strict=True)]
    result = import_sample(make_website(), json.dumps(make_sarif(*results)).encode())
    assert (result.findings, result.rejected) == (5, 0)
    assert set(Finding.objects.values_list("location", flat=True)) == {
        "https://shop.example.com/docker:/shop",
        "https://shop.example.com/ubuntu:20.04",
        "https://shop.example.com/alpine_3.18",
        "https://shop.example.com/localhost:3000",
        "https://shop.example.com/pkg:npm/lodash@4.17.15",
    }


def bring_results(website, *results, day):
    """Import a complete SARIF report of that day."""
    document = make_sarif(*results, invocations=[{"executionSuccessful": True}])
    at = datetime(2026, 3, day, tzinfo=UTC)
    data = json.dumps(document).encode()
    return import_bytes(data, website, scanned_at=at, base_url=f"https://{website.host}/")


def result_in(name, **members):
    return make_result(locations=[{"physicalLocation": {"artifactLocation": {"uri": name}}}], **members)


def test_tool_that_begins_to_write_fingerprints_neither_closes_nor_opens_findings():
    website = make_website()
    bring_results(website, result_in("a.c"), result_in("b.c"), day=1)
    (before,) = Finding.objects.all()
    for day in (2, 3):
        result = bring_results(
            website,
            result_in("a.c", fingerprints={"h": "1"}),
            result_in("b.c", fingerprints={"h": "2"}),
            day=day,
        )
        assert (result.new, result.updated, result.fixed) == (0, 1, 0)
        assert (result.findings, result.occurrences, result.rows) == (1, 1, 2)
    (after,) = Finding.objects.all()
    assert (after.pk, after.status, after.locations_count) == (before.pk, Finding.Status.OPEN, 2)


def test_fingerprints_that_were_there_from_the_start_tell_findings_apart():
    website = make_website()
    results = [result_in(f"{name}.c", fingerprints={"h": name}) for name in "ab"]
    assert bring_results(website, *results, day=1).new == 2
    assert bring_results(website, *results, day=2).updated == 2


def test_older_form_that_another_website_knows_is_not_taken():
    bring_results(make_website(), result_in("a.c"), day=1)
    other = make_website(host="other.example.com")
    bring_results(other, result_in("a.c", fingerprints={"h": "1"}), day=2)
    assert len(set(Finding.objects.values_list("fingerprint", flat=True))) == 2


def test_suppressed_results_are_counted_and_named_and_do_not_make_a_scan_partial():
    website = make_website()
    suppressed = result_in("a.c", suppressions=[{"kind": "external"}])
    result = bring_results(website, suppressed, result_in("b.c"), day=1)
    assert (result.rows, result.findings, result.coverage, result.suppressed) == (2, 1, 1, 1)
    assert [(each.row, each.reason) for each in result.suppressions] == [
        (1, "is suppressed in the report: open-redirect at ./a.c")
    ]
    assert (result.state, result.detail) == (Coverage.State.OK, "Suppressed: 1.")


@pytest.mark.parametrize("fingerprints", [{}, {"h": "1"}])
def test_a_result_that_becomes_suppressed_is_not_called_fixed(fingerprints):
    website = make_website()
    other = result_in("b.c", fingerprints={"h": "2"})
    bring_results(website, result_in("a.c", fingerprints=fingerprints), other, day=1)
    suppressed = result_in("a.c", fingerprints=fingerprints, suppressions=[{"kind": "inSource"}])
    result = bring_results(website, suppressed, other, day=2)
    assert (result.suppressed, result.fixed) == (1, 0)
    assert bring_results(website, other, day=3).fixed == 1


def test_every_location_of_a_result_is_a_place_of_its_finding():
    website = make_website()
    locations = [{"physicalLocation": {"artifactLocation": {"uri": name}}} for name in ("a.c", "b.c")]
    result = bring_results(website, make_result(locations=locations), day=1)
    assert (result.rows, result.findings, result.occurrences) == (2, 1, 1)
    assert set(Occurrence.objects.values_list("location", flat=True)) == {
        f"https://{website.host}/a.c",
        f"https://{website.host}/b.c",
    }


@pytest.mark.parametrize("fingerprints", [{}, {"h": "1"}])
def test_a_result_in_a_file_outside_of_every_source_root_is_not_called_fixed(fingerprints):
    website = make_website()
    other = result_in("b.c", fingerprints={"h": "2"})
    third = result_in("c.c", fingerprints={"h": "3"})
    bring_results(website, result_in("a.c", fingerprints=fingerprints), other, third, day=1)
    for members in ({}, {"suppressions": [{"kind": "inSource"}]}):
        listed = result_in("file:///srv/a.c", fingerprints=fingerprints, **members)
        result = bring_results(website, listed, other, third, day=2)
        assert (result.state, result.fixed) == (Coverage.State.PARTIAL, 0)
    # What the report does not list at all is gone, although it is partial.
    assert bring_results(website, listed, other, day=3).fixed == 1


@pytest.mark.parametrize("members", [{}, {"suppressions": [{"kind": "inSource"}]}])
def test_a_finding_with_a_result_at_an_unclear_location_loses_no_location(members):
    website = make_website()
    bring_results(website, result_in("a.c"), result_in("b.c"), day=1)
    bring_results(website, result_in("a.c"), result_in("file:///srv/b.c", **members), day=2)
    assert Finding.objects.get().locations_count == 2
    assert Occurrence.objects.filter(gone_at=None).count() == 2


def test_file_outside_of_every_source_root_is_rejected_with_a_hint():
    result = bring_results(make_website(), result_in("file:///C:/a.c"), result_in("b.c"), day=1)
    (reject,) = result.rejects
    assert reject.reason.startswith("is about a file, and the report names no folder above it")
    assert reject.reason.endswith('such as by sed -i "s|file://$PWD/||g", and say base_url')


OTHER_NAME = "ptr.example.net"


def scans_of(address):
    """Return reports about a host by its address, for which a scanner found another name."""
    nikto = make_nikto(make_item(), host=OTHER_NAME, ip=address)
    nessus = make_nessus_host(make_nessus_item(), name=address, **{"host-rdns": OTHER_NAME})
    greenbone = make_greenbone_result(host=address, hostname=OTHER_NAME)
    return {
        "nmap": make_nmap(make_nmap_host(make_nmap_port("443"), name="", address=address)),
        "nessus": make_nessus(nessus),
        "greenbone": make_greenbone(greenbone, hosts=[address]),
        "greenbone, named by details": make_greenbone(
            make_greenbone_result(host=address, hostname=""), hosts=[address], names=[(address, OTHER_NAME)]
        ),
        "nikto": json.dumps(nikto).encode(),
        "nikto, XML": make_nikto_xml(nikto),
        "testssl": json.dumps([make_entry(ip=f"{address}/{address}")]).encode(),
        "sslyze": json.dumps(make_sslyze(address, tls_1_0_cipher_suites=suites("TLS_A"))).encode(),
    }


@pytest.mark.parametrize("address", ["203.0.113.9", "2001:db8::9"])
@pytest.mark.parametrize("name", scans_of(""))
def test_a_scan_of_the_websites_address_is_about_it_whatever_other_name_the_host_has(settings, name, address):
    settings.ALLOW_PRIVATE_HOSTS = True
    result = import_sample(make_website(address), scans_of(address)[name])
    assert (result.findings, result.rejected) == (1, 0)
    assert Finding.objects.get().host == address


@pytest.mark.parametrize(
    "data",
    [
        make_nmap(make_nmap_host(make_nmap_port("443"), address="203.0.113.9")),
        make_nessus(make_nessus_host(make_nessus_item(), **{"host-ip": "203.0.113.9"})),
    ],
)
def test_a_scan_of_a_name_is_one_of_its_address_as_well(settings, data):
    settings.ALLOW_PRIVATE_HOSTS = True
    assert import_sample(make_website("203.0.113.9"), data).rejected == 0


@pytest.mark.parametrize("name", ["nmap", "nessus", "greenbone", "nikto"])
def test_a_scan_of_an_address_is_about_the_website_of_its_other_name(name):
    result = import_sample(make_website(OTHER_NAME), scans_of("203.0.113.9")[name])
    assert (result.findings, result.rejected) == (1, 0)
    assert Finding.objects.get().host == OTHER_NAME
