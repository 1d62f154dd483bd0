"""Reports of our own making: the same findings, told as the scanner of each format tells them."""

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
# What sslyze may say of one server: each is a problem.
_COMMANDS: Mapping[str, object] = {
    "tls_1_0_cipher_suites": _SUITES,
    "tls_1_1_cipher_suites": _SUITES,
    "tls_1_2_cipher_suites": _SUITES,
    "tls_compression": {"supports_compression": True},
    "tls_fallback_scsv": {"supports_fallback_scsv": False},
}


def findings() -> Iterator[Row]:
    """Without end: each of a rule of its own."""
    number = 0
    while True:
        for row in rows.rows(0.05, now=datetime.now(UTC)):
            number += 1
            yield replace(row, rule=f"{row.rule}-{number}")


def on(host: str, row: Row) -> Row:
    """The same finding, on another website."""
    return replace(row, location=f"https://{host}{urlsplit(row.location).path}")


def finding_lines(found: Iterable[Row]) -> Iterator[bytes]:
    """Our own JSON lines, one after the other."""
    yield _line({"scan": "findings/1", "source": "port-watch", "name": "Port Watch"})
    for row in found:
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


def _findings(found: Sequence[Row]) -> bytes:
    return b"".join(finding_lines(found))


def _nuclei(found: Sequence[Row]) -> bytes:
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
        for row in found
    )


def _zap(found: Sequence[Row]) -> bytes:
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
        for row in found
    ]
    return _line({"@programName": "ZAP", "site": [{"@name": _site(found), "alerts": alerts}]})


def _sarif(found: Sequence[Row]) -> bytes:
    known = [{"id": row.rule, "shortDescription": {"text": row.title}} for row in found]
    results = [
        {
            "ruleId": row.rule,
            "ruleIndex": index,
            "level": _LEVELS[row.severity],
            "message": {"text": row.description},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": row.location}}}],
        }
        for index, row in enumerate(found)
    ]
    run = {"tool": {"driver": {"name": "Code Scanner", "rules": known}}, "results": results}
    return _line({"version": "2.1.0", "runs": [run]})


def _wapiti(found: Sequence[Row]) -> bytes:
    about = {row.rule: {"desc": row.description, "sol": row.remediation, "ref": {}} for row in found}
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
        for row in found[1:]  # the target is a row, too
    }
    target = {"target": f"{_site(found)}/"}
    return _line({"classifications": about, "vulnerabilities": entries, "infos": target})


def _testssl(found: Sequence[Row]) -> bytes:
    return _line(
        [
            {
                "id": row.rule,
                "ip": f"{urlsplit(row.location).hostname}/192.0.2.7",
                "port": "443",
                "severity": _WORDS[max(row.severity, 1)].upper(),
                "finding": row.title,
            }
            for row in found
        ]
    )


def _sslyze(found: Sequence[Row]) -> bytes:
    servers = [
        {
            "server_location": {
                "hostname": f"server{start}.{urlsplit(found[start].location).hostname}",
                "port": 443,
                "ip_address": "192.0.2.7",
            },
            "scan_result": {
                name: {"status": "COMPLETED", "result": result}
                for (name, result), _ in zip(
                    _COMMANDS.items(), found[start : start + len(_COMMANDS)], strict=False
                )
            },
        }
        for start in range(0, len(found), len(_COMMANDS))
    ]
    return _line({"sslyze_version": "6.3.1", "server_scan_results": servers})


def _observatory(found: Sequence[Row]) -> bytes:
    tests: dict[str, dict[str, object]] = {
        row.rule: {"result": row.title, "pass": False, "scoreModifier": -10 * row.severity}
        for row in found[1:]
    }
    where = {
        "redirection": {
            "result": "redirection-missing",
            "pass": False,
            "scoreModifier": -20,
            "route": [_site(found)],
        }
    }
    return _line({"scan": {"algorithmVersion": 4, "testsQuantity": len(found)}, "tests": where | tests})


def _nikto(found: Sequence[Row]) -> bytes:
    items = [
        {"id": row.rule, "method": "GET", "url": urlsplit(row.location).path, "msg": row.title}
        for row in found
    ]
    host = urlsplit(_site(found)).hostname
    return _line([{"host": host, "port": "443", "banner": "nginx", "vulnerabilities": items}])


def _site(found: Sequence[Row]) -> str:
    return f"https://{urlsplit(found[0].location).hostname}"


def _request(row: Row) -> str:
    place = urlsplit(row.location)
    return f"GET {place.path} HTTP/1.1\r\nHost: {place.hostname}\r\nCookie: id=0123456789abcdef\r\n\r\n"


def _line(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


# By the format's name, as dashboard_api.scanners.READERS has it; as many rows as findings.
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
