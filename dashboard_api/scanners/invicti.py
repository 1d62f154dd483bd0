"""Reader of Invicti (Netsparker) JSON and XML of vulnerabilities.

A row is a vulnerability at one address; the target is a check. The report omits the scan policy, so it
cannot say which rules ran.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, BinaryIO

from dashboard_api.scanners.json_values import open_document
from dashboard_api.scanners.members import Row, dicts_of, line_of, list_of, object_of, text_of
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
from dashboard_api.scanners.streams import joined
from dashboard_api.scanners.text import cves_in, html_text, labelled_lines, links_in, numbers_in, section
from dashboard_api.scanners.times import DateOrder, Time
from dashboard_api.scanners.xml_document import Element, XmlRows, child, children, head_of, text_at

_XML_HEAD = head_of("(?:invicti|netsparker)-enterprise", "(?:invicti|netsparker)-cloud")
_JSON_HEAD = rb'\A(?:\xef\xbb\xbf)?\s*\{\s*"Generated"\s*:\s*"[^"]*"\s*,\s*"Target"\s*:\s*\{'
HEAD = re.compile(_JSON_HEAD + b"|" + _XML_HEAD.pattern)
_SEVERITIES = {**SEVERITIES, "information": Severity.INFO, "bestpractice": Severity.INFO}
_GONE = {"falsepositive", "fixed", "fixedunconfirmed", "fixedconfirmed"}
_DURATION = re.compile(r"(?:(\d{1,3})\.)?(\d\d):(\d\d):(\d\d)(?:\.\d*)?")
_SIMPLE = {
    "Url": "url",
    "Type": "type",
    "Name": "name",
    "Severity": "severity",
    "Certainty": "certainty",
    "State": "state",
    "Description": "description",
    "Impact": "impact",
    "RemedialProcedure": "remedial-procedure",
    "RemedialActions": "remedial-actions",
    "RemedyReferences": "remedy-references",
    "ExternalReferences": "external-references",
    "ProofOfConcept": "proof-of-concept",
}


def read(stream: BinaryIO) -> ScanReport:
    """Return the report in ``stream``; raises UnreadableReport."""
    start = stream.read(1000)
    whole = joined(start, stream)
    target, rows = _from_xml(whole) if _XML_HEAD.search(start) else _from_json(whole)
    url = line_of(target, "Url")
    first: list[Row | None] = [None] if url else []
    dates = DateOrder()
    dates.see(line_of(target, "Initiated"), line_of(target, "Generated"))

    def convert(number: int, row: Any) -> ReportedFinding | Check:
        if row is None:
            return Check(row=number, location=url, seen_at=None)
        if not isinstance(row, dict):
            raise BadRow("is not a JSON object")
        # The dates of vulnerabilities show whether the day or the month comes first.
        seen = line_of(row, "FirstSeenDate"), line_of(row, "LastSeenDate")
        dates.see(*seen, line_of(target, "Generated"))
        response = text_of(object_of(row, "HttpResponse").get("Content"))
        dates.see_response(line_of(target, "Initiated"), response)
        return _convert(number, row)

    def entries() -> Iterator[ReportRow | Ending]:
        yield from convert_rows(enumerate(chain(first, rows), start=1), convert)
        yield Ending(scanned_at=_end(dates, target))

    return ScanReport(
        source="invicti",
        source_name="Invicti",
        names_targets=bool(url),
        entries=entries(),
    )


def _from_json(stream: BinaryIO) -> tuple[Row, Iterable[Any]]:
    document = open_document(stream)
    if not isinstance(document, dict) or "Vulnerabilities" not in document:
        raise UnreadableReport("The file is not a report of Invicti: it has no Vulnerabilities.")
    target = object_of(document, "Target") | {"Generated": document.get("Generated")}
    return target, list_of(document, "Vulnerabilities")


def _from_xml(stream: BinaryIO) -> tuple[Row, Iterable[Row]]:
    rows = XmlRows(stream, rows=["vulnerability"])
    root: Element = next((each[0] for name, each in rows.root.items() if name), {})
    target = child(root, "target")
    names = {"Url": "url", "Initiated": "initiated", "Duration": "duration"}
    members = {key: text_at(target, name) for key, name in names.items()}
    return members | {"Generated": text_at(root, "@generated")}, (_row(row.element) for row in rows)


def _row(element: Element) -> Row:
    """Return the XML vulnerability with the member names of the JSON report."""
    request, response = child(element, "http-request"), child(element, "http-response")
    return {key: text_at(element, name) for key, name in _SIMPLE.items()} | {
        "FirstSeenDate": text_at(element, "FirstSeenDate"),
        "LastSeenDate": text_at(element, "LastSeenDate"),
        "Confirmed": text_at(element, "confirmed").strip().lower() == "true",
        "Classification": {"Cwe": text_at(child(element, "classification"), "cwe")},
        "HttpRequest": {"Content": text_at(request, "content")},
        "HttpResponse": {"Content": text_at(response, "content")},
        "ExtraInformation": [
            {"Name": text_at(info, "name"), "Value": text_at(info, "value")}
            for info in children(child(element, "extra-information"), "info")
        ],
        "KnownVulnerabilities": [
            {"Title": text_at(each, "title")}
            for each in children(child(element, "known-vulnerabilities"), "known-vulnerability")
        ],
    }


def _end(dates: DateOrder, target: Row) -> Time:
    """Return start plus duration, else the start, else the time of the report."""
    start = dates.read(line_of(target, "Initiated"))
    duration = _DURATION.fullmatch(line_of(target, "Duration"))
    if duration and isinstance(start, datetime):
        days, hours, minutes, seconds = (int(part or 0) for part in duration.groups())
        return start + timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    return start or dates.read(line_of(target, "Generated"))


def _convert(number: int, row: Row) -> ReportedFinding | Check:
    location, kind, name = line_of(row, "Url"), line_of(row, "Type"), line_of(row, "Name")
    if not location:
        raise BadRow("has no Url")
    if not (kind and name):
        raise BadRow("has no Type" if name else "has no Name")
    states = re.split(r"[,;]", line_of(row, "State").replace(" ", "").lower())
    if not _GONE.isdisjoint(states):
        return Check(row=number, location=location, seen_at=None)
    severity = _SEVERITIES.get(line_of(row, "Severity").lower().replace(" ", ""))
    if severity is None:
        raise BadRow(
            "has a Severity that is not one of Critical, High, Medium, Low, Information, BestPractice"
        )
    return _finding(number, row, severity, location)


def _finding(number: int, row: Row, severity: Severity, location: str) -> ReportedFinding:
    texts = {key: html_text(text_of(row.get(key))) for key in _SIMPLE}
    kind: Kind = "confirmed" if row.get("Confirmed") is True else "suspected"
    links = (
        link for key in ("ExternalReferences", "RemedyReferences") for link in links_in(text_of(row.get(key)))
    )
    known = [line_of(each, "Title") for each in dicts_of(row, "KnownVulnerabilities")]
    return ReportedFinding(
        row=number,
        identity=(line_of(row, "Type"),),
        rule=line_of(row, "Type"),
        severity=severity,
        severity_raw=line_of(row, "Severity"),
        kind="informational" if severity is Severity.INFO else kind,
        title=line_of(row, "Name"),
        description="\n\n".join(filter(None, [texts["Description"], texts["Impact"]])),
        remediation=texts["RemedialProcedure"] or texts["RemedialActions"],
        references=list(links),
        cwe=numbers_in([line_of(object_of(row, "Classification"), "Cwe")]),
        cve=cves_in([line_of(row, "Name"), *known]),
        location=location,
        evidence="\n\n".join(_evidence(row, texts["ProofOfConcept"])),
    )


def _evidence(row: Row, proof: str) -> Iterator[str]:
    yield from labelled_lines({"Certainty": f"{value} %" if (value := line_of(row, "Certainty")) else ""})
    yield from section("Proof", proof)
    infos = dicts_of(row, "ExtraInformation")
    facts = (f"{line_of(info, 'Name')}: {line_of(info, 'Value')}" for info in infos)
    yield from section("Found", html_text("\n".join(facts)))
    yield from section("Request", text_of(object_of(row, "HttpRequest").get("Content")))
    yield from section("Response", text_of(object_of(row, "HttpResponse").get("Content")))
