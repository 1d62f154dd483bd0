"""Reader of Greenbone (OpenVAS) XML reports.

Source: the response of ``get_reports`` in the Greenbone Management Protocol. A row is a result; hosts and
errors are checks. A filter may hide results, so the report cannot say that it is complete.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, NamedTuple

import msgspec

from dashboard_api.scanners.report import (
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
from dashboard_api.scanners.text import cves_in, host_and_port, labelled_lines, one_line, section
from dashboard_api.scanners.times import read_time
from dashboard_api.scanners.xml_document import (
    Element,
    XmlRows,
    child,
    children,
    head_pattern,
    text_at,
    text_in,
)

HEAD_PATTERN = head_pattern(
    r'report(?=[^>]{0,500}\s(?:format_id|extension|type="scan"))', "get_reports_response"
)
_PORT = re.compile(r"(\d{1,5})/(?:tcp|udp)", re.ASCII)
_SCHEMES = {"443": "https://", "80": "http://"}
# Severities by the least score.
_CVSS = [(9.0, Severity.CRITICAL), (7.0, Severity.HIGH), (4.0, Severity.MEDIUM), (0.1, Severity.LOW)]
_MIN_SURE_QUALITY = 95  # percent of quality of detection: an active test, or the version of a package
_FALSE_POSITIVE = "false positive"
_DESCRIPTION_TAGS = ["summary", "insight", "impact", "affected"]


class _Row(NamedTuple):
    """Result at a host or, without ``result``, the host itself with an optional error of a test."""

    result: Element | None
    host: str
    error: str = ""
    test: str = ""  # the failed test; empty: every test


def read(stream: BinaryIO) -> ScanReport:
    """Return the report in ``stream``; raises UnreadableReport."""
    # A detail is not a row; naming it here drops it from memory.
    rows = XmlRows(stream, row_names=["result", "detail", "error"])
    if not _inner(rows.root):
        raise UnreadableReport("The file is not a report of Greenbone: it has no report with a scan.")

    def entries() -> Iterator[ReportRow | Ending]:  # runs only when ``report`` below exists
        yield from convert_rows(_rows(rows, report.choose_host), _convert)
        inner = _inner(rows.root)
        status = one_line(text_at(inner, "scan_run_status"))
        yield Ending(
            scanned_at=read_time(one_line(text_at(inner, "scan_end") or text_at(inner, "scan_start"))),
            failure="" if status in ("Done", "") else f"the status of the scan is {status}",
        )

    report = ScanReport(
        source="greenbone", source_name="Greenbone", names_every_target=True, entries=entries()
    )
    return report


def _inner(root: Element) -> Element:
    """Return the innermost report, which has the scan; empty if there is no scan."""
    element = root.get("get_reports_response", [root])[0]
    while "report" in element:
        element = element["report"][0]
    return element if element is not root and ("scan_run_status" in element or "results" in element) else {}


def _rows(rows: XmlRows, choose_host: Callable[[Iterable[str]], str]) -> Iterator[tuple[int, _Row]]:
    """Yield numbered rows: results, then hosts, then errors.

    The file names hosts after the results, so a result without a host name waits until the end. An error
    without a host, such as an interrupted scan, applies to every host.
    """
    numbers = itertools.count(1)
    names: dict[str, str] = {}  # by address
    waiting: list[tuple[int, str, bytes]] = []  # number, address, encoded result
    errors: list[tuple[str, str, str]] = []  # address, text, test
    for row in rows:
        host = child(row.element, "host")
        address = one_line(text_in(host)) or one_line(text_at(row.parent("host"), "ip"))
        if row.name == "result":
            if name := one_line(text_at(host, "hostname")):
                names[address] = name
            if name or not address:
                yield next(numbers), _Row(row.element, choose_host([name, address]))
            else:
                waiting.append((next(numbers), address, msgspec.msgpack.encode(row.element)))
        elif row.path[-2:] == ("errors", "error"):
            text = one_line(text_at(row.element, "description"))[:200] or "no description"
            errors.append((address, text, one_line(text_at(child(row.element, "nvt"), "@oid"))))
        elif one_line(text_at(row.element, "name")) == "hostname":  # a detail of the host
            names.setdefault(address, one_line(text_at(row.element, "value")))
    for number, address, result in waiting:
        yield number, _Row(msgspec.msgpack.decode(result), choose_host([names.get(address, ""), address]))
    hosts = children(_inner(rows.root), "host")
    error_everywhere = next((text for address, text, _ in errors if not address), "") if hosts else ""
    for host in hosts:
        address = one_line(text_at(host, "ip"))
        yield (
            next(numbers),
            _Row(None, choose_host([names.get(address, ""), address]), error=error_everywhere),
        )
    for address, text, test in errors:
        if address or not error_everywhere:
            found = _Row(
                None,
                choose_host([names.get(address, ""), address]),
                error=text,
                test="" if test == "0" else test,
            )
            yield next(numbers), found


def _convert(number: int, row: _Row) -> ReportedFinding | Check:
    result = row.result
    if not row.host:
        raise BadRow("names no host")
    if result is None:
        rules = (row.test,) if row.test else ()
        return Check(row=number, location=row.host, seen_at=None, error=row.error, rules=rules)
    port = _PORT.search(text_at(result, "port"))
    location = _SCHEMES.get(port[1], "") + host_and_port(row.host, port[1]) if port else row.host
    if one_line(text_at(result, "threat")).lower() == _FALSE_POSITIVE:
        return Check(row=number, location=location, seen_at=None)
    return _finding(number, result, location)


def _finding(number: int, result: Element, location: str) -> ReportedFinding:
    test = child(result, "nvt")
    oid = one_line(text_at(test, "@oid"))
    title = one_line(text_at(result, "name")) or one_line(text_at(test, "name"))
    if not (oid and title):
        raise BadRow("has no oid" if title else "has no name")
    severity, score = _severity(result)
    pairs = (part.partition("=") for part in text_at(test, "tags").split("|"))  # "summary=...|solution=..."
    tags = {name.strip(): value.strip() for name, _, value in pairs}
    refs = [(text_at(ref, "@type"), text_at(ref, "@id")) for ref in children(child(test, "refs"), "ref")]
    solution = text_at(test, "solution").strip() or tags.get("solution", "")
    return ReportedFinding(
        row=number,
        identity=(oid,),
        rule=oid,
        severity=severity,
        severity_raw=one_line(f"{text_at(result, 'threat')} {score}"),
        kind="informational" if severity is Severity.INFO else _kind(result),
        title=title,
        description="\n\n".join(filter(None, (tags.get(part, "") for part in _DESCRIPTION_TAGS))),
        remediation=solution,
        references=[
            *(text for kind, text in refs if kind == "url"),
            text_at(test, "xref").replace("URL:", " "),
        ],
        cve=cves_in([*(text for kind, text in refs if kind == "cve"), text_at(test, "cve")]),
        location=location,
        evidence="\n\n".join(_evidence(result, test, tags)),
    )


def _severity(result: Element) -> tuple[Severity, str]:
    score = one_line(text_at(result, "severity"))
    try:
        value = float(score)
    except ValueError as error:
        raise BadRow("has a severity that is not a number") from error
    return next((severity for least, severity in _CVSS if value >= least), Severity.INFO), score


def _kind(result: Element) -> Kind:
    quality = one_line(text_at(child(result, "qod"), "value"))
    is_sure = (
        quality.isascii() and quality.isdecimal() and len(quality) <= 3 and int(quality) >= _MIN_SURE_QUALITY
    )
    return "confirmed" if is_sure else "suspected"


def _evidence(result: Element, test: Element, tags: dict[str, str]) -> Iterator[str]:
    quality = one_line(text_at(child(result, "qod"), "value"))
    yield from labelled_lines(
        {
            "Port": one_line(text_at(result, "port")),
            "Family": one_line(text_at(test, "family")),
            "Quality of detection": f"{quality} %" if quality else "",
            "CVSS": tags.get("cvss_base_vector", ""),
        }
    )
    yield from section("Result", text_at(result, "description"))
