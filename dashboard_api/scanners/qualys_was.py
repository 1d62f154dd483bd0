"""Reader of Qualys WAS XML: scan reports and web application reports.

A row is a vulnerability, sensitive content or gathered information in RESULTS; a web application in APPENDIX
is a check. GLOSSARY comes last and has the texts by QID, so the reader needs the whole document. The report
omits the checks of the option profile, so it cannot say which rules ran.
"""

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

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
from dashboard_api.scanners.text import (
    cves_in,
    html_text,
    labelled_lines,
    links_in,
    numbers_in,
    one_line,
    section,
)
from dashboard_api.scanners.times import Time, newest, read_time
from dashboard_api.scanners.xml_document import (
    Element,
    child,
    children,
    decoded,
    head_pattern,
    read_xml,
    text_at,
)

HEAD_PATTERN = head_pattern("WAS_(?:SCAN|WEBAPP)_REPORT")
_ROOTS = ["WAS_SCAN_REPORT", "WAS_WEBAPP_REPORT"]
_GROUPS = ["VULNERABILITY", "SENSITIVE_CONTENT", "INFORMATION_GATHERED"]
# Qualys counts from 1.
_LEVELS = {str(severity.value + 1): severity for severity in Severity}
_NO_TEXT = {"n/a", "not applicable.", ""}
_MAX_PAYLOADS = 3


class _Row(NamedTuple):
    group: str  # one of _GROUPS; empty for a web application
    element: Element


def read(stream: BinaryIO) -> ScanReport:
    """Return the report in ``stream``; raises UnreadableReport."""
    document = read_xml(stream, kept_encoded=_GROUPS)
    report = next((child(document, root) for root in _ROOTS if root in document), {})
    if "RESULTS" not in report:
        raise UnreadableReport("The file is not a report of Qualys WAS: it has no RESULTS.")
    appendix = child(report, "APPENDIX")
    websites = [site for site in children(appendix, "WEBAPP") if one_line(text_at(site, "URL"))]
    scans = children(child(appendix, "SCAN_LIST"), "SCAN")
    statuses = [status for scan in scans if (status := one_line(text_at(scan, "STATUS")))]
    glossary = {
        one_line(text_at(entry, "QID")): entry
        for entry in children(child(report, "GLOSSARY", "QID_LIST"), "QID")
    }
    default_location = one_line(text_at(websites[0], "URL")) if websites else ""

    def convert(number: int, row: _Row) -> ReportedFinding | Check:
        if not row.group:
            return Check(row=number, location=one_line(text_at(row.element, "URL")), seen_at=None)
        return _convert(number, row, glossary, default_location)

    website_rows = [_Row("", site) for site in websites]
    return ScanReport(
        source="qualys-was",
        source_name="Qualys WAS",
        failure=next((f"the status of the scan is {each}" for each in statuses if each != "Finished"), ""),
        scanned_at=newest(_time(scan, "END_DATE", "START_DATE") for scan in scans)
        or _time(child(report, "HEADER"), "GENERATION_DATETIME"),
        names_every_target=bool(websites),
        entries=convert_rows(enumerate(_rows(report, website_rows), start=1), convert),
    )


def _rows(report: Element, website_rows: list[_Row]) -> Iterator[_Row]:
    yield from website_rows
    results = child(report, "RESULTS")
    for part in [results, *children(results, "WEB_APPLICATION")]:
        for group in _GROUPS:
            for element in children(child(part, f"{group}_LIST"), group):
                yield _Row(group, element)


def _time(element: Element, *names: str) -> Time:
    """Return the time in the first of these children with a text."""
    return read_time(next(filter(None, (one_line(text_at(element, name)) for name in names)), ""))


def _convert(
    number: int, row: _Row, glossary: dict[str, Element], default_location: str
) -> ReportedFinding | Check:
    element, qid = row.element, one_line(text_at(row.element, "QID"))
    location = one_line(text_at(element, "URL")) or default_location
    if not qid:
        raise BadRow("has no QID")
    if not location:
        raise BadRow("has no URL, and no WEBAPP has one")
    about = glossary.get(qid, {})  # the texts about the problem
    title = one_line(text_at(about, "TITLE")) or f"QID {qid}"
    if one_line(text_at(element, "STATUS")).upper() == "FIXED":
        return Check(row=number, location=location, seen_at=None, rules=(qid,))
    if one_line(text_at(element, "IGNORED")).lower() == "true":
        identities = ((qid,),)
        return Check(row=number, location=location, seen_at=None, suppressed=title, identities=identities)
    level = one_line(text_at(about, "SEVERITY"))
    severity = _LEVELS.get(level, Severity.MEDIUM)
    if row.group == "INFORMATION_GATHERED":
        severity = Severity.INFO
    elif about and level not in _LEVELS:
        raise BadRow("has a SEVERITY that is not one of 1 to 5")
    return _finding(number, row, about, title=title, severity=severity, location=location)


def _finding(
    number: int, row: _Row, about: Element, *, title: str, severity: Severity, location: str
) -> ReportedFinding:
    qid, level = one_line(text_at(row.element, "QID")), one_line(text_at(about, "SEVERITY"))
    is_potential = one_line(text_at(row.element, "POTENTIAL")).lower() == "true"
    is_unsure = is_potential or text_at(about, "CATEGORY").startswith("Potential")
    kind: Kind = "suspected" if is_unsure else "confirmed"
    texts = {name: _text(about, name) for name in ("DESCRIPTION", "IMPACT", "SOLUTION")}
    return ReportedFinding(
        row=number,
        identity=(qid,),
        rule=qid,
        severity=severity,
        severity_raw=f"level {level}" if level else "",
        kind="informational" if severity is Severity.INFO else kind,
        title=title,
        description="\n\n".join(filter(None, [texts["DESCRIPTION"], texts["IMPACT"]])),
        remediation=texts["SOLUTION"],
        references=[link for name in ("DESCRIPTION", "SOLUTION") for link in links_in(text_at(about, name))],
        cwe=numbers_in([text_at(about, "CWE")]),
        cve=cves_in([title, texts["DESCRIPTION"]]),
        location=location,
        evidence="\n\n".join(_evidence(row.element, about)),
    )


def _text(about: Element, name: str) -> str:
    text = html_text(text_at(about, name)).strip()
    return "" if " ".join(text.lower().split()) in _NO_TEXT else text


def _evidence(element: Element, about: Element) -> Iterator[str]:
    yield from labelled_lines(
        {
            "Parameter": one_line(text_at(element, "PARAM")),
            "Authentication": one_line(text_at(element, "AUTHENTICATION")),
            "CVSS": one_line(text_at(about, "CVSS_BASE")),
        }
    )
    yield from section("Data", decoded(child(element, "DATA")))
    for payload in children(child(element, "PAYLOADS"), "PAYLOAD")[:_MAX_PAYLOADS]:
        request, response = child(payload, "REQUEST"), child(payload, "RESPONSE")
        yield from section("Payload", text_at(payload, "PAYLOAD"))
        yield from section("Request", _request(request))
        yield from section("Evidence", decoded(child(response, "EVIDENCE")))
        yield from section("Response", decoded(child(response, "CONTENTS")))


def _request(request: Element) -> str:
    """Return the request as text: method, address, headers and body."""
    start = one_line(f"{text_at(request, 'METHOD')} {text_at(request, 'URL')}")
    lines = [
        f"{one_line(text_at(header, 'key'))}: {one_line(text_at(header, 'value'))}"
        for header in children(child(request, "HEADERS"), "HEADER")
    ]
    return "\n".join([start, *lines, "", text_at(request, "BODY")])
