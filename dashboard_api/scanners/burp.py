"""Reader of Burp Suite's XML of issues, with and without base64.

Source: the document type that Burp writes into each file, versions 1.6 to 2025. A row is an issue at one
location. A person chooses the exported issues, so the file says neither what was scanned nor whether the
scan was complete.
"""

from collections.abc import Iterator
from typing import BinaryIO

from dashboard_api.scanners.members import address_of_path
from dashboard_api.scanners.report import (
    BadRow,
    Check,
    Kind,
    ReportedFinding,
    ScanReport,
    Severity,
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
from dashboard_api.scanners.times import read_time
from dashboard_api.scanners.xml_document import (
    Element,
    XmlRows,
    child,
    children,
    decoded,
    head_pattern,
    text_at,
    text_in,
)

HEAD_PATTERN = head_pattern(r"issues(?=[^>]{0,500}\sburpVersion=)")
_SEVERITIES = {
    "high": Severity.HIGH,
    "medium": Severity.MEDIUM,
    "low": Severity.LOW,
    "information": Severity.INFO,
    "info": Severity.INFO,
}
_FALSE_POSITIVE = "false positive"
_KINDS: dict[str, Kind] = {"certain": "confirmed", "firm": "suspected", "tentative": "suspected"}
_EXTENSION_TYPE = "134217728"  # all issues of extensions have this type; the name tells them apart
_MAX_MESSAGES = 3  # pairs of request and response in the evidence


def read(stream: BinaryIO) -> ScanReport:
    """Return the report in ``stream``; raises UnreadableReport."""
    rows = XmlRows(stream, row_names=["issue"])
    issues = child(rows.root, "issues")
    return ScanReport(
        source="burp",
        source_name="Burp Suite",
        version=text_at(issues, "@burpVersion"),
        scanned_at=read_time(one_line(text_at(issues, "@exportTime"))),
        entries=convert_rows(enumerate((row.element for row in rows), start=1), _convert),
    )


def _convert(number: int, issue: Element) -> ReportedFinding | Check:
    host = one_line(text_at(issue, "host"))
    if not host.lower().startswith(("http://", "https://")):
        raise BadRow("names no host")
    location = address_of_path(host, one_line(text_at(issue, "path")) or "/")
    severity_raw = one_line(text_at(issue, "severity"))
    if severity_raw.lower() == _FALSE_POSITIVE:
        return Check(row=number, location=location, seen_at=None)
    severity = _SEVERITIES.get(severity_raw.lower())
    if severity is None:
        raise BadRow("has a severity that is not one of High, Medium, Low, Information")
    issue_type, name = one_line(text_at(issue, "type")), one_line(text_at(issue, "name"))
    if not (issue_type and name):
        raise BadRow("has no type" if name else "has no name")
    rule = f"{issue_type}/{name}" if issue_type == _EXTENSION_TYPE else issue_type
    return _finding(number, issue, rule=rule, severity=severity, location=location)


def _finding(number: int, issue: Element, *, rule: str, severity: Severity, location: str) -> ReportedFinding:
    confidence = one_line(text_at(issue, "confidence"))
    detail = html_text(text_at(issue, "issueDetail"))
    classifications = text_at(issue, "vulnerabilityClassifications")
    remediation = (html_text(text_at(issue, f"remediation{part}")) for part in ("Background", "Detail"))
    return ReportedFinding(
        row=number,
        identity=(rule,),
        rule=rule,
        severity=severity,
        severity_raw=", ".join(filter(None, [one_line(text_at(issue, "severity")), confidence])),
        kind="informational" if severity is Severity.INFO else _KINDS.get(confidence.lower(), "suspected"),
        title=text_at(issue, "name"),
        description=html_text(text_at(issue, "issueBackground")) or detail,
        remediation="\n\n".join(filter(None, remediation)),
        references=[*links_in(text_at(issue, "references")), *links_in(classifications)],
        cwe=cwes_in([classifications]),
        cve=cves_in([text_at(issue, "name"), detail, classifications]),
        location=location,
        evidence="\n\n".join(_evidence(issue, detail)),
    )


def _evidence(issue: Element, detail: str) -> Iterator[str]:
    where = one_line(text_at(issue, "location"))
    yield from labelled_lines(
        {
            "Where": where if where != one_line(text_at(issue, "path")) else "",
            "IP address": text_at(child(issue, "host"), "@ip"),
        }
    )
    yield from section("Detail", detail)
    items = children(child(issue, "issueDetailItems"), "issueDetailItem")
    yield from section("Items", "\n".join(html_text(text_in(item)) for item in items))
    for messages in children(issue, "requestresponse")[:_MAX_MESSAGES]:
        yield from section("Request", decoded(child(messages, "request")))
        yield from section("Response", decoded(child(messages, "response")))
