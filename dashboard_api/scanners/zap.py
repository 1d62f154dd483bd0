"""ZAP's traditional reports, JSON and XML, the "plus" ones too.

Members are those of ``traditional-json-plus/report.json`` and ``traditional-xml-plus/report.xml`` in
zaproxy/zap-extensions. A row is an instance of an alert; an alert that lists none, and a site without
alerts, are rows as well. The format cannot tell whether a scan was complete.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from textwrap import dedent
from typing import Any, BinaryIO

from dashboard_api.scanners import xml_document
from dashboard_api.scanners.json_values import open_document
from dashboard_api.scanners.layout import named, section
from dashboard_api.scanners.lazy_list import Items
from dashboard_api.scanners.markup import plain_text
from dashboard_api.scanners.members import Row, line_of, list_of, moment, objects_in, text_of, written_moment
from dashboard_api.scanners.redaction import REDACTED
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
from dashboard_api.scanners.streams import joined
from dashboard_api.scanners.weaknesses import cve_names, cwe_numbers

_SEVERITIES = {"3": Severity.HIGH, "2": Severity.MEDIUM, "1": Severity.LOW, "0": Severity.INFO}
_KINDS: dict[str, Kind] = {"4": "confirmed", "3": "confirmed", "2": "suspected", "1": "suspected"}
_FALSE_POSITIVE = "0"
# Rules whose evidence is a session's token, or whose other information lists cookies with their values.
_TOKEN_RULES = {"10112"}
_COOKIE_RULES = {"90033"}
_COOKIE = re.compile(r"^([^=\s]+=).*", re.MULTILINE)
_XML_ROOT = "OWASPZAPReport"
_JSON_HEAD = re.compile(rb'"@(?:programName|generated)"\s*:|"site"\s*:\s*\[\s*\{\s*"@name"\s*:')
_TEXTS = [
    *("pluginid", "alertRef", "alert", "name", "riskcode", "confidence", "riskdesc"),
    *("desc", "solution", "otherinfo", "reference", "cweid", "wascid", "systemic"),
]
_INSTANCE_TEXTS = ["uri", "method", "param", "attack", "evidence", "otherinfo"]
_REPEATED = ("alertitem", "instance")
_MESSAGES = ("request-header", "request-body", "response-header", "response-body")


def recognises(head: bytes) -> bool:
    """Whether it begins like ZAP's JSON or XML."""
    return f"<{_XML_ROOT}".encode() in head or _JSON_HEAD.search(head) is not None


def read(stream: BinaryIO) -> ScanReport:
    """The report in ``stream``; raises UnreadableReport."""
    start = stream.read(100)
    whole = joined(start, stream)
    is_xml = start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")
    document = _from_xml(xml_document.read_xml(whole, packed=_REPEATED)) if is_xml else open_document(whole)
    if not isinstance(document, dict) or "site" not in document:
        raise UnreadableReport("The file is no report of ZAP: it has no site.")
    created = moment(line_of(document, "created")) or written_moment(line_of(document, "@generated"))
    return ScanReport(
        source="zap",
        source_name="ZAP",
        version=line_of(document, "@version"),
        scanned_at=created,
        names_targets=True,
        told=tell_each(enumerate(_rows(document), start=1), _told),
    )


def _rows(document: Row) -> Iterator[tuple[Row, Row, Any] | BadRow]:
    """Sites, alerts and instances, the last two empty where there is none."""
    for site in objects_in(document.get("site")):
        if isinstance(site, BadRow):
            yield site
            continue
        alerts = objects_in(site.get("alerts"))
        if not alerts:
            yield site, {}, {}
        for alert in alerts:
            if isinstance(alert, BadRow):
                yield alert
                continue
            for instance in list_of(alert, "instances") or [{}]:
                yield site, alert, instance


def _told(number: int, row: tuple[Row, Row, Any]) -> ReportedFinding | Check:
    site, alert, instance = row
    if not isinstance(instance, dict):
        raise BadRow("is not a JSON object")
    location = line_of(instance, "uri") or line_of(site, "@name")
    if not location:
        raise BadRow("names no place: neither the instance's uri nor the site's name")
    if not alert or line_of(alert, "confidence") == _FALSE_POSITIVE:
        return Check(row=number, location=location, seen_at=None)
    return _finding(number, alert, instance, location)


def _finding(number: int, alert: Row, instance: Row, location: str) -> ReportedFinding:
    plugin, reference, name = (line_of(alert, key) for key in ("pluginid", "alertRef", "name"))
    name = name or line_of(alert, "alert")
    if not (plugin or reference):
        raise BadRow("has neither alertRef nor pluginid")
    severity = _SEVERITIES.get(line_of(alert, "riskcode"))
    if severity is None:
        raise BadRow("has a riskcode that is none of 0 to 3")
    certainty = _KINDS.get(line_of(alert, "confidence"), "suspected")
    description = plain_text(text_of(alert.get("desc")))
    return ReportedFinding.cleaned(
        row=number,
        # Reports from before ZAP 2.11 have no alertRef, and several alerts of one plugin.
        identity=(reference,) if reference else (plugin, name),
        rule=reference or plugin,
        severity=severity,
        severity_raw=line_of(alert, "riskdesc"),
        kind="informational" if severity is Severity.INFO else certainty,
        title=name or f"ZAP {reference or plugin}",
        description=description,
        remediation=plain_text(text_of(alert.get("solution"))),
        references=[plain_text(text_of(alert.get("reference")))],
        cwe=cwe_numbers([line_of(alert, "cweid")]) if line_of(alert, "cweid").isdigit() else [],
        cve=cve_names(map(text_of, (name, description, alert.get("reference"), alert.get("otherinfo")))),
        location=location,
        evidence="\n\n".join(_evidence(alert, instance, location)),
        is_sampled=alert.get("systemic") in (True, "true"),
    )


def _evidence(alert: Row, instance: Row, location: str) -> Iterator[str]:
    yield from named(
        {
            "URL": location if "?" in location or "#" in location else "",
            "Method": line_of(instance, "method"),
            "Parameter": line_of(instance, "param"),
            "WASC": wasc if (wasc := line_of(alert, "wascid")).isdigit() and wasc != "0" else "",
        }
    )
    yield from section("Attack", text_of(instance.get("attack")))
    plugin, shown = line_of(alert, "pluginid"), text_of(instance.get("evidence"))
    yield from section("Evidence", REDACTED if shown and plugin in _TOKEN_RULES else shown)
    told = instance if "otherinfo" in instance else alert
    information = plain_text(text_of(told.get("otherinfo")))
    if plugin in _COOKIE_RULES:
        information = _COOKIE.sub(rf"\1{REDACTED}", information)
    yield from section("Other information", information)
    request_header, request_body, response_header, response_body = (
        text_of(instance.get(name)) for name in _MESSAGES
    )
    yield from section("Request", f"{request_header.strip()}\n\n{request_body}")
    yield from section("Response", f"{response_header.strip()}\n\n{response_body}")


def _from_xml(document: xml_document.Element) -> Row:
    """The XML report as the JSON one: the same members but for the names of messages."""
    root, *_ = [*xml_document.children(document, _XML_ROOT), None]
    if root is None:
        raise UnreadableReport(f"The file is no report of ZAP: its root is not {_XML_ROOT}.")
    return {
        "@version": xml_document.text_at(root, "@version"),
        "@generated": xml_document.text_at(root, "@generated"),
        "created": xml_document.text_at(root, "@created"),
        "site": [_site(site) for site in xml_document.children(root, "site")],
    }


def _site(site: xml_document.Element) -> Row:
    alerts = _grouped(site, "alerts", "alertitem", _alert)
    return {"@name": xml_document.text_at(site, "@name"), "alerts": alerts}


def _alert(alert: xml_document.Element) -> Row:
    return _texts(alert, _TEXTS) | {"instances": _grouped(alert, "instances", "instance", _instance)}


def _instance(instance: xml_document.Element) -> Row:
    return _texts(instance, _INSTANCE_TEXTS) | {
        name: dedent(xml_document.text_at(instance, name.replace("-", ""))) for name in _MESSAGES
    }


def _grouped(
    element: xml_document.Element, group: str, name: str, made: Callable[[xml_document.Element], Row]
) -> Sequence[Row]:
    """Return ``made`` of each element ``name`` in the first ``group``, which is the only one."""
    within = next(iter(xml_document.children(element, group)), {})
    return Items(xml_document.children(within, name), made)


def _texts(element: xml_document.Element, names: list[str]) -> Row:
    """The texts of the children, without the indentation that tools add to XML."""
    return {name: dedent(xml_document.text_at(element, name)) for name in names if name in element}
