"""Wapiti 3, JSON.

Members are those of ``jsonreportgenerator.py`` in wapiti3. A row is an entry of a category; the scan's
target, and each page that a detailed report lists as crawled, are rows as well, and say what was checked.
The format cannot tell whether a scan was complete: one that was interrupted writes a report, too.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from dashboard_api.scanners.addresses import resolved
from dashboard_api.scanners.json_values import open_document
from dashboard_api.scanners.layout import named, section
from dashboard_api.scanners.lazy_list import is_list
from dashboard_api.scanners.members import Row, line_of, list_of, object_of, text_of, texts_of, written_moment
from dashboard_api.scanners.redaction import redact_command
from dashboard_api.scanners.report import (
    BadRow,
    Check,
    Kind,
    ReportedFinding,
    ScanReport,
    Severity,
    UnreadableReport,
    tell_each,
)
from dashboard_api.scanners.text import clean, without_numbers
from dashboard_api.scanners.weaknesses import cve_names, cwe_names

_HEAD = re.compile(rb'"classifications"\s*:\s*\{|"vulnerabilities"\s*:\s*\{')
_LEVELS = {
    "4": Severity.CRITICAL,
    "3": Severity.HIGH,
    "2": Severity.MEDIUM,
    "1": Severity.LOW,
    "0": Severity.INFO,
}
_GROUPS: dict[str, Kind] = {
    "vulnerabilities": "confirmed",
    "anomalies": "suspected",
    "additionals": "informational",
}
# Categories that gather different problems: what an entry says tells them apart.
_GATHERING = re.compile(r"cookie|policy|tls|dangerous", re.IGNORECASE)
_SOFTWARE = re.compile(r"fingerprint|software", re.IGNORECASE)


def recognises(head: bytes) -> bool:
    """Whether it begins like Wapiti's."""
    return _HEAD.search(head) is not None


def read(stream: BinaryIO) -> ScanReport:
    """The report in ``stream``; raises UnreadableReport."""
    document = open_document(stream)
    if not isinstance(document, dict) or not isinstance(document.get("vulnerabilities"), dict):
        raise UnreadableReport("The file is no report of Wapiti: it has no vulnerabilities by category.")
    infos = object_of(document, "infos")
    target = line_of(infos, "target")

    def told(number: int, row: tuple[Kind, str, Any]) -> ReportedFinding | Check:
        kind, category, entry = row
        if not isinstance(entry, dict):
            raise BadRow("is not a JSON object")
        if not category:
            return Check(row=number, location=line_of(entry, "url") or target, seen_at=None)
        place = resolved(target, line_of(entry, "path") or "/")
        return _finding(number, kind, category, entry, object_of(about, category), place)

    about = object_of(document, "classifications")
    return ScanReport(
        source="wapiti",
        source_name="Wapiti",
        version=line_of(infos, "version").removeprefix("Wapiti "),
        scanned_at=written_moment(line_of(infos, "date")),
        names_targets=bool(target),
        told=tell_each(enumerate(_rows(document, infos), start=1), told),
    )


def _rows(document: Row, infos: Row) -> Iterator[tuple[Kind, str, Any]]:
    """Each entry with its category; first what was checked, which has none."""
    if line_of(infos, "target"):
        yield "informational", "", {}
    for page in list_of(infos, "crawled_pages"):
        yield "informational", "", page.get("request") if isinstance(page, dict) else page
    for group, kind in _GROUPS.items():
        for category, entries in object_of(document, group).items():
            for entry in entries if is_list(entries) else [entries]:
                yield kind, category, entry


def _finding(number: int, kind: Kind, category: str, entry: Row, about: Row, place: str) -> ReportedFinding:
    severity = _LEVELS.get(line_of(entry, "level"))
    if severity is None:
        raise BadRow("has a level that is none of 0 to 4")
    info = text_of(entry.get("info"))
    software = _software(info) if _SOFTWARE.search(category) else ""
    matcher = software or (without_numbers(info) if _GATHERING.search(category) else "")
    references = object_of(about, "ref")
    title = f"{category}: {software}" if software else category
    return ReportedFinding.cleaned(
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
        cwe=cwe_names(references),
        cve=cve_names([info]),
        location=place,
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
    answered = f"{status}\n{headers}".strip()
    yield from section("Response", f"{answered}\n\n{text_of(response.get('body'))}")


def _software(info: str) -> str:
    """The name in an info such as {"name": "jQuery", "versions": ["1.11.0"]}."""
    try:
        told = json.loads(info)
    except (ValueError, RecursionError):
        return ""
    return line_of(told, "name") if isinstance(told, dict) else ""
