"""Entries of Wapiti's reports, and the reader of its XML, which uses the member names of its JSON."""

from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from dashboard_api.scanners.members import JsonObject
from dashboard_api.scanners.report import Kind, UnreadableReport
from dashboard_api.scanners.xml_document import (
    Element,
    XmlRow,
    XmlRows,
    child,
    children,
    head_pattern,
    text_at,
    text_in,
)

# The lists of categories, with the kind of their entries.
GROUPS: dict[str, Kind] = {
    "vulnerabilities": "confirmed",
    "anomalies": "suspected",
    "additionals": "informational",
}
XML_HEAD_PATTERN = head_pattern(r'report\s+type="security"')
_TEXTS = ["method", "path", "level", "parameter", "info", "referer", "module", "http_request", "curl_command"]


class WapitiEntry(NamedTuple):
    """Entry of a category, or a check if ``category`` is empty. ``about`` has the texts of the category."""

    kind: Kind
    category: str
    about: JsonObject
    entry: Any


def read_xml_entries(stream: BinaryIO) -> tuple[JsonObject, Iterator[WapitiEntry]]:
    """Return the scan's infos and entries; reading or iterating raises UnreadableReport."""
    rows = XmlRows(stream, row_names=["entry"])
    report = child(rows.root, "report")
    infos = {
        text_at(info, "@name"): text_in(info) for info in children(child(report, "report_infos"), "info")
    }
    if "generatorVersion" not in infos:
        raise UnreadableReport("The file is not a report of Wapiti 3: it has no report_infos.")
    names = {
        "version": "generatorVersion",
        "date": "dateOfScan",
        "target": "target",
        "crawled_pages_nbr": "crawledPages",
    }
    return {key: infos.get(name, "") for key, name in names.items()}, _entries(rows)


def _entries(rows: XmlRows) -> Iterator[WapitiEntry]:
    """Yield the entries of categories. Skip crawled pages: their entries have no address."""
    for row in rows:
        match row.path:
            case ("report", group, category, "entries", "entry") if group in GROUPS:
                about = row.parent(category)
                yield WapitiEntry(GROUPS[group], text_at(about, "@name"), _about(about), _entry(row))


def _about(category: Element) -> JsonObject:
    references = children(child(category, "references"), "reference")
    return {
        "desc": text_at(category, "description"),
        "sol": text_at(category, "solution"),
        "ref": {text_at(reference, "title"): text_at(reference, "url") for reference in references},
        "suppressed": text_at(category, "@suppressed"),
    }


def _entry(row: XmlRow) -> JsonObject:
    entry = row.element
    response = child(entry, "detail", "response")
    headers = children(child(response, "headers"), "header")
    return {name: text_at(entry, name) for name in _TEXTS} | {
        "wstg": [text_in(code) for code in children(child(entry, "wstg"), "code")],
        "detail": {
            "response": {
                "status_code": text_at(response, "status_code"),
                "headers": [[text_at(header, "@name"), text_in(header)] for header in headers],
                "body": text_at(response, "body"),
            }
        },
    }
