"""Builders of small reports in every format.

A builder leaves out members that are None."""

import io
import json
from dataclasses import dataclass
from datetime import datetime

from dashboard_api.scanners.report import Check, Reject, ReportedFinding


def make_row(**members):
    """Return a Nuclei result; underscores in names become hyphens."""
    row = {
        "template-id": "exposed-panel",
        "info": {"name": "Exposed panel", "severity": "high"},
        "type": "http",
        "host": "https://shop.example.com",
        "matched-at": "https://shop.example.com/admin",
        "timestamp": "2026-03-01T10:00:00.123456789+02:00",
        "matcher-status": True,
    }
    row |= {name.replace("_", "-"): value for name, value in members.items()}
    return without_none(row)


def json_lines(*rows):
    """Return the rows as JSON lines; a row of bytes stays as it is."""
    return b"\n".join(row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows) + b"\n"


@dataclass(frozen=True, kw_only=True)
class WholeReport:
    """A report with all its rows, each in ``findings``, ``coverage`` or ``rejects``."""

    source: str
    source_name: str
    version: str
    rows: int
    findings: tuple
    coverage: tuple
    rejects: tuple
    complete: bool | None
    scanned_at: datetime | None


def whole(report):
    """Return a ScanReport with all its rows."""
    rows = list(report)
    return WholeReport(
        source=report.source,
        source_name=report.source_name,
        version=report.version,
        rows=report.rows,
        findings=tuple(row for row in rows if isinstance(row, ReportedFinding)),
        coverage=tuple(row for row in rows if isinstance(row, Check)),
        rejects=tuple(row for row in rows if isinstance(row, Reject)),
        complete=report.complete,
        scanned_at=report.scanned_at,
    )


def read_whole(reader, data):
    """Read ``data`` by the format's ``reader``, with all its rows."""
    return whole(reader.read(io.BytesIO(data)))


def make_zap_alert(**members):
    """Return an alert of ZAP's traditional JSON report with one instance."""
    instance = {
        "uri": "https://shop.example.com/a?q=1",
        "method": "GET",
        "param": "",
        "attack": "",
        "evidence": "default-src *",
        "otherinfo": "",
    }
    alert = {
        "pluginid": "10055",
        "alertRef": "10055-4",
        "alert": "CSP: Wildcard Directive",
        "name": "CSP: Wildcard Directive",
        "riskcode": "2",
        "confidence": "3",
        "riskdesc": "Medium (High)",
        "desc": "<p>A policy that allows everything.</p>",
        "instances": [instance],
        "count": "1",
        "solution": "<p>Name the sources.</p>",
        "otherinfo": "",
        "reference": "<p>https://www.w3.org/TR/CSP/</p>",
        "cweid": "693",
        "wascid": "15",
    }
    return without_none(alert | members)


def make_zap_report(*alerts, **members):
    """Return ZAP's traditional JSON report of one site."""
    report = {
        "@programName": "ZAP",
        "@version": "2.16.1",
        "@generated": "Sun, 1 Mar 2026 10:00:00",
        "created": "2026-03-01T10:00:00.123456789Z",
        "site": [
            {
                "@name": "https://shop.example.com",
                "@host": "shop.example.com",
                "@port": "443",
                "@ssl": "true",
                "alerts": list(alerts),
            }
        ],
    }
    return report | members


def without_none(members):
    return {name: value for name, value in members.items() if value is not None}


def make_result(**members):
    """Return a SARIF result of the rule that make_sarif defines."""
    result = {
        "ruleId": "open-redirect",
        "level": "error",
        "message": {"text": "The address is not checked. Anyone may choose it."},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "https://shop.example.com/go?to=x"},
                    "region": {"startLine": 7, "snippet": {"text": "Location: x"}},
                }
            }
        ],
    }
    return without_none(result | members)


def make_sarif(*results, rule=None, **members):
    """Return a SARIF file of one run with ``members``; ``rule`` are further properties of its rule."""
    definition = {"id": "open-redirect", "shortDescription": {"text": "Open redirect"}} | (rule or {})
    driver = {"name": "Code Scanner", "semanticVersion": "2.1.0", "rules": [definition]}
    run = {"tool": {"driver": driver}, "results": list(results)} | members
    return {"version": "2.1.0", "runs": [run]}


def make_tools(*tools, **members):
    """Return a SARIF file with a run with ``members`` for each pair of a tool's name and its results."""
    runs = [
        make_sarif(*results, tool={"driver": {"name": name}}, **members)["runs"][0] for name, results in tools
    ]
    return {"version": "2.1.0", "runs": runs}


def make_entry(**members):
    """Return an entry of testssl.sh's flat JSON."""
    entry = {"id": "TLS1", "ip": "shop.example.com/192.0.2.7", "port": "443", "severity": "LOW"}
    return without_none(entry | {"finding": "offered (deprecated)"} | members)


def make_wapiti(*entries, category="Open Redirect", group="vulnerabilities", **infos):
    """Return Wapiti's JSON report with ``entries`` of one category."""
    about = {
        "desc": "Visitors may be sent elsewhere.",
        "sol": "Check the address.",
        "ref": {"CWE-601: Open Redirect": "https://cwe.mitre.org/data/definitions/601.html"},
        "wstg": ["WSTG-CLNT-04"],
    }
    infos = {
        "target": "https://shop.example.com/",
        "date": "Sun, 01 Mar 2026 10:00:00 +0000",
        "version": "Wapiti 3.2.3",
    } | infos
    groups = {name: {} for name in ("vulnerabilities", "anomalies", "additionals")}
    groups[group] = {category: list(entries), "Log4Shell": []}
    return {"classifications": {category: about}} | groups | {"infos": infos}


def make_wapiti_entry(**members):
    entry = {
        "method": "GET",
        "path": "/go",
        "info": "Open Redirect via injection in the parameter to",
        "level": 1,
        "parameter": "to",
        "referer": "",
        "module": "redirect",
        "http_request": "GET /go?to=x HTTP/1.1\nCookie: id=s3cr3t",
        "curl_command": 'curl "https://shop.example.com/go?to=x" -b "id=s3cr3t"',
        "wstg": ["WSTG-CLNT-04"],
    }
    return without_none(entry | members)


def make_nikto(*items, **members):
    """Return Nikto's JSON report of one host."""
    host = {"host": "shop.example.com", "ip": "192.0.2.7", "port": "443", "banner": "nginx"}
    return [host | {"vulnerabilities": list(items)} | members]


def make_item(**members):
    item = {
        "id": "740001",
        "method": "HEAD",
        "url": "/dump.tar",
        "msg": "Potentially interesting backup found.",
    }
    return without_none(item | members)


def make_observatory(**tests):
    """Return the Observatory's JSON report; underscores in names of tests become hyphens."""
    tests = {name.replace("_", "-"): test for name, test in tests.items()}
    scan = {"algorithmVersion": 4, "grade": "B", "testsQuantity": len(tests)}
    return {"scan": scan, "tests": tests}


def make_test(**members):
    """Return a failed test of the Observatory."""
    test = {"expectation": "csp-implemented-with-no-unsafe", "result": "csp-not-implemented"}
    return test | {"pass": False, "scoreModifier": -25, "data": None} | members


def make_sslyze(host="shop.example.com", **results):
    """Return SSLyze's JSON report of one server with ``results`` of completed scan commands."""
    server = {
        "server_location": {"hostname": host, "port": 443, "ip_address": "192.0.2.7"},
        "connectivity_status": "COMPLETED",
        "connectivity_error_trace": None,
        "scan_status": "COMPLETED",
        "scan_result": {
            name: {"status": "COMPLETED", "error_reason": None, "error_trace": None, "result": result}
            for name, result in results.items()
        },
    }
    return {
        "invalid_server_strings": [],
        "server_scan_results": [server],
        "date_scans_started": "2026-03-01T09:59:00Z",
        "date_scans_completed": "2026-03-01T10:00:00Z",
        "sslyze_version": "6.3.1",
    }


def suites(*names):
    """Return SSLyze's result for a protocol with these accepted suites."""
    accepted = [{"cipher_suite": {"name": name}, "ephemeral_key": None} for name in names]
    return {"is_tls_version_supported": bool(names), "accepted_cipher_suites": accepted}


SCAN = {"scan": "findings/1", "source": "port-watch", "name": "Port Watch", "version": "2.1"}


def make_finding_line(**members):
    """Return a finding of our own JSON lines."""
    line = {
        "finding": "open-port",
        "title": "A port is open to everybody",
        "severity": "medium",
        "location": "https://shop.example.com:8443/",
        "evidence": "8443/tcp open",
    }
    return without_none(line | members)


SAMPLES = {
    "nuclei": json_lines(make_row(), make_row(template_id="tls-version", matcher_status=False)),
    "zap": json.dumps(
        make_zap_report(make_zap_alert(), make_zap_alert(alertRef="10055-5", confidence="0"))
    ).encode(),
    "sarif": json.dumps(make_sarif(make_result(), make_result(ruleId="other", kind="pass"))).encode(),
    "wapiti": json.dumps(make_wapiti(make_wapiti_entry(), make_wapiti_entry(path="/out"))).encode(),
    "testssl": json.dumps([make_entry(), make_entry(id="TLS1_2", severity="OK", finding="offered")]).encode(),
    "sslyze": json.dumps(
        make_sslyze(tls_1_0_cipher_suites=suites("TLS_A"), tls_compression={"supports_compression": False})
    ).encode(),
    "observatory": json.dumps(
        make_observatory(content_security_policy=make_test(), cookies={"pass": True})
    ).encode(),
    "nikto": json.dumps(make_nikto(make_item(), make_item(url="/dump.zip"))).encode(),
    "findings": json_lines(
        SCAN, make_finding_line(), {"checked": "https://shop.example.com/"}, {"complete": True}
    ),
}
