import pytest

from dashboard_api.scanners import greenbone
from dashboard_api.scanners.report import Severity, UnreadableReport
from tests.dashboard_api.scanners.samples import make_greenbone, make_greenbone_result, read_whole


def read(*results, **members):
    return read_whole(greenbone, make_greenbone(*results, **members))


def read_one(**members):
    report = read(make_greenbone_result(**members))
    assert report.rejects == ()
    (finding,) = report.findings
    return finding


def test_result_says_what_where_and_what_to_do():
    finding = read_one(refs=[("cve", "CVE-2011-3389"), ("url", "https://a.example/"), ("cert-bund", "x")])
    assert (finding.title, finding.identity) == ("TLS 1.0 is accepted", ("1.3.6.1.4.1.25623.1.0.117274",))
    assert finding.location == "https://shop.example.com:443"
    assert finding.description == "An old protocol.\n\nIt has\n  weaknesses."
    assert (finding.remediation, finding.severity_raw) == ("Off.", "Medium 4.3")
    assert (finding.cve, finding.references) == (("CVE-2011-3389",), ("https://a.example/",))
    assert finding.evidence == (
        "Port: 443/tcp\nQuality of detection: 98 %\nCVSS: AV:N\n\nResult:\nTLSv1.0 is enabled."
    )


def test_older_reports_name_references_and_solutions_elsewhere():
    finding = read_one(
        nvt_cve="CVE-2011-3389, CVE-2014-3566", nvt_xref="URL:https://a.example/", nvt_solution="On."
    )
    assert finding.cve == ("CVE-2011-3389", "CVE-2014-3566")
    assert (finding.references, finding.remediation) == (("https://a.example/",), "On.")


@pytest.mark.parametrize(
    ("score", "severity"),
    [
        ("10.0", Severity.CRITICAL),
        ("7.0", Severity.HIGH),
        ("4.0", Severity.MEDIUM),
        ("0.1", Severity.LOW),
        ("0.0", Severity.INFO),
    ],
)
def test_score_is_the_severity(score, severity):
    assert read_one(severity=score).severity is severity


@pytest.mark.parametrize(
    ("quality", "score", "kind"),
    [
        ("100", "5", "confirmed"),
        ("95", "5", "confirmed"),
        ("80", "5", "suspected"),
        ("", "5", "suspected"),
        ("100", "0", "informational"),
    ],
)
def test_quality_of_detection_is_the_kind(quality, score, kind):
    assert read_one(qod=quality, severity=score).kind == kind


@pytest.mark.parametrize(
    ("members", "location"),
    [
        ({"port": "80/tcp"}, "http://shop.example.com:80"),
        ({"port": "https (8443/tcp)"}, "shop.example.com:8443"),
        ({"port": "general/tcp"}, "shop.example.com"),
        ({"hostname": ""}, "https://192.0.2.7:443"),
        ({"hostname": "", "host": "2001:db8::7"}, "https://[2001:db8::7]:443"),
    ],
)
def test_location_is_the_host_by_name_and_the_port(members, location):
    assert read_one(**members).location == location


def test_false_positive_is_coverage():
    report = read(make_greenbone_result(threat="False Positive", severity="-1.0"))
    assert (len(report.coverage), report.findings) == (2, ())


def test_report_in_a_response_is_read():
    data = make_greenbone(make_greenbone_result()).partition(b"\n")[2]
    whole = b'<get_reports_response status="200">' + data + b"</get_reports_response>"
    assert greenbone.HEAD_PATTERN.search(whole)
    assert read_whole(greenbone, whole) == read(make_greenbone_result())


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"name": None}, "has no name"),
        ({"nvt_oid": None}, "has no oid"),
        ({"severity": "bad"}, "has a severity that is not a number"),
        ({"host": "", "hostname": ""}, "names no host"),
    ],
)
def test_broken_result_is_rejected_and_loses_no_other(members, reason):
    report = read(make_greenbone_result(**members), make_greenbone_result())
    assert [(reject.row, reject.reason) for reject in report.rejects] == [(1, reason)]
    assert len(report.findings) == 1


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'<report id="1" extension="xml"></report>', "no report with a scan"),
        (make_greenbone(make_greenbone_result())[:-5], "cut off"),
    ],
)
def test_other_document_is_refused(data, reason):
    with pytest.raises(UnreadableReport, match=reason):
        read_whole(greenbone, data)


def test_an_error_is_a_failed_check_of_its_test_at_its_host():
    report = read(
        make_greenbone_result(),
        names=[("192.0.2.8", "www.example.com")],
        hosts=("192.0.2.7", "192.0.2.8"),
        errors=[("192.0.2.7", "1.2"), ("192.0.2.8", "0")],
    )
    failed = [(check.location, check.rules) for check in report.coverage if check.error]
    assert failed == [("shop.example.com", ("1.2",)), ("www.example.com", ())]
    assert report.coverage[-1].error == "NVT timed out after 320 seconds."


def test_a_result_without_a_name_has_that_of_its_host():
    report = read(
        make_greenbone_result(hostname=""),
        make_greenbone_result(host="192.0.2.8", hostname=""),
        names=[("192.0.2.7", "www.example.com")],
        hosts=("192.0.2.7", "192.0.2.8"),
    )
    locations = ["https://www.example.com:443", "https://192.0.2.8:443"]
    assert [finding.location for finding in report.findings] == locations
    assert [check.location for check in report.coverage] == ["www.example.com", "192.0.2.8"]


def test_an_error_that_names_no_host_is_one_of_every_host():
    report = read(hosts=("192.0.2.7", "192.0.2.8"), errors=[("", "0"), ("192.0.2.8", "1.2")])
    assert [(check.location, check.rules) for check in report.coverage if check.error] == [
        ("192.0.2.7", ()),
        ("192.0.2.8", ()),
        ("192.0.2.8", ("1.2",)),
    ]
    assert not report.rejects


def test_an_error_without_a_host_in_a_report_without_hosts_is_rejected():
    report = read(make_greenbone_result(), hosts=(), errors=[("", "0")])
    assert [reject.reason for reject in report.rejects] == ["names no host"]
