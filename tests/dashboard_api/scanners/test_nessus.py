from datetime import UTC, datetime

import pytest

from dashboard_api.scanners import nessus
from dashboard_api.scanners.report import Severity, UnreadableReport
from dashboard_api.scanners.times import UnreadTime
from tests.dashboard_api.scanners.samples import (
    as_xml,
    make_nessus,
    make_nessus_host,
    make_nessus_item,
    read_whole,
    xml_of,
)


def read(*items, **host):
    return read_whole(nessus, make_nessus(make_nessus_host(*items, **host)))


def read_one(name="shop.example.com", tags=(), **members):
    report = read(make_nessus_item(**members), name=name, **dict(tags))
    assert report.rejects == ()
    (finding,) = report.findings
    return finding


def test_item_says_what_where_and_what_to_do():
    finding = read_one(cvss3_base_score="6.5", cve="CVE-2011-3389", cwe="327", xref="CWE:326")
    assert (finding.title, finding.identity) == ("TLS Version 1.0 Protocol Detection", ("104743",))
    assert finding.location == "https://shop.example.com:443"
    assert finding.description == "Traffic is encrypted with an old protocol.\n\nTLS 1.0 is accepted."
    assert finding.remediation == "Switch TLS 1.0 off."
    assert finding.references == ("https://a.example/1", "https://a.example/2")
    assert (finding.cve, finding.cwe) == (("CVE-2011-3389",), (327, 326))
    assert finding.evidence == (
        "Plugin: 104743 (Service detection)\nService: www tcp\nCVSS: 6.5\n\nOutput:\nTLSv1 is enabled."
    )


@pytest.mark.parametrize("number", range(5))
def test_severity_is_the_number(number):
    finding = read_one(severity=str(number))
    assert finding.severity is Severity(number)
    assert finding.kind == ("confirmed" if number else "informational")


@pytest.mark.parametrize("member", ["description", "plugin_output"])
def test_version_that_software_says_of_itself_is_suspected(member):
    words = "Nessus has relied only on the application's self-reported version number."
    assert read_one(**{member: words}).kind == "suspected"


@pytest.mark.parametrize(
    ("name", "tags", "port", "location"),
    [
        ("shop.example.com", {}, "80", "http://shop.example.com:80"),
        ("shop.example.com", {}, "8443", "shop.example.com:8443"),
        ("shop.example.com", {}, "0", "shop.example.com"),
        ("192.0.2.7", {"host-fqdn": "shop.example.com"}, "443", "https://shop.example.com:443"),
        ("192.0.2.7", {"host-rdns": "shop.example.com"}, "443", "https://shop.example.com:443"),
        ("192.0.2.7", {}, "443", "https://192.0.2.7:443"),
        ("2001:db8::7", {}, "443", "https://[2001:db8::7]:443"),
    ],
)
def test_location_is_the_host_by_name_and_the_port(name, tags, port, location):
    assert read_one(name, tags.items(), port=port).location == location


@pytest.mark.parametrize(
    ("output", "location"),
    [
        ("detected on URL 'https://shop.example.com/a' by", "https://shop.example.com/a"),
        ("detected on URL 'https://other.example/a' by", "https://shop.example.com/"),
        ("detected on URL 'https://[/a' by", "https://shop.example.com/"),
        ("", "https://shop.example.com/"),
    ],
)
def test_web_application_scanner_names_the_address(output, location):
    assert read_one("https://shop.example.com/", plugin_output=output).location == location


def test_every_host_is_what_was_checked():
    hosts = make_nessus_host(make_nessus_item()), make_nessus_host(name="www.shop.example.com")
    report = read_whole(nessus, make_nessus(*hosts))
    assert [check.location for check in report.coverage] == ["shop.example.com", "www.shop.example.com"]
    assert (report.rows, report.complete) == (3, None)


@pytest.mark.parametrize(
    ("service", "location"),
    [
        ("www", "https://shop.example.com:443"),
        ("https?", "https://shop.example.com:443"),
        ("ssh", "shop.example.com:443"),
        ("smtp", "shop.example.com:443"),
    ],
)
def test_a_service_that_is_no_website_has_no_address_of_the_web(service, location):
    assert read_one(svc_name=service).location == location


def test_a_host_that_was_not_scanned_to_its_end_is_a_failed_check():
    ended = {"HOST_END": None, "HOST_END_TIMESTAMP": "1772359200"}
    assert [check.error for check in read(make_nessus_item(), **ended).coverage] == [""]
    (check,) = read(make_nessus_item(), HOST_END=None).coverage
    assert check.error == "the scan of the host did not end"


def test_a_host_that_nessus_considered_as_dead_is_a_failed_check():
    output = "The remote host (192.0.2.7) is considered as dead - not scanning"
    ping = make_nessus_item(pluginID="10180", pluginName="Ping the remote host", plugin_output=output)
    report = read(ping)
    assert [check.error for check in report.coverage] == ["Nessus considered the host as dead", ""]
    assert (report.coverage[0].location, report.findings) == ("shop.example.com", ())


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ({"HOST_END_TIMESTAMP": "1772359200", "HOST_END": "x"}, datetime.fromtimestamp(1772359200, tz=UTC)),
        ({"HOST_END": "Sun Mar  1 10:00:00 2026"}, datetime(2026, 3, 1, 10, tzinfo=UTC)),
        ({"HOST_END": "2026-03-01T10:00:00.12031+00:00"}, datetime(2026, 3, 1, 10, 0, 0, 120310, tzinfo=UTC)),
        ({"HOST_END_TIMESTAMP": "-1"}, UnreadTime("-1")),
        ({"HOST_END": None, "HOST_START": "Sun Mar  1 09:00:00 2026"}, datetime(2026, 3, 1, 9, tzinfo=UTC)),
        ({"HOST_END": None}, None),
    ],
)
def test_time_is_the_end_of_the_last_host_or_its_start(tags, expected):
    assert read(make_nessus_item(), **tags).scanned_at == expected


@pytest.mark.once
def test_policy_is_skipped_however_long_it_is():
    plugins = [xml_of("PluginItem", [xml_of("PluginId", str(number))]) for number in range(1_000)]
    data = make_nessus(make_nessus_host(make_nessus_item()))
    policy = as_xml(xml_of("IndividualPluginSelection", plugins)).partition(b"\n")[2]
    report = read_whole(nessus, data.replace(b"<Preferences>", policy * 80 + b"<Preferences>"))
    assert (report.rows, len(report.rejects)) == (2, 0)
    assert "s3cr3t" not in repr(report)


def test_output_is_redacted():
    evidence = read_one(plugin_output="HTTP/1.1 200 OK\nSet-Cookie: sid=s3cr3t").evidence
    assert "Set-Cookie: [redacted]" in evidence


def test_no_solution_is_no_advice():
    assert read_one(solution="n/a").remediation == ""


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"pluginID": ""}, "has no pluginID"),
        ({"pluginName": None}, "has no pluginName"),
        ({"severity": "9"}, "has a severity that is not one of 0 to 4"),
    ],
)
def test_broken_item_is_rejected_and_loses_no_other(members, reason):
    report = read(make_nessus_item(**members), make_nessus_item())
    assert [(reject.row, reject.reason) for reject in report.rejects] == [(1, reason)]
    assert len(report.findings) == 1


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"<NessusClientData_v2><Policy/></NessusClientData_v2>", "it has no host"),
        (make_nessus(make_nessus_host())[:-30], "cut off"),
        (b"<!DOCTYPE a [<!ENTITY b 'c'>]><NessusClientData_v2/>", "entity"),
    ],
)
def test_other_document_is_refused(data, reason):
    with pytest.raises(UnreadableReport, match=reason):
        read_whole(nessus, data)
