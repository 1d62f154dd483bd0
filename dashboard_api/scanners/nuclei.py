"""Reader of Nuclei's JSON lines (-jsonl), JSON array (-json-export) and single result.

Source: ``ResultEvent`` in projectdiscovery/nuclei ``pkg/output/output.go``; older versions wrote
``templateID``, ``matched``, ``matcher_name`` and ``extracted_results``. The format does not say whether a
scan was complete.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

from dashboard_api.scanners.json_rows import read_rows
from dashboard_api.scanners.members import (
    JsonObject,
    known_time_at,
    line_at,
    object_at,
    text_of,
    texts_of,
    time_at,
)
from dashboard_api.scanners.redaction import redact_command
from dashboard_api.scanners.report import (
    SEVERITIES,
    BadRow,
    Check,
    ReportedFinding,
    ScanReport,
    Severity,
    convert_rows,
)
from dashboard_api.scanners.text import clean, cves_in, host_and_port, labelled_lines, numbers_in, section

HEAD_PATTERN = re.compile(rb'"template(?:-id|ID)"\s*:')
_MIXED = {"http-missing-security-headers"}  # each matcher of these templates is a problem of its own


def read(stream: BinaryIO) -> ScanReport:
    """Return the report in ``stream``."""
    return ScanReport(
        source="nuclei",
        source_name="Nuclei",
        hosts_are_names=True,  # DNS templates name only the host
        entries=convert_rows(read_rows(stream), _convert, time_of=lambda row: time_at(row, "timestamp")),
    )


def _convert(number: int, row: JsonObject) -> ReportedFinding | Check:
    rule = line_at(row, "template-id", "templateID")
    location = _location(row)
    has_matched = row.get("matcher-status")
    if not rule:
        raise BadRow("has no template-id")
    if not location:
        raise BadRow("names no location: matched-at, url and host are all missing")
    if not isinstance(has_matched, bool | None):
        raise BadRow("has a matcher-status that is neither true nor false")
    error = line_at(row, "error")
    if error or has_matched is False:
        return Check(
            row=number, location=location, seen_at=known_time_at(row, "timestamp"), error=error[:200]
        )
    return _finding(number, row, rule=rule, location=location)


def _finding(number: int, row: JsonObject, *, rule: str, location: str) -> ReportedFinding:
    info = object_at(row, "info")
    classification = object_at(info, "classification")
    matcher = line_at(row, "matcher-name", "matcher_name", "extractor-name", "extractor_name")
    severity_raw = line_at(info, "severity")
    severity = SEVERITIES.get(severity_raw.lower(), Severity.INFO)
    name = line_at(info, "name") or rule
    return ReportedFinding(
        row=number,
        identity=(rule, matcher),
        rule=f"{rule}/{matcher}" if matcher and rule in _MIXED else rule,
        severity=severity,
        severity_raw=severity_raw,
        kind="informational" if severity is Severity.INFO else "confirmed",
        title=f"{name} [{matcher}]" if matcher else name,
        description="\n\n".join(_description(info, classification)),
        remediation=text_of(info.get("remediation")),
        references=[*texts_of(info.get("reference")), *texts_of(row.get("template-url"))],
        cwe=numbers_in(texts_of(classification.get("cwe-id"))),
        cve=cves_in(texts_of(classification.get("cve-id"))),
        location=location,
        evidence="\n\n".join(_evidence(row, location)),
        seen_at=known_time_at(row, "timestamp"),
    )


def _location(row: JsonObject) -> str:
    if address := line_at(row, "matched-at", "matched", "url"):
        return address
    host, port, path = line_at(row, "host"), line_at(row, "port"), line_at(row, "path")
    if "://" in host:
        return host.rstrip("/") + path
    if port and host and not host.endswith(f":{port}"):
        host = host_and_port(host, port)
    scheme = line_at(row, "scheme")
    if not host:
        return ""
    return f"{scheme}://{host}{path}" if scheme else host + path


def _description(info: JsonObject, classification: JsonObject) -> Iterator[str]:
    if description := text_of(info.get("description")):
        yield description
    if impact := text_of(info.get("impact")):
        yield f"Impact: {impact}"
    yield from labelled_lines(
        {
            "CVSS score": line_at(classification, "cvss-score"),
            "CVSS vector": line_at(classification, "cvss-metrics"),
            "EPSS score": line_at(classification, "epss-score"),
            "EPSS percentile": line_at(classification, "epss-percentile"),
            "CPE": line_at(classification, "cpe"),
        }
    )


def _evidence(row: JsonObject, location: str) -> Iterator[str]:
    """Yield the short parts first, so that the length limit cuts only a long response."""
    yield from labelled_lines(
        {
            # The import removes query and fragment from the location.
            "Matched at": location if "?" in location or "#" in location else "",
            "Matched lines": ", ".join(texts_of(row.get("matched-line"))),
            "Protocol": line_at(row, "type"),
            "IP address": line_at(row, "ip"),
        }
    )
    extracted = row.get("extracted-results") or row.get("extracted_results")
    yield from section("Extracted", "\n".join(texts_of(extracted)))
    yield from section("Command", redact_command(clean(text_of(row.get("curl-command")))))
    yield from section("Request", text_of(row.get("request")))
    interaction = object_at(row, "interaction")
    yield from labelled_lines(
        {
            "Interaction": line_at(interaction, "protocol"),
            "Interaction's name": line_at(interaction, "full-id"),
            "Interaction's address": line_at(interaction, "remote-address"),
        }
    )
    yield from section("Interaction's request", text_of(interaction.get("raw-request")))
    yield from section("Interaction's response", text_of(interaction.get("raw-response")))
    yield from section("Response", text_of(row.get("response")))
