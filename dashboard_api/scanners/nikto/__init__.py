"""Reader of Nikto's JSON and XML reports (-Format json, -Format xml).

Sources: ``nikto_report_json.plugin`` since 2016, ``xml_host_head.tmpl`` and ``xml_host_item.tmpl``; XML
members get the names of the JSON. A row is an item of a host; a host without items, or a host that could not
be scanned, is a check. Nikto has no ratings and does not say whether a scan was complete.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, BinaryIO

from dashboard_api import limits
from dashboard_api.scanners.json_values import decode_lazily, read_all, too_large
from dashboard_api.scanners.members import (
    JsonObject,
    line_at,
    list_at,
    objects_in,
    texts_of,
    time_at,
)
from dashboard_api.scanners.nikto.almost_json import read_almost_json
from dashboard_api.scanners.nikto.problems import recognise
from dashboard_api.scanners.nikto.xml_items import XML_HEAD_PATTERN, xml_rows
from dashboard_api.scanners.problem_texts import ProblemText
from dashboard_api.scanners.report import (
    BadRow,
    Check,
    Ending,
    ReportedFinding,
    ReportRow,
    ScanReport,
    UnreadableReport,
    convert_rows,
)
from dashboard_api.scanners.streams import joined
from dashboard_api.scanners.text import (
    cves_in,
    cwes_in,
    host_and_port,
    labelled_lines,
    section,
    without_numbers,
)
from dashboard_api.scanners.times import Time, newest
from dashboard_api.scanners.xml_document import XmlRows, child, text_at

HEAD_PATTERN = re.compile(
    rb'"(?:server_)?banner"\s*:\s*"|"vulnerabilities"\s*:\s*\[\s*(?:\{\s*"id"|\])|' + XML_HEAD_PATTERN.pattern
)
_FAILURE = "FAIL"  # id of the item that says why the host could not be scanned
_HOST_MEMBERS = {"host", "ip", "port"}  # other tools' objects with "vulnerabilities" lack them
_SCHEMES = {"443": "https://", "80": "http://"}
_OSVDB = re.compile(r"^OSVDB-\d+:\s*")
_REFERENCE = re.compile(r"\bSee:?\s<?https?://.*|https?://\S+$", re.IGNORECASE)
# The blank between two sentences; not the one in "e.g. this" or "version 2. 5".
_BETWEEN_SENTENCES = re.compile(r"(?<=[a-z)\]'\"]\.)\s+(?=[A-Z])")
_CWE_PAGE = re.compile(r"cwe\.mitre\.org/data/definitions/", re.IGNORECASE)
_MAX_TITLE_SOURCE = 1000  # characters of a message
_AFTER_COLON = re.compile(r":(?=\s).*", re.DOTALL)


def read(stream: BinaryIO) -> ScanReport:
    """Return the report in ``stream``; raises UnreadableReport."""
    start = stream.read(1000)
    whole = joined(start, stream)
    return _read_xml(whole) if XML_HEAD_PATTERN.search(start) else _read_json(whole)


def _read_json(stream: BinaryIO) -> ScanReport:
    data = read_all(stream)
    document = decode_lazily(data)
    if isinstance(document, BadRow):
        if len(data) > limits.MAX_DECODED_BYTES:
            raise UnreadableReport(f"The file {document}, and {too_large(limits.MAX_DECODED_BYTES)}.")
        document = read_almost_json(data)
    if not any(_hosts(document)):
        raise UnreadableReport(
            "The file is not a complete report of Nikto. If its scan was interrupted, let it run to its end, "
            "and write a new file with -Format json."
        )
    ends = [time_at(host, "end_time", "start_time") for host in _hosts(document)]
    return _report(_rows(_hosts(document)), ends)


def _read_xml(stream: BinaryIO) -> ScanReport:
    rows = XmlRows(stream, row_names=["item", "scandetails"])
    if not rows.are_left:
        raise UnreadableReport("The file is not a complete report of Nikto: it has no host.")
    outer = child(rows.root, "niktoscan") or child(rows.root, "niktoscans")
    version = text_at(outer, "@version") or text_at(child(outer, "niktoscan"), "@version")
    ends: list[Time] = []
    return _report(xml_rows(rows, ends), ends, version=version)


def _report(rows: Iterator[tuple[JsonObject, Any]], ends: Sequence[Time], *, version: str = "") -> ScanReport:
    """Return the report of ``rows``; reading the last row completes ``ends``."""

    def entries() -> Iterator[ReportRow | Ending]:  # runs only when ``report`` below exists
        yield from convert_rows(enumerate(rows, start=1), partial(_convert, choose_host=report.choose_host))
        yield Ending(scanned_at=newest(ends))  # the start of the scan, if its end is in 1970

    report = ScanReport(
        source="nikto",
        source_name="Nikto",
        version=version,
        names_every_target=True,
        entries=entries(),
    )
    return report


def _hosts(document: object) -> Iterator[JsonObject]:
    hosts = objects_in(document)
    return (
        host
        for host in hosts
        if isinstance(host, dict) and "vulnerabilities" in host and host.keys() & _HOST_MEMBERS
    )


def _rows(hosts: Iterable[JsonObject]) -> Iterator[tuple[JsonObject, Any]]:
    for host in hosts:
        for item in list_at(host, "vulnerabilities") or [None]:
            yield host, item


def _convert(
    number: int, row: tuple[JsonObject, Any], *, choose_host: Callable[[Iterable[str]], str]
) -> ReportedFinding | Check:
    host, item = row
    name, port = choose_host([line_at(host, "host"), line_at(host, "ip")]), line_at(host, "port")
    if not name:
        raise BadRow("names no host")
    location = _scheme(host) + host_and_port(name, port)
    if item is None:
        return Check(row=number, location=location, seen_at=None)
    if not isinstance(item, dict):
        raise BadRow("is not a JSON object")
    rule, url = line_at(item, "id"), line_at(item, "url")
    message = _message(line_at(item, "msg"), url)
    if not (rule and message):
        raise BadRow("has no id" if message else "has no msg")
    if rule == _FAILURE:
        return Check(row=number, location=location, seen_at=None, error=message[:200])
    url_of_item = url if url.startswith("/") else f"/{url}"
    return _finding(number, message, host, item, location + url_of_item)


def _scheme(host: JsonObject) -> str:
    """Return the scheme by the port or, in XML, by the website's address; empty if neither shows it."""
    site = line_at(host, "site")
    scheme_of_site = next((scheme for scheme in _SCHEMES.values() if site.startswith(scheme)), "")
    return _SCHEMES.get(line_at(host, "port"), scheme_of_site)


def _finding(number: int, message: str, host: JsonObject, item: JsonObject, location: str) -> ReportedFinding:
    rule, url = line_at(item, "id"), line_at(item, "url")
    texts = [message, line_at(item, "references")]
    cves = cves_in(texts)
    identity_by_id = rule, _matcher(message, url)  # the identity of unknown problems
    problem = recognise(message)
    if problem is None:
        title, description = _title_and_description(message, url)
        text = ProblemText(title=title, severity_name="medium" if cves else "info", description=description)
    else:
        text, title = problem.text, problem.title
    return ReportedFinding(
        row=number,
        identity=problem.identity if problem else identity_by_id,
        aliases=[identity_by_id] if problem else (),
        rule=problem.rule if problem else rule,
        severity=text.severity,
        severity_raw="",
        kind=problem.kind if problem else "suspected",
        title=title,
        description=text.description,
        remediation=text.remediation,
        references=[each.replace(",", " ") for each in reversed(texts)],
        cwe=[*cwes_in(_CWE_PAGE.sub("CWE-", each) for each in texts), *text.cwe],
        cve=[*cves, *text.cve],
        location=location,
        evidence="\n\n".join(_evidence(host, item, message)),
    )


def _title_and_description(message: str, url: str) -> tuple[str, str]:
    """Return the first sentence as the title; the whole message as the description if it is longer."""
    text = _REFERENCE.sub("", message[:_MAX_TITLE_SOURCE]).rstrip(" :")
    if text.startswith("This might be interesting"):
        return f"Possibly interesting address: {url}", ""
    first = _BETWEEN_SENTENCES.split(text, maxsplit=1)[0]
    return first.rstrip(". ") or message, "" if first == text else message


def _evidence(host: JsonObject, item: JsonObject, message: str) -> Iterator[str]:
    url, osvdb = line_at(item, "url"), line_at(item, "OSVDB")
    yield from labelled_lines(
        {
            "Nikto's id": line_at(item, "id"),
            "Method": line_at(item, "method"),
            "URL": url if "?" in url else "",  # the import removes the query from the location
            "IP address": line_at(host, "ip"),
            "Server": line_at(host, "server_banner", "banner"),
            "OSVDB": osvdb if osvdb != "0" else "",
            "Other references": " ".join(
                text for text in texts_of(item.get("references")) if not text.startswith("http")
            ),
        }
    )
    yield from section("Message", message)


def _message(message: str, url: str) -> str:
    """Return the message without its leading address; some versions escape quotes twice."""
    message = _OSVDB.sub("", message.replace('\\"', '"'))
    if url and message.startswith(f"{url}:"):
        message = message[len(url) :]
    return message.removeprefix(":").strip()


def _matcher(message: str, url: str) -> str:
    """Return the part of the message that tells problems of one id apart."""
    if url.strip("/"):
        message = message.replace(url, "")
    return without_numbers(_AFTER_COLON.sub("", message))
