"""Wapiti 3's JSON reports.

Members are those of ``jsonreportgenerator.py`` in wapiti3. A row is an entry of a category or, as a check,
the scan's target or a page that a detailed report lists as crawled. The format does not say whether a scan
was complete: an interrupted one writes a report, too.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from dashboard_api.scanners.json_values import open_document
from dashboard_api.scanners.lazy_list import is_list
from dashboard_api.scanners.members import (
    Row,
    address_in,
    line_of,
    list_of,
    object_of,
    parse_mail_time,
    text_of,
    texts_of,
)
from dashboard_api.scanners.redaction import redact_command
from dashboard_api.scanners.report import (
    BadRow,
    Check,
    Kind,
    ReportedFinding,
    ScanReport,
    Severity,
    UnreadableReport,
    convert_rows,
)
from dashboard_api.scanners.text import clean, cves_in, cwes_in, named, section, without_numbers

HEAD = re.compile(rb'"classifications"\s*:\s*\{|"vulnerabilities"\s*:\s*\{')
_LEVELS = {str(severity.value): severity for severity in Severity}
_GROUPS: dict[str, Kind] = {
    "vulnerabilities": "confirmed",
    "anomalies": "suspected",
    "additionals": "informational",
}
# Categories of different problems, which the text of an entry distinguishes.
_MIXED = re.compile(r"cookie|policy|tls|dangerous", re.IGNORECASE)
_SOFTWARE = re.compile(r"fingerprint|software", re.IGNORECASE)


def read(stream: BinaryIO) -> ScanReport:
    """Return the report in ``stream``; raises UnreadableReport."""
    document = open_document(stream)
    if not isinstance(document, dict) or not isinstance(document.get("vulnerabilities"), dict):
        raise UnreadableReport("The file is no report of Wapiti: it has no vulnerabilities by category.")
    infos = object_of(document, "infos")
    target = line_of(infos, "target")
    about = object_of(document, "classifications")

    def convert(number: int, row: tuple[Kind, str, Any]) -> ReportedFinding | Check:
        kind, category, entry = row
        if not isinstance(entry, dict):
            raise BadRow("is not a JSON object")
        if not category:
            return Check(row=number, location=line_of(entry, "url") or target, seen_at=None)
        location = address_in(target, line_of(entry, "path") or "/")
        return _finding(number, kind, category, entry, object_of(about, category), location)

    return ScanReport(
        source="wapiti",
        source_name="Wapiti",
        version=line_of(infos, "version").removeprefix("Wapiti "),
        scanned_at=parse_mail_time(line_of(infos, "date")),
        names_targets=bool(target),
        entries=convert_rows(enumerate(_rows(document, infos), start=1), convert),
    )


def _rows(document: Row, infos: Row) -> Iterator[tuple[Kind, str, Any]]:
    """Yield the checks, which have no category, then the entries of each category."""
    if line_of(infos, "target"):
        yield "informational", "", {}
    for page in list_of(infos, "crawled_pages"):
        yield "informational", "", page.get("request") if isinstance(page, dict) else page
    for group, kind in _GROUPS.items():
        for category, entries in object_of(document, group).items():
            for entry in entries if is_list(entries) else [entries]:
                yield kind, category, entry


def _finding(
    number: int, kind: Kind, category: str, entry: Row, about: Row, location: str
) -> ReportedFinding:
    severity = _LEVELS.get(line_of(entry, "level"))
    if severity is None:
        raise BadRow("has a level that is none of 0 to 4")
    info = text_of(entry.get("info"))
    software = _software(info) if _SOFTWARE.search(category) else ""
    matcher = software or (without_numbers(info) if _MIXED.search(category) else "")
    references = object_of(about, "ref")
    title = f"{category}: {software}" if software else category
    return ReportedFinding(
        row=number,
        identity=(category, matcher),
        rule=category,
        severity=severity,
        severity_raw=f"level {line_of(entry, 'level')}",
        kind="informational" if severity is Severity.INFO else kind,
        title=f"{category}: {info}" if matcher and not software else title,
        description=text_of(about.get("desc")),
        remediation=text_of(about.get("sol")),
        references=[text_of(address) for address in references.values()],
        cwe=cwes_in(references),
        cve=cves_in([info]),
        location=location,
        evidence="\n\n".join(_evidence(entry, info)),
    )


def _evidence(entry: Row, info: str) -> Iterator[str]:
    yield info
    yield from named(
        {
            "Method": line_of(entry, "method"),
            "Parameter": line_of(entry, "parameter"),
            "Came from": line_of(entry, "referer"),
            "Module": line_of(entry, "module"),
            "Test": ", ".join(texts_of(entry.get("wstg"))),
        }
    )
    yield from section("Command", redact_command(clean(text_of(entry.get("curl_command")))))
    yield from section("Request", text_of(entry.get("http_request")))
    response = object_of(object_of(entry, "detail"), "response")
    status = line_of(response, "status_code")
    headers = "\n".join(": ".join(texts_of(header)) for header in list_of(response, "headers"))
    start = f"{status}\n{headers}".strip()
    yield from section("Response", f"{start}\n\n{text_of(response.get('body'))}")


def _software(info: str) -> str:
    """Return the name in an info such as {"name": "jQuery", "versions": ["1.11.0"]}; else empty."""
    try:
        software = json.loads(info)
    except (ValueError, RecursionError):
        return ""
    return line_of(software, "name") if isinstance(software, dict) else ""
