"""Generated reports: the same findings in each scanner's format."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import urlsplit
from xml.sax.saxutils import escape, quoteattr

from benchmarks import dataset
from benchmarks.dataset import Row

_WORDS = ("info", "low", "medium", "high", "critical")
_LEVELS = ("none", "note", "warning", "error", "error")
_SUITES = {"accepted_cipher_suites": [{"cipher_suite": {"name": "TLS_RSA_WITH_3DES_EDE_CBC_SHA"}}]}
# Results of sslyze about one server; each is a finding.
_COMMANDS: Mapping[str, object] = {
    "tls_1_0_cipher_suites": _SUITES,
    "tls_1_1_cipher_suites": _SUITES,
    "tls_1_2_cipher_suites": _SUITES,
    "tls_compression": {"supports_compression": True},
    "tls_fallback_scsv": {"supports_fallback_scsv": False},
}


def findings() -> Iterator[Row]:
    """Yield findings without end, each with its own rule."""
    number = 0
    while True:
        for row in dataset.rows(0.05, now=datetime.now(UTC)):
            number += 1
            yield replace(row, rule=f"{row.rule}-{number}")


def move_to(host: str, row: Row) -> Row:
    """Return the finding as one of another website."""
    return replace(row, location=f"https://{host}{urlsplit(row.location).path}")


def finding_lines(findings: Iterable[Row]) -> Iterator[bytes]:
    """Yield the lines of a report in the project's own format, JSON lines."""
    yield _line({"scan": "findings/1", "source": "port-watch", "name": "Port Watch"})
    for row in findings:
        yield _line(
            {
                "finding": row.rule,
                "matcher": row.fingerprint,
                "title": row.title,
                "severity": _WORDS[row.severity],
                "location": row.location,
                "description": row.description,
                "evidence": "8443/tcp open",
            }
        )


def _findings(findings: Sequence[Row]) -> bytes:
    return b"".join(finding_lines(findings))


def _nuclei(findings: Sequence[Row]) -> bytes:
    return b"".join(
        _line(
            {
                "template-id": row.rule,
                "info": {
                    "name": row.title,
                    "severity": _WORDS[row.severity],
                    "description": row.description,
                    "remediation": row.remediation,
                },
                "type": "http",
                "matched-at": row.location,
                "request": _request(row),
                "timestamp": row.last_seen.isoformat(),
                "matcher-status": True,
            }
        )
        for row in findings
    )


def _zap(findings: Sequence[Row]) -> bytes:
    alerts = [
        {
            "pluginid": "10055",
            "alertRef": row.rule,
            "name": row.title,
            "riskcode": str(min(row.severity, 3)),
            "confidence": "3",
            "desc": f"<p>{row.description}</p>",
            "solution": f"<p>{row.remediation}</p>",
            "instances": [{"uri": row.location, "method": "GET", "request-header": _request(row)}],
        }
        for row in findings
    ]
    return _line({"@programName": "ZAP", "site": [{"@name": _site(findings), "alerts": alerts}]})


def _sarif(findings: Sequence[Row]) -> bytes:
    rules = [{"id": row.rule, "shortDescription": {"text": row.title}} for row in findings]
    results = [
        {
            "ruleId": row.rule,
            "ruleIndex": index,
            "level": _LEVELS[row.severity],
            "message": {"text": row.description},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": row.location}}}],
        }
        for index, row in enumerate(findings)
    ]
    run = {"tool": {"driver": {"name": "Code Scanner", "rules": rules}}, "results": results}
    return _line({"version": "2.1.0", "runs": [run]})


def _wapiti(findings: Sequence[Row]) -> bytes:
    about = {row.rule: {"desc": row.description, "sol": row.remediation, "ref": {}} for row in findings}
    entries = {
        row.rule: [
            {
                "method": "GET",
                "path": urlsplit(row.location).path,
                "info": row.title,
                "level": row.severity,
                "http_request": _request(row),
            }
        ]
        for row in findings[1:]  # the target is the first row
    }
    target = {"target": f"{_site(findings)}/"}
    return _line({"classifications": about, "vulnerabilities": entries, "infos": target})


def _testssl(findings: Sequence[Row]) -> bytes:
    return _line(
        [
            {
                "id": row.rule,
                "ip": f"{urlsplit(row.location).hostname}/192.0.2.7",
                "port": "443",
                "severity": _WORDS[max(row.severity, 1)].upper(),
                "finding": row.title,
            }
            for row in findings
        ]
    )


def _sslyze(findings: Sequence[Row]) -> bytes:
    servers = [
        {
            "server_location": {
                "hostname": f"server{start}.{urlsplit(findings[start].location).hostname}",
                "port": 443,
                "ip_address": "192.0.2.7",
            },
            "scan_result": {
                name: {"status": "COMPLETED", "result": result}
                for (name, result), _ in zip(
                    _COMMANDS.items(), findings[start : start + len(_COMMANDS)], strict=False
                )
            },
        }
        for start in range(0, len(findings), len(_COMMANDS))
    ]
    return _line({"sslyze_version": "6.3.1", "server_scan_results": servers})


def _observatory(findings: Sequence[Row]) -> bytes:
    tests: dict[str, dict[str, object]] = {
        row.rule: {"result": row.title, "pass": False, "scoreModifier": -10 * row.severity}
        for row in findings[1:]
    }
    target_test = {
        "redirection": {
            "result": "redirection-missing",
            "pass": False,
            "scoreModifier": -20,
            "route": [_site(findings)],
        }
    }
    return _line(
        {"scan": {"algorithmVersion": 4, "testsQuantity": len(findings)}, "tests": target_test | tests}
    )


def _nikto(findings: Sequence[Row]) -> bytes:
    items = [
        {"id": row.rule, "method": "GET", "url": urlsplit(row.location).path, "msg": row.title}
        for row in findings
    ]
    host = urlsplit(_site(findings)).hostname
    return _line([{"host": host, "port": "443", "banner": "nginx", "vulnerabilities": items}])


def _nessus(findings: Sequence[Row]) -> bytes:
    items = "".join(
        f'<ReportItem port="443" severity="{row.severity}" pluginID={quoteattr(row.rule)} '
        f"pluginName={quoteattr(row.title)}><description>{escape(row.description)}</description></ReportItem>\n"
        for row in findings[1:]  # the host is the first row
    )
    host = urlsplit(_site(findings)).hostname
    report = f'<Report><ReportHost name="{host}">{items}</ReportHost></Report>'
    return f"<NessusClientData_v2>{report}</NessusClientData_v2>".encode()


def _acunetix(findings: Sequence[Row]) -> bytes:
    items = [
        {"Name": row.rule, "Severity": _WORDS[row.severity], "Affects": urlsplit(row.location).path}
        | {"Description": row.description, "Recommendation": row.remediation}
        for row in findings[1:]  # the scan is the first row
    ]
    start = f"<StartURL>{_site(findings)}/</StartURL>"
    return f"<ScanGroup><Scan>{start}{_elements('ReportItem', items)}</Scan></ScanGroup>".encode()


def _invicti(findings: Sequence[Row]) -> bytes:
    rows = [
        {"Url": row.location, "Type": row.rule, "Name": row.title, "Severity": _WORDS[row.severity]}
        | {"Description": row.description, "HttpRequest": {"Content": _request(row)}}
        for row in findings[1:]  # the target is the first row
    ]
    target = {"Url": f"{_site(findings)}/"}
    return _line({"Generated": "", "Target": target, "Vulnerabilities": rows})


def _qualys(findings: Sequence[Row]) -> bytes:
    rows = _elements("VULNERABILITY", [{"QID": row.rule, "URL": row.location} for row in findings])
    texts = [
        {"QID": row.rule, "TITLE": row.title, "SEVERITY": str(row.severity + 1)}
        | {"DESCRIPTION": row.description, "SOLUTION": row.remediation}
        for row in findings
    ]
    results = f"<RESULTS><VULNERABILITY_LIST>{rows}</VULNERABILITY_LIST></RESULTS>"
    glossary = f"<GLOSSARY><QID_LIST>{_elements('QID', texts)}</QID_LIST></GLOSSARY>"
    return f"<WAS_SCAN_REPORT>{results}{glossary}</WAS_SCAN_REPORT>".encode()


def _greenbone(findings: Sequence[Row]) -> bytes:
    host = urlsplit(_site(findings)).hostname
    results = "".join(
        f"<result><host>{host}</host><name>{escape(row.title)}</name><port>443/tcp</port>"
        f"<nvt oid={quoteattr(row.rule)}><tags>summary={escape(row.description)}</tags></nvt>"
        f"<severity>{2.4 * row.severity}</severity></result>"
        for row in findings
    )
    return f'<report id="1" extension="xml"><results>{results}</results></report>'.encode()


def _nmap(findings: Sequence[Row]) -> bytes:
    ports = "".join(
        f'<port protocol="tcp" portid="{20_000 + index}"><state state="open"/></port>\n'
        for index, _ in enumerate(findings[1:])  # the host is the first row
    )
    name = f'<hostname name="{urlsplit(_site(findings)).hostname}" type="user"/>'
    host = f"<host><hostnames>{name}</hostnames><ports>{ports}</ports></host>"
    return f"<nmaprun>{host}</nmaprun>".encode()


def _wpscan(findings: Sequence[Row]) -> bytes:
    vulnerabilities = [
        {
            "title": row.title,
            "references": {"wpvulndb": [row.rule]},
            "cvss": {"score": str(2.4 * row.severity)},
        }
        for row in findings[1:]  # the target is the first row
    ]
    return _line(
        {
            "interesting_findings": [],
            "target_url": f"{_site(findings)}/",
            "version": {"number": "6.4.1", "vulnerabilities": vulnerabilities},
        }
    )


def _csv(findings: Sequence[Row]) -> bytes:
    target = io.StringIO()
    writer = csv.writer(target)
    writer.writerow(["finding", "title", "severity", "location", "description", "remediation"])
    for row in findings:
        texts = [row.title, _WORDS[row.severity], row.location, row.description, row.remediation]
        writer.writerow([row.rule, *texts])
    return target.getvalue().encode()


def _burp(findings: Sequence[Row]) -> bytes:
    names = ("Information", "Low", "Medium", "High", "High")
    issues = [
        {
            "type": row.rule,
            "name": row.title,
            "host": _site(findings),
            "path": urlsplit(row.location).path,
            "severity": names[row.severity],
            "confidence": "Certain",
            "issueBackground": row.description,
            "remediationBackground": row.remediation,
        }
        for row in findings
    ]
    return _xml("issues", ' burpVersion="2025.1"', "issue", issues)


def _xml(root: str, attributes: str, name: str, rows: Iterable[Mapping[str, str]]) -> bytes:
    """Return a document with an element ``name`` for each row."""
    return f'<?xml version="1.0"?>\n<{root}{attributes}>\n{_elements(name, rows)}</{root}>'.encode()


def _elements(name: str, rows: Iterable[Mapping[str, str]]) -> str:
    """Return an element ``name`` for each row, and one in it for each member."""
    lines = ("".join(f"<{key}>{escape(text)}</{key}>" for key, text in row.items()) for row in rows)
    return "".join(f"<{name}>{line}</{name}>\n" for line in lines)


def _site(findings: Sequence[Row]) -> str:
    return f"https://{urlsplit(findings[0].location).hostname}"


def _request(row: Row) -> str:
    url = urlsplit(row.location)
    return f"GET {url.path} HTTP/1.1\r\nHost: {url.hostname}\r\nCookie: id=0123456789abcdef\r\n\r\n"


def _line(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


# By format, with the names of dashboard_api.scanners.READERS; a report has one row for each finding.
REPORTS: Mapping[str, Callable[[Sequence[Row]], bytes]] = {
    "findings": _findings,
    "csv": _csv,
    "acunetix": _acunetix,
    "invicti": _invicti,
    "qualys-was": _qualys,
    "greenbone": _greenbone,
    "nmap": _nmap,
    "wpscan": _wpscan,
    "nessus": _nessus,
    "burp": _burp,
    "nuclei": _nuclei,
    "zap": _zap,
    "sarif": _sarif,
    "wapiti": _wapiti,
    "testssl": _testssl,
    "sslyze": _sslyze,
    "observatory": _observatory,
    "nikto": _nikto,
}
