"""Reader of Wapiti 3's JSON and XML reports.

Sources: ``jsonreportgenerator.py`` and ``xmlreportgenerator.py`` in wapiti3. A row is an entry of a category;
the target, and each crawled page in a detailed report, are checks. The format does not say whether a scan
was complete: an interrupted scan also writes a report.
"""

import json
import re
from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO

from dashboard_api.scanners.json_values import open_document
from dashboard_api.scanners.lazy_list import is_list
from dashboard_api.scanners.members import (
    JsonObject,
    address_of_path,
    line_at,
    list_at,
    object_at,
    text_of,
    texts_of,
    time_at,
)
from dashboard_api.scanners.redaction import redact_command
from dashboard_api.scanners.report import (
    BadRow,
    Check,
    ReportedFinding,
    ScanReport,
    Severity,
    UnreadableReport,
    convert_rows,
)
from dashboard_api.scanners.streams import joined
from dashboard_api.scanners.text import clean, cves_in, cwes_in, labelled_lines, section, without_numbers
from dashboard_api.scanners.wapiti.entries import GROUPS, XML_HEAD_PATTERN, WapitiEntry, read_xml_entries

HEAD_PATTERN = re.compile(
    rb'"classifications"\s*:\s*\{|"vulnerabilities"\s*:\s*\{|' + XML_HEAD_PATTERN.pattern
)
# Wapiti has the same numbers.
_LEVELS = {str(severity.value): severity for severity in Severity}
# Categories that mix several problems; the text of an entry tells them apart.
_MIXED_CATEGORY = re.compile(r"cookie|policy|tls|dangerous|secure headers", re.IGNORECASE)
_SOFTWARE_CATEGORY = re.compile(r"fingerprint|software", re.IGNORECASE)
_HEADERS = "HTTP Secure Headers"  # one category before 3.2; its entries begin with the header
# Old names, from before Wapiti 3.2. Stored XSS has no old name: a "Cross Site Scripting" of that time was
# more likely reflected.
_FORMER_CATEGORIES = {
    "Reflected Cross Site Scripting": "Cross Site Scripting",
    "Clickjacking Protection": _HEADERS,
    "MIME Type Confusion": _HEADERS,
    "HTTP Strict Transport Security (HSTS)": _HEADERS,
}


def read(stream: BinaryIO) -> ScanReport:
    """Return the report in ``stream``; raises UnreadableReport."""
    start = stream.read(1000)
    whole = joined(start, stream)
    infos, rows = read_xml_entries(whole) if XML_HEAD_PATTERN.search(start) else _json_entries(whole)
    target = line_at(infos, "target")
    failure = "Wapiti reached no page" if line_at(infos, "crawled_pages_nbr") == "0" else ""

    def convert(number: int, row: WapitiEntry) -> ReportedFinding | Check:
        if not isinstance(row.entry, dict):
            raise BadRow("is not a JSON object")
        if not row.category:
            location = line_at(row.entry, "url") or target
            return Check(row=number, location=location, seen_at=None, error=failure)
        return _finding(number, row, row.entry, address_of_path(target, line_at(row.entry, "path") or "/"))

    return ScanReport(
        source="wapiti",
        source_name="Wapiti",
        version=line_at(infos, "version").removeprefix("Wapiti "),
        scanned_at=time_at(infos, "date"),
        names_every_target=bool(target),
        entries=convert_rows(enumerate(chain(_checks(infos), rows), start=1), convert),
    )


def _checks(infos: JsonObject) -> Iterator[WapitiEntry]:
    """Yield the target and the crawled pages as entries without a category."""
    if line_at(infos, "target"):
        yield WapitiEntry("informational", "", {}, {})
    for page in list_at(infos, "crawled_pages"):
        yield WapitiEntry("informational", "", {}, page.get("request") if isinstance(page, dict) else page)


def _json_entries(stream: BinaryIO) -> tuple[JsonObject, Iterator[WapitiEntry]]:
    document = open_document(stream)
    members = document if isinstance(document, dict) else {}
    if not isinstance(members.get("vulnerabilities"), dict):
        raise UnreadableReport("The file is not a report of Wapiti: it has no vulnerabilities by category.")
    if not isinstance(members.get("infos"), dict):  # other tools also list vulnerabilities by name
        raise UnreadableReport("The file is not a report of Wapiti: it has no infos.")
    return members["infos"], _entries(members)


def _entries(document: JsonObject) -> Iterator[WapitiEntry]:
    classifications = object_at(document, "classifications")
    suppressed = object_at(document, "suppressed_findings")
    for group, kind in GROUPS.items():
        for category, entries in object_at(document, group).items():
            about = object_at(classifications, category) | {"suppressed": suppressed.get(category)}
            for entry in entries if is_list(entries) else [entries]:
                yield WapitiEntry(kind, category, about, entry)


def _finding(number: int, row: WapitiEntry, entry: JsonObject, location: str) -> ReportedFinding:
    kind, category, about, _ = row
    severity = _LEVELS.get(line_at(entry, "level"))
    if severity is None:
        raise BadRow("has a level that is not one of 0 to 4")
    info = text_of(entry.get("info"))
    software = _software(info) if _SOFTWARE_CATEGORY.search(category) else ""
    former_category = _FORMER_CATEGORIES.get(category, "")
    matcher = software or _matcher(category, info)
    references = object_at(about, "ref")
    title = f"{category}: {software}" if software else category
    return ReportedFinding(
        row=number,
        identity=(category, matcher),
        aliases=[(former_category, _matcher(former_category, info))] if former_category else [],
        rule=f"{category}/{info.partition(' ')[0]}" if info and category == _HEADERS else category,
        severity=severity,
        severity_raw=f"level {line_at(entry, 'level')}",
        kind="informational" if severity is Severity.INFO else kind,
        title=f"{category}: {info}" if matcher and not software else title,
        description=text_of(about.get("desc")),
        remediation=text_of(about.get("sol")),
        references=[text_of(address) for address in references.values()],
        cwe=cwes_in(references),
        cve=cves_in([info]),
        location=location,
        evidence="\n\n".join(_evidence(entry, info)),
        is_sampled=line_at(about, "suppressed") not in ("", "0"),  # the number of entries left out
    )


def _matcher(category: str, info: str) -> str:
    """Return the text that tells problems of a mixed category apart; empty for other categories."""
    return without_numbers(info) if _MIXED_CATEGORY.search(category) else ""


def _evidence(entry: JsonObject, info: str) -> Iterator[str]:
    yield info
    yield from labelled_lines(
        {
            "Method": line_at(entry, "method"),
            "Parameter": line_at(entry, "parameter"),
            "Came from": line_at(entry, "referer"),
            "Module": line_at(entry, "module"),
            "Test": ", ".join(texts_of(entry.get("wstg"))),
        }
    )
    yield from section("Command", redact_command(clean(text_of(entry.get("curl_command")))))
    yield from section("Request", text_of(entry.get("http_request")))
    response = object_at(object_at(entry, "detail"), "response")
    status = line_at(response, "status_code")
    headers = "\n".join(": ".join(texts_of(header)) for header in list_at(response, "headers"))
    start = f"{status}\n{headers}".strip()
    yield from section("Response", f"{start}\n\n{text_of(response.get('body'))}")


def _software(info: str) -> str:
    """Return the name in an info such as {"name": "jQuery", "versions": ["1.11.0"]}, or an empty text."""
    try:
        software = json.loads(info)
    except (ValueError, RecursionError):
        return ""
    return line_at(software, "name") if isinstance(software, dict) else ""
