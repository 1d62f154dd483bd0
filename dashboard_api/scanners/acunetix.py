"""Reader of Acunetix XML (ScanGroup), versions 9 to 24.

A row is an item of a scan; the start address of each scan is a check. The report omits the scan profile, so
it cannot say which rules ran.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

from dashboard_api.scanners.members import address_of_path
from dashboard_api.scanners.report import (
    SEVERITIES,
    BadRow,
    Check,
    Ending,
    Kind,
    ReportedFinding,
    ReportRow,
    ScanReport,
    Severity,
    UnreadableReport,
    convert_rows,
)
from dashboard_api.scanners.text import (
    cves_in,
    cwes_in,
    html_text,
    labelled_lines,
    links_in,
    one_line,
    section,
)
from dashboard_api.scanners.times import DateOrder, newest
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

HEAD_PATTERN = head_pattern("ScanGroup")
_SEVERITIES = {**SEVERITIES, "informational": Severity.INFO}
_UNSURE = re.compile(r"^\W*(?:possible|potential|probable)\b", re.IGNORECASE)


def read(stream: BinaryIO) -> ScanReport:
    """Return the report in ``stream``; raises UnreadableReport."""
    # A SiteFile is not a row; naming it here drops it from memory.
    rows = XmlRows(stream, row_names=["ReportItem", "Scan", "SiteFile"])
    if not rows.are_left:
        raise UnreadableReport("The file is not a report of Acunetix: it has no scan.")
    dates = DateOrder()
    # Reading the rows completes both lists.
    ends: list[str] = []
    aborted: list[bool] = []

    def entries() -> Iterator[ReportRow | Ending]:
        yield from convert_rows(enumerate(_relevant(rows, dates, ends, aborted), start=1), _convert)
        yield Ending(
            scanned_at=newest(map(dates.read, ends)), failure="the scan was aborted" if any(aborted) else ""
        )

    return ScanReport(source="acunetix", source_name="Acunetix", names_every_target=True, entries=entries())


def _relevant(rows: XmlRows, dates: DateOrder, ends: list[str], aborted: list[bool]) -> Iterator[XmlRow]:
    """Yield scans and their items; note the end of each scan, and whether it was aborted."""
    exported = one_line(text_at(child(rows.root, "ScanGroup"), "@ExportedOn"))
    for row in rows:
        if row.name == "Scan":
            aborted.append(one_line(text_at(row.element, "Aborted")).lower() == "true")
            start, end = (one_line(text_at(row.element, name)) for name in ("StartTime", "FinishTime"))
            dates.see(start, end, exported)
            ends.append(end or start or exported)
        elif row.name == "ReportItem":
            response = text_at(child(row.element, "TechnicalDetails"), "Response")
            dates.see_response(one_line(text_at(row.parent("Scan"), "StartTime")), response)
        if row.name != "SiteFile":
            yield row


def _convert(number: int, row: XmlRow) -> ReportedFinding | Check:
    scan = row.element if row.name == "Scan" else row.parent("Scan")
    start = one_line(text_at(child(scan, "Crawler"), "@StartUrl")) or one_line(text_at(scan, "StartURL"))
    if not start:
        raise BadRow("names no website: neither StartUrl nor StartURL")
    if row.name == "Scan":
        is_dead = one_line(text_at(scan, "Responsive")).lower() == "false"
        error = "the website did not respond" if is_dead else ""
        return Check(row=number, location=start, seen_at=None, error=error)
    affects = one_line(text_at(row.element, "Affects"))
    location = address_of_path(start, affects) if affects.startswith(("/", "http://", "https://")) else start
    if one_line(text_at(row.element, "IsFalsePositive")).lower() == "true":
        return Check(row=number, location=location, seen_at=None)
    return _finding(number, row.element, location)


def _finding(number: int, item: Element, location: str) -> ReportedFinding:
    name, raw = one_line(text_at(item, "Name")), one_line(text_at(item, "Severity"))
    severity = _SEVERITIES.get(raw.lower())
    if not name:
        raise BadRow("has no Name")
    if severity is None:
        raise BadRow("has a Severity that is not one of critical, high, medium, low, informational")
    kind: Kind = "suspected" if _UNSURE.search(name) else "confirmed"
    descriptions = [html_text(text_at(item, part)).strip() for part in ("Description", "Impact")]
    addresses = [text_at(each, "URL") for each in children(child(item, "References"), "Reference")]
    return ReportedFinding(
        row=number,
        identity=(name,),
        rule=name,
        severity=severity,
        severity_raw=raw,
        kind="informational" if severity is Severity.INFO else kind,
        title=name,
        description="\n\n".join(filter(None, descriptions)),
        remediation=html_text(text_at(item, "Recommendation")),
        references=[*addresses, *links_in(text_at(item, "Recommendation"))],
        cwe=cwes_in(text_in(each) for each in children(child(item, "CWEList"), "CWE")),
        cve=cves_in(text_in(each) for each in children(child(item, "CVEList"), "CVE")),
        location=location,
        evidence="\n\n".join(_evidence(item)),
    )


def _evidence(item: Element) -> Iterator[str]:
    affects = one_line(text_at(item, "Affects"))
    vector = child(item, "CVSS3") or child(item, "CVSS")
    yield from labelled_lines(
        {
            "Affects": "" if affects.startswith("/") else affects,  # a path is in the location
            "Parameter": one_line(text_at(item, "Parameter")),
            "Module": one_line(text_at(item, "ModuleName")),
            "CVSS": one_line(f"{text_at(vector, 'Score')} {text_at(vector, 'Descriptor')}"),
        }
    )
    yield from section("Details", html_text(text_at(item, "Details")))
    technical = child(item, "TechnicalDetails")
    yield from section("Request", text_at(technical, "Request"))
    yield from section("Response", text_at(technical, "Response"))
