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
from dashboard_api.scanners.members import JsonObject, dicts_at, line_at, list_at, object_at, text_of
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
from dashboard_api.scanners.xml_document import Element, XmlRows, child, children, head_pattern, text_at

_XML_HEAD_PATTERN = head_pattern("(?:invicti|netsparker)-enterprise", "(?:invicti|netsparker)-cloud")
_JSON_HEAD_PATTERN = rb'\A(?:\xef\xbb\xbf)?\s*\{\s*"Generated"\s*:\s*"[^"]*"\s*,\s*"Target"\s*:\s*\{'
HEAD_PATTERN = re.compile(_JSON_HEAD_PATTERN + b"|" + _XML_HEAD_PATTERN.pattern)
_SEVERITIES = {**SEVERITIES, "information": Severity.INFO, "bestpractice": Severity.INFO}
_SOLVED_STATES = {"falsepositive", "fixed", "fixedunconfirmed", "fixedconfirmed"}
# Days, hours, minutes and seconds, as in 1.02:03:04.5.
_DURATION = re.compile(r"(?:(\d{1,3})\.)?(\d\d):(\d\d):(\d\d)(?:\.\d*)?")
# Members with a plain text, and their elements in the XML.
_TEXTS = {
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
    target, rows = _from_xml(whole) if _XML_HEAD_PATTERN.search(start) else _from_json(whole)
    url = line_at(target, "Url")
    target_row: list[JsonObject | None] = [None] if url else []
    dates = DateOrder()
    dates.see(line_at(target, "Initiated"), line_at(target, "Generated"))

    def convert(number: int, row: Any) -> ReportedFinding | Check:
        if row is None:  # the target
            return Check(row=number, location=url, seen_at=None)
        if not isinstance(row, dict):
            raise BadRow("is not a JSON object")
        # The dates of vulnerabilities show whether the day or the month comes first.
        seen = line_at(row, "FirstSeenDate"), line_at(row, "LastSeenDate")
        dates.see(*seen, line_at(target, "Generated"))
        response = text_of(object_at(row, "HttpResponse").get("Content"))
        dates.see_response(line_at(target, "Initiated"), response)
        return _convert(number, row)

    def entries() -> Iterator[ReportRow | Ending]:
        yield from convert_rows(enumerate(chain(target_row, rows), start=1), convert)
        yield Ending(scanned_at=_end(dates, target))

    return ScanReport(
        source="invicti",
        source_name="Invicti",
        names_every_target=bool(url),
        entries=entries(),
    )


def _from_json(stream: BinaryIO) -> tuple[JsonObject, Iterable[Any]]:
    document = open_document(stream)
    if not isinstance(document, dict) or "Vulnerabilities" not in document:
        raise UnreadableReport("The file is not a report of Invicti: it has no Vulnerabilities.")
    target = object_at(document, "Target") | {"Generated": document.get("Generated")}
    return target, list_at(document, "Vulnerabilities")


def _from_xml(stream: BinaryIO) -> tuple[JsonObject, Iterable[JsonObject]]:
    rows = XmlRows(stream, row_names=["vulnerability"])
    # The only child, by any of the names in the pattern; "" is text.
    root: Element = next((elements[0] for name, elements in rows.root.items() if name), {})
    target = child(root, "target")
    names = {"Url": "url", "Initiated": "initiated", "Duration": "duration"}
    members = {key: text_at(target, name) for key, name in names.items()}
    return members | {"Generated": text_at(root, "@generated")}, (_row(row.element) for row in rows)


def _row(element: Element) -> JsonObject:
    """Return the XML vulnerability with the member names of the JSON report."""
    request, response = child(element, "http-request"), child(element, "http-response")
    return {key: text_at(element, name) for key, name in _TEXTS.items()} | {
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


def _end(dates: DateOrder, target: JsonObject) -> Time:
    """Return start plus duration, else the start, else the time of the report."""
    start = dates.read(line_at(target, "Initiated"))
    duration = _DURATION.fullmatch(line_at(target, "Duration"))
    if duration and isinstance(start, datetime):
        days, hours, minutes, seconds = (int(part or 0) for part in duration.groups())
        return start + timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    return start or dates.read(line_at(target, "Generated"))


def _convert(number: int, row: JsonObject) -> ReportedFinding | Check:
    location, rule, name = line_at(row, "Url"), line_at(row, "Type"), line_at(row, "Name")
    if not location:
        raise BadRow("has no Url")
    if not (rule and name):
        raise BadRow("has no Type" if name else "has no Name")
    states = re.split(r"[,;]", line_at(row, "State").replace(" ", "").lower())
    if not _SOLVED_STATES.isdisjoint(states):
        return Check(row=number, location=location, seen_at=None)
    severity = _SEVERITIES.get(line_at(row, "Severity").lower().replace(" ", ""))
    if severity is None:
        raise BadRow(
            "has a Severity that is not one of Critical, High, Medium, Low, Information, BestPractice"
        )
    return _finding(number, row, severity, location)


def _finding(number: int, row: JsonObject, severity: Severity, location: str) -> ReportedFinding:
    texts = {key: html_text(text_of(row.get(key))) for key in _TEXTS}
    kind: Kind = "confirmed" if row.get("Confirmed") is True else "suspected"
    links = (
        link for key in ("ExternalReferences", "RemedyReferences") for link in links_in(text_of(row.get(key)))
    )
    known = [line_at(each, "Title") for each in dicts_at(row, "KnownVulnerabilities")]
    return ReportedFinding(
        row=number,
        identity=(line_at(row, "Type"),),
        rule=line_at(row, "Type"),
        severity=severity,
        severity_raw=line_at(row, "Severity"),
        kind="informational" if severity is Severity.INFO else kind,
        title=line_at(row, "Name"),
        description="\n\n".join(filter(None, [texts["Description"], texts["Impact"]])),
        remediation=texts["RemedialProcedure"] or texts["RemedialActions"],
        references=list(links),
        cwe=numbers_in([line_at(object_at(row, "Classification"), "Cwe")]),
        cve=cves_in([line_at(row, "Name"), *known]),
        location=location,
        evidence="\n\n".join(_evidence(row, texts["ProofOfConcept"])),
    )


def _evidence(row: JsonObject, proof: str) -> Iterator[str]:
    certainty = line_at(row, "Certainty")
    yield from labelled_lines({"Certainty": f"{certainty} %" if certainty else ""})
    yield from section("Proof", proof)
    infos = dicts_at(row, "ExtraInformation")
    facts = (f"{line_at(info, 'Name')}: {line_at(info, 'Value')}" for info in infos)
    yield from section("Found", html_text("\n".join(facts)))
    yield from section("Request", text_of(object_at(row, "HttpRequest").get("Content")))
    yield from section("Response", text_of(object_at(row, "HttpResponse").get("Content")))
