"""Nuclei: JSON lines (-jsonl), a JSON array (-json-export), or one result by itself.

Keys are those of ``ResultEvent`` in projectdiscovery/nuclei ``pkg/output/output.go``, with the older
spellings ``templateID``, ``matched``, ``matcher_name`` and ``extracted_results``. The format cannot
tell whether a scan was complete.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from dashboard_api.scanners.json_rows import Row, read_rows
from dashboard_api.scanners.redaction import redact_command
from dashboard_api.scanners.report import BadRow, Check, Reject, ReportedFinding, ScanReport, Severity
from dashboard_api.scanners.text import clean, one_line

_SEVERITIES = {
    "critical": Severity.CRITICAL,
    "high": Severity.HIGH,
    "medium": Severity.MEDIUM,
    "low": Severity.LOW,
    "info": Severity.INFO,
}
_RULE_KEY = re.compile(rb'"template(?:-id|ID)"\s*:')
_CWE = re.compile(r"(?<!\d)0*([1-9]\d{0,5})(?!\d)", re.ASCII)
_CVE = re.compile(r"CVE-\d{4}-\d{4,19}", re.ASCII)


def recognises(data: bytes) -> bool:
    """Whether ``data`` looks like Nuclei's: an empty file is how it says that it found nothing."""
    return data.strip() in (b"", b"[]") or _RULE_KEY.search(data) is not None


def read(data: bytes) -> ScanReport:
    """The report in ``data``; raises UnreadableReport."""
    findings: list[ReportedFinding] = []
    coverage: list[Check] = []
    rejects: list[Reject] = []
    for number, row in read_rows(data):
        try:
            told = _told(number, row)
        except BadRow as error:
            rejects.append(Reject(row=number, reason=str(error)))
        else:
            if isinstance(told, Check):
                coverage.append(told)
            else:
                findings.append(told)
    times = [finding.seen_at for finding in findings] + [check.seen_at for check in coverage]
    return ScanReport(
        source="nuclei",
        source_name="Nuclei",
        rows=len(findings) + len(coverage) + len(rejects),
        findings=tuple(findings),
        coverage=tuple(coverage),
        rejects=tuple(rejects),
        scanned_at=max((time for time in times if time), default=None),
    )


def _told(number: int, row: Row | BadRow) -> ReportedFinding | Check:
    if isinstance(row, BadRow):
        raise row
    rule = _line(row, "template-id", "templateID")
    location = _location(row)
    matched = row.get("matcher-status")
    if not rule:
        raise BadRow("has no template-id")
    if not location:
        raise BadRow("names no place: matched-at, url and host are all missing")
    if not isinstance(matched, bool | None):
        raise BadRow("has a matcher-status that is neither true nor false")
    error = _line(row, "error")
    if error or matched is False:
        return Check(row=number, location=location, seen_at=_time(row), error=error[:200])
    return _finding(number, row, rule=rule, location=location)


def _finding(number: int, row: Row, *, rule: str, location: str) -> ReportedFinding:
    info = _object(row, "info")
    classification = _object(info, "classification")
    matcher = _line(row, "matcher-name", "matcher_name", "extractor-name", "extractor_name")
    severity_raw = _line(info, "severity")
    severity = _SEVERITIES.get(severity_raw.lower(), Severity.INFO)
    name = _line(info, "name") or rule
    return ReportedFinding.cleaned(
        row=number,
        identity=(rule, matcher),
        rule=rule,
        severity=severity,
        severity_raw=severity_raw,
        kind="informational" if severity is Severity.INFO else "confirmed",
        title=f"{name} [{matcher}]" if matcher else name,
        description="\n\n".join(_description(info, classification)),
        remediation=_text(info.get("remediation")),
        references=[*_texts(info.get("reference")), *_texts(row.get("template-url"))],
        cwe=[int(digits) for text in _texts(classification.get("cwe-id")) for digits in _CWE.findall(text)],
        cve=[cve for text in _texts(classification.get("cve-id")) for cve in _CVE.findall(text.upper())],
        location=location,
        evidence="\n\n".join(_evidence(row, location)),
        seen_at=_time(row),
    )


def _location(row: Row) -> str:
    place = _line(row, "matched-at", "matched", "url")
    if place:
        return place
    host, port, path = _line(row, "host"), _line(row, "port"), _line(row, "path")
    if "://" in host:
        return host.rstrip("/") + path
    if port and host and not host.endswith(f":{port}"):
        host = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    scheme = _line(row, "scheme")
    return f"{scheme}://{host}{path}" if scheme and host else host and host + path


def _description(info: Row, classification: Row) -> Iterator[str]:
    if description := _text(info.get("description")):
        yield description
    if impact := _text(info.get("impact")):
        yield f"Impact: {impact}"
    yield from _named(
        {
            "CVSS score": _line(classification, "cvss-score"),
            "CVSS vector": _line(classification, "cvss-metrics"),
            "EPSS score": _line(classification, "epss-score"),
            "EPSS percentile": _line(classification, "epss-percentile"),
            "CPE": _line(classification, "cpe"),
        }
    )


def _evidence(row: Row, location: str) -> Iterator[str]:
    """The short parts first: what is cut at the limit is a long response."""
    circumstances = {
        "Matched at": location if "?" in location or "#" in location else "",
        "Matched lines": ", ".join(_texts(row.get("matched-line"))),
        "Protocol": _line(row, "type"),
        "IP address": _line(row, "ip"),
    }
    yield from _named(circumstances)
    extracted = row.get("extracted-results") or row.get("extracted_results")
    yield from _section("Extracted", "\n".join(_texts(extracted)))
    yield from _section("Command", redact_command(clean(_text(row.get("curl-command")))))
    yield from _section("Request", _text(row.get("request")))
    interaction = _object(row, "interaction")
    yield from _named(
        {
            "Interaction": _line(interaction, "protocol"),
            "Interaction's name": _line(interaction, "full-id"),
            "Interaction's address": _line(interaction, "remote-address"),
        }
    )
    yield from _section("Interaction's request", _text(interaction.get("raw-request")))
    yield from _section("Interaction's response", _text(interaction.get("raw-response")))
    yield from _section("Response", _text(row.get("response")))


def _named(values: dict[str, str]) -> Iterator[str]:
    if any(values.values()):
        yield "\n".join(f"{name}: {value}" for name, value in values.items() if value)


def _section(name: str, text: str) -> Iterator[str]:
    if text.strip():
        yield f"{name}:\n{text.strip()}"


def _object(parent: Row, key: str) -> Row:
    value = parent.get(key)
    return value if isinstance(value, dict) else {}


def _line(parent: Row, *keys: str) -> str:
    """The first of the keys that has a text, on one line."""
    return next((line for key in keys if (line := one_line(_text(parent.get(key))))), "")


def _texts(value: object) -> list[str]:
    """The texts of a member that is null, one text, or a list of them."""
    values = value if isinstance(value, list) else [value]
    return [text for item in values if (text := _text(item))]


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _time(row: Row) -> datetime | None:
    """When the row was written; none where Nuclei wrote no time, or Go's zero time of the year 1."""
    try:
        time = datetime.fromisoformat(_line(row, "timestamp"))
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return time if time.year > 1 else None
