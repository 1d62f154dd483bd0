import io
import json
from datetime import UTC, datetime

import pytest

from dashboard_api.scanners import read_report, testssl
from dashboard_api.scanners.report import Severity, UnreadableReport
from tests.dashboard_api.scanners.samples import make_entry, read_whole

WHOLE = [
    make_entry(id=name, severity="OK")
    for name in ("TLS1_2", "cipherlist_NULL", "cert_notAfter", "heartbleed")
]
TIME = make_entry(id="scanTime", severity="INFO", finding="60")


def read(*entries):
    return read_whole(testssl, json.dumps(list(entries)).encode())


def read_pretty(*entries, **members):
    server = {"targetHost": "shop.example.com", "ip": "192.0.2.7", "port": "443", "rDNS": "--"}
    report = {
        "Invocation": "testssl shop.example.com",
        "version": "3.0.8  from ",
        "startTime": "1772359200",
        "scanResult": [server | {"protocols": list(entries), "grease": []}],
        "scanTime": 60,
    }
    return read_whole(testssl, json.dumps(report | members).encode())


def read_one(**members):
    report = read(make_entry(**members))
    assert report.rejects == ()
    (finding,) = report.findings
    return finding


@pytest.mark.parametrize(
    ("word", "severity"),
    [
        ("CRITICAL", Severity.CRITICAL),
        ("HIGH", Severity.HIGH),
        ("MEDIUM", Severity.MEDIUM),
        ("LOW", Severity.LOW),
    ],
)
def test_severity_is_testssls(word, severity):
    finding = read_one(severity=word)
    assert (finding.severity, finding.severity_raw, finding.kind) == (severity, word, "confirmed")


@pytest.mark.parametrize("word", ["WARN", "DEBUG", "FATAL"])
def test_what_could_not_be_tested_is_a_failed_check(word):
    report = read(make_entry(id="RC4", severity=word, finding="not supported here"))
    assert [check.error for check in report.coverage] == ["RC4: not supported here"]


def test_words_about_the_scanner_belong_to_the_server_and_are_no_failure():
    report = read(make_entry(id="engine_problem", ip="/", severity="WARN"), make_entry())
    assert [(check.location, check.error) for check in report.coverage] == [("shop.example.com:443", "")]


PROTOCOLS = {
    "SSLv2": "OK",
    "SSLv3": "OK",
    "TLS1": "INFO",
    "TLS1_1": "INFO",
    "TLS1_2": "MEDIUM",
    "TLS1_3": "LOW",
}


def without_tls(**members):
    """Return what testssl.sh 3.0.8 reports of a server that answers no handshake."""
    rows = [*PROTOCOLS.items(), ("cipher_order", "HIGH"), ("heartbleed", "OK"), ("optimal_proto", "WARN")]
    return [make_entry(id=name, severity=rating, finding="not offered", **members) for name, rating in rows]


def test_a_server_that_answers_no_handshake_is_a_failed_check_of_everything():
    report = read(make_entry(id="engine_problem", ip="/", severity="WARN"), *without_tls())
    assert report.findings == ()
    assert all(check.error for check in report.coverage)
    assert [check.rules for check in report.coverage][1:] == [()] * len(without_tls())
    assert report.coverage[1].error == "SSLv2: no TLS handshake succeeded"


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("TLS1_3", "offered"),
        ("SSLv2", "vulnerable with 3 ciphers"),
        ("TLS1_2", "not offered, and downgraded to SSL"),
    ],
)
def test_a_server_that_answers_one_handshake_has_its_findings(name, result):
    rows = [row | {"finding": result} if row["id"] == name else row for row in without_tls()]
    report = read(*rows)
    assert "cipher_order" in {finding.rule for finding in report.findings}
    assert not any(check.error for check in report.coverage)


def test_another_address_of_the_server_has_its_findings():
    other = make_entry(id="cipher_order", severity="HIGH", ip="shop.example.com/192.0.2.8")
    report = read(*without_tls(), other)
    assert [(finding.rule, "192.0.2.8" in finding.evidence) for finding in report.findings] == [
        ("cipher_order", True)
    ]


def test_finding_says_what_where_and_how_bad():
    finding = read_one(cve="CVE-2011-3389 CVE-2013-0169", cwe="CWE-20", hint="Switch it off.")
    assert (finding.identity, finding.rule, finding.location) == (("TLS1",), "TLS1", "shop.example.com:443")
    assert finding.title == "TLS 1.0: offered (deprecated)"
    assert (finding.cve, finding.cwe) == (("CVE-2011-3389", "CVE-2013-0169"), (20,))
    assert finding.remediation == "Switch it off."
    assert read_one().remediation == "Switch TLS 1.0 off; offer TLS 1.2 and TLS 1.3 only."
    assert read_one(id="of_a_later_version").remediation == ""
    assert finding.evidence == (
        "Check: TLS1\nIP address: 192.0.2.7\nServer: shop.example.com:443\n\nResult:\noffered (deprecated)"
    )


@pytest.mark.parametrize(
    ("members", "title"),
    [
        ({"id": "cert_chain_of_trust", "finding": "failed."}, "Certificate's chain of trust: failed"),
        ({"id": "of_a_later_version", "finding": "found"}, "of a later version: found"),
        ({"id": "security_headers", "finding": "--"}, "Security headers: none"),
        ({"id": "BEAST_CBC_TLS1", "finding": "SUITE " * 40}, "BEAST: CBC suites with TLS 1.0"),
        ({"id": "HSTS", "finding": ""}, "Strict Transport Security (HSTS)"),
    ],
)
def test_title_is_the_check_with_a_short_result(members, title):
    assert read_one(**members).title == title


@pytest.mark.parametrize("result", ["potentially vulnerable", "VULNERABLE (likely mitigated)"])
def test_careful_words_are_a_suspicion(result):
    assert read_one(finding=result).kind == "suspected"


def test_pretty_reads_as_flat_does():
    entry = {"id": "TLS1", "severity": "LOW", "finding": "offered (deprecated)"}
    report = read_pretty(entry)
    assert report.findings == read(make_entry()).findings
    assert report.version == "3.0.8"
    assert report.scanned_at == datetime(2026, 3, 1, 10, 1, tzinfo=UTC)


def test_problems_of_the_client_and_words_before_the_server_are_rows():
    problem = {"id": "engine_problem", "severity": "WARN", "finding": "No GOST"}
    server = {
        "id": "optimal_proto",
        "severity": "WARN",
        "finding": "Only by openssl",
        "targetHost": "a.example",
    }
    report = read_pretty(clientProblem1=[problem], scanResult=[server | {"port": "443", "protocols": []}])
    assert [check.location for check in report.coverage] == ["a.example:443"] * 2


@pytest.mark.parametrize(
    ("entries", "complete"),
    [
        ([*WHOLE, TIME], True),
        (WHOLE, None),
        ([*WHOLE[1:], TIME], None),
        ([*WHOLE, make_entry(id="scanTime", severity="WARN", finding="Scan interrupted")], False),
        ([*WHOLE, make_entry(id="scanProblem", severity="FATAL"), TIME], False),
    ],
)
def test_scan_that_ended_and_looked_at_everything_is_complete(entries, complete):
    assert read(*entries).complete is complete


def test_a_server_that_cannot_be_reached_is_a_failed_check_of_the_target_in_the_command_line():
    problem = {"id": "scanProblem", "severity": "FATAL", "finding": "Can't connect to '192.0.2.7:443'"}
    report = read_pretty(
        Invocation="testssl --quiet --ip 192.0.2.7 https://shop.example.com",
        scanResult=[problem],
        scanTime="Scan interrupted",
    )
    assert [(check.location, check.error) for check in report.coverage] == [
        ("https://shop.example.com", "scanProblem: Can't connect to '192.0.2.7:443'")
    ]
    assert (report.complete, report.rejects) == (False, ())


def test_interrupted_pretty_report_is_incomplete():
    entry = {"id": "TLS1", "severity": "LOW", "finding": "offered"}
    assert read_pretty(entry, scanTime="Scan interrupted").complete is False
    assert read_pretty(entry).complete is None


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (7, "is not a JSON object"),
        (make_entry(id=None), "has no id"),
        (make_entry(severity="AWFUL"), "has a severity that testssl.sh does not know"),
    ],
)
def test_broken_entry_is_rejected_and_loses_no_other(entry, reason):
    report = read(entry, make_entry())
    assert [(reject.row, reject.reason) for reject in report.rejects] == [(1, reason)]
    assert len(report.findings) == 1


def test_entries_of_no_server_are_rejected():
    assert [reject.reason for reject in read(make_entry(ip="/")).rejects] == ["names no server"]


@pytest.mark.parametrize("data", [b"{}", b"7", b"{"])
def test_other_document_is_refused(data):
    with pytest.raises(UnreadableReport):
        read_whole(testssl, data)


def test_json_that_testssl_broke_is_refused_with_its_way_out():
    rows = [json.dumps(make_entry(id=name)) for name in ("engine_problem", "TLS1")]
    flat = f"[{' '.join(rows)}]"
    pretty = f'{{"Invocation": "testssl.sh shop", "scanResult": ["clientProblem1": {flat}]}}'
    for data in (flat, pretty):
        with pytest.raises(UnreadableReport, match=r"testssl\.sh writes broken JSON .* `--csvfile "):
            read_report(io.BytesIO(data.encode()))


CSV_NAMES = '"id","fqdn/ip","port","severity","finding","cve","cwe","hint"\n'


def read_csv(*lines):
    return read_whole(testssl, (CSV_NAMES + "".join(line + "\n" for line in lines)).encode())


def test_a_whole_csv_is_complete_and_has_no_time():
    server = '"shop.example.com/192.0.2.7","443"'
    names = ("TLS1_2", "cipherlist_NULL", "cert_notAfter", "heartbleed")
    lines = [f'"{name}",{server},"OK","fine","","",""' for name in names]
    report = read_csv(*lines, f'"scanTime",{server},"INFO","60","","",""')
    assert (report.complete, report.scanned_at, report.rows) == (True, None, 5)


def test_a_csv_that_is_cut_off_loses_its_last_line_alone():
    report = read_csv(
        '"TLS1","shop.example.com/192.0.2.7","443","LOW","offered","","",""', '"TLS1_1","shop.exa'
    )
    assert [(reject.row, reject.reason) for reject in report.rejects] == [
        (2, "cannot be split into columns: unexpected end of data")
    ]
    assert len(report.findings) == 1
