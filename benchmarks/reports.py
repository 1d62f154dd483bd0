"""Generated reports: the same findings in each scanner's format."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import urlsplit

from benchmarks import rows
from benchmarks.rows import Row

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
        for row in rows.rows(0.05, now=datetime.now(UTC)):
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
        for row in findings[1:]  # the target is a row, too
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
    "nuclei": _nuclei,
    "zap": _zap,
    "sarif": _sarif,
    "wapiti": _wapiti,
    "testssl": _testssl,
    "sslyze": _sslyze,
    "observatory": _observatory,
    "nikto": _nikto,
}
