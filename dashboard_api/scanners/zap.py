"""Reader of ZAP's traditional JSON and XML reports, with or without "plus".

Sources: ``traditional-json-plus/report.json`` and ``traditional-xml-plus/report.xml`` in
zaproxy/zap-extensions. A row is an instance of an alert, an alert without instances, or a site without
alerts. The format does not say whether a scan was complete.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from textwrap import dedent
from typing import Any, BinaryIO

from dashboard_api.scanners import xml_document
from dashboard_api.scanners.json_values import open_document
from dashboard_api.scanners.lazy_list import LazyList
from dashboard_api.scanners.members import (
    JsonObject,
    line_at,
    list_at,
    objects_in,
    text_of,
    time_at,
)
from dashboard_api.scanners.redaction import REDACTED
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
from dashboard_api.scanners.streams import joined
from dashboard_api.scanners.text import cves_in, labelled_lines, numbers_in, plain_text, section

_SEVERITIES = {"3": Severity.HIGH, "2": Severity.MEDIUM, "1": Severity.LOW, "0": Severity.INFO}
# By confidence; 4 is "confirmed by a user".
_KINDS: dict[str, Kind] = {"4": "confirmed", "3": "confirmed", "2": "suspected", "1": "suspected"}
_FALSE_POSITIVE = "0"
_TOKEN_RULES = {"10112"}  # their evidence is a session token
_COOKIE_RULES = {"90033"}  # they list cookies with values
_COOKIE = re.compile(r"^([^=\s]+=).*", re.MULTILINE)  # the group is "name="
_XML_ROOT = "OWASPZAPReport"
HEAD_PATTERN = re.compile(
    rb'<OWASPZAPReport|"@(?:programName|generated)"\s*:|"site"\s*:\s*\[\s*\{\s*"@name"\s*:'
)
_TEXTS = [
    *("pluginid", "alertRef", "alert", "name", "riskcode", "confidence", "riskdesc"),
    *("desc", "solution", "otherinfo", "reference", "cweid", "wascid", "systemic"),
]
_MARKUP = ("desc", "solution", "reference")  # the same for all instances of an alert
_INSTANCE_TEXTS = ["uri", "method", "param", "attack", "evidence", "otherinfo"]
_NUMEROUS_ELEMENTS = ("alertitem", "instance")  # of the XML
_MESSAGES = ("request-header", "request-body", "response-header", "response-body")


def read(stream: BinaryIO) -> ScanReport:
    """Return the report in ``stream``; raises UnreadableReport."""
    head = stream.read(100)
    whole = joined(head, stream)
    is_xml = head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")
    document = (
        _from_xml(xml_document.read_xml(whole, kept_encoded=_NUMEROUS_ELEMENTS))
        if is_xml
        else open_document(whole)
    )
    if not isinstance(document, dict) or "site" not in document:
        raise UnreadableReport("The file is not a report of ZAP: it has no site.")
    return ScanReport(
        source="zap",
        source_name="ZAP",
        version=line_at(document, "@version"),
        scanned_at=time_at(document, "created", "@generated"),
        names_every_target=True,
        entries=convert_rows(enumerate(_rows(document), start=1), _convert),
    )


def _rows(document: JsonObject) -> Iterator[tuple[JsonObject, JsonObject, Any] | BadRow]:
    """Yield site, alert and instance of each row; a missing alert or instance is an empty object."""
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
            alert_in_plain_text = alert | {name: plain_text(text_of(alert.get(name))) for name in _MARKUP}
            for instance in list_at(alert, "instances") or [{}]:
                yield site, alert_in_plain_text, instance


def _convert(number: int, row: tuple[JsonObject, JsonObject, Any]) -> ReportedFinding | Check:
    site, alert, instance = row
    if not isinstance(instance, dict):
        raise BadRow("is not a JSON object")
    location = line_at(instance, "uri") or line_at(site, "@name")
    if not location:
        raise BadRow("names no location: neither the instance's uri nor the site's name")
    if not alert or line_at(alert, "confidence") == _FALSE_POSITIVE:
        return Check(row=number, location=location, seen_at=None)
    return _finding(number, alert, instance, location)


def _finding(number: int, alert: JsonObject, instance: JsonObject, location: str) -> ReportedFinding:
    plugin, reference, name = (line_at(alert, key) for key in ("pluginid", "alertRef", "name"))
    name = name or line_at(alert, "alert")
    if not (plugin or reference):
        raise BadRow("has neither alertRef nor pluginid")
    severity = _SEVERITIES.get(line_at(alert, "riskcode"))
    if severity is None:
        raise BadRow("has a riskcode that is not one of 0 to 3")
    certainty = _KINDS.get(line_at(alert, "confidence"), "suspected")
    description = alert["desc"]
    # Before ZAP 2.11, alerts had no alertRef, and a plugin had several alerts with different names.
    # Later versions gave some of them an alertRef such as 10038-1, which was the plugin's number before.
    identities: list[tuple[str, ...]] = [(reference,), (plugin,)] if reference else []
    identity, *older_identities = dict.fromkeys([*identities, (plugin, name)])  # each once
    return ReportedFinding(
        row=number,
        identity=identity,
        aliases=older_identities if plugin else [],  # without a plugin, other alerts would have them as well
        rule=reference or plugin,
        severity=severity,
        severity_raw=line_at(alert, "riskdesc"),
        kind="informational" if severity is Severity.INFO else certainty,
        title=name or f"ZAP {reference or plugin}",
        description=description,
        remediation=alert["solution"],
        references=[alert["reference"]],
        cwe=numbers_in([line_at(alert, "cweid")]) if line_at(alert, "cweid").isdigit() else [],
        cve=cves_in((name, description, alert["reference"], text_of(alert.get("otherinfo")))),
        location=location,
        evidence="\n\n".join(_evidence(alert, instance, location)),
        is_sampled=alert.get("systemic") in (True, "true"),  # ZAP then lists only a few instances
    )


def _evidence(alert: JsonObject, instance: JsonObject, location: str) -> Iterator[str]:
    wasc = line_at(alert, "wascid")
    yield from labelled_lines(
        {
            # The import removes query and fragment from the location.
            "URL": location if "?" in location or "#" in location else "",
            "Method": line_at(instance, "method"),
            "Parameter": line_at(instance, "param"),
            "WASC": wasc if wasc.isdigit() and wasc != "0" else "",
        }
    )
    yield from section("Attack", text_of(instance.get("attack")))
    plugin, evidence = line_at(alert, "pluginid"), text_of(instance.get("evidence"))
    yield from section("Evidence", REDACTED if evidence and plugin in _TOKEN_RULES else evidence)
    information = plain_text(text_of((instance if "otherinfo" in instance else alert).get("otherinfo")))
    if plugin in _COOKIE_RULES:
        information = _COOKIE.sub(rf"\1{REDACTED}", information)
    yield from section("Other information", information)
    request_header, request_body, response_header, response_body = (
        text_of(instance.get(name)) for name in _MESSAGES
    )
    yield from section("Request", f"{request_header.strip()}\n\n{request_body}")
    yield from section("Response", f"{response_header.strip()}\n\n{response_body}")


def _from_xml(document: xml_document.Element) -> JsonObject:
    """Return the XML report in the shape of the JSON report."""
    root = xml_document.child(document, _XML_ROOT)
    if _XML_ROOT not in document:
        raise UnreadableReport(f"The file is not a report of ZAP: its root is not {_XML_ROOT}.")
    return {
        "@version": xml_document.text_at(root, "@version"),
        "@generated": xml_document.text_at(root, "@generated"),
        "created": xml_document.text_at(root, "@created"),
        "site": [_site(site) for site in xml_document.children(root, "site")],
    }


def _site(site: xml_document.Element) -> JsonObject:
    alerts = _grouped(site, "alerts", "alertitem", _alert)
    return {"@name": xml_document.text_at(site, "@name"), "alerts": alerts}


def _alert(alert: xml_document.Element) -> JsonObject:
    return _texts(alert, _TEXTS) | {"instances": _grouped(alert, "instances", "instance", _instance)}


def _instance(instance: xml_document.Element) -> JsonObject:
    return _texts(instance, _INSTANCE_TEXTS) | {
        name: dedent(xml_document.text_at(instance, name.replace("-", ""))) for name in _MESSAGES
    }


def _grouped(
    element: xml_document.Element,
    group: str,
    name: str,
    convert: Callable[[xml_document.Element], JsonObject],
) -> Sequence[JsonObject]:
    """Return the lazily converted elements ``name`` inside the element ``group``."""
    parent = next(iter(xml_document.children(element, group)), {})
    return LazyList(xml_document.children(parent, name), convert)


def _texts(element: xml_document.Element, names: list[str]) -> JsonObject:
    """Return the texts of the children, without the indentation that XML tools add."""
    return {name: dedent(xml_document.text_at(element, name)) for name in names if name in element}
