"""Nikto, JSON (-Format json).

Members are those of ``nikto_report_json.plugin`` in its versions since 2016. A row is an item of a host; a
host without items is a row of coverage. Nikto rates nothing (``nikto_problems`` rates its most frequent
reports) and does not say whether a scan was complete. ``nikto_by_hand`` reads reports that are almost JSON.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, BinaryIO

from dashboard_api import limits
from dashboard_api.scanners.json_values import opened, oversized, whole_file
from dashboard_api.scanners.layout import named, section
from dashboard_api.scanners.members import Row, as_utc, line_of, list_of, objects_in, texts_of
from dashboard_api.scanners.nikto_by_hand import hosts_by_hand
from dashboard_api.scanners.nikto_problems import recognised
from dashboard_api.scanners.report import (
    BadRow,
    Check,
    ReportedFinding,
    ScanReport,
    Severity,
    UnreadableReport,
    tell_each,
)
from dashboard_api.scanners.text import without_numbers
from dashboard_api.scanners.weaknesses import cve_names, cwe_names

_HEAD = re.compile(rb'"(?:server_)?banner"\s*:|"vulnerabilities"\s*:\s*\[\s*(?:\{\s*"id"|\])')
_SCHEMES = {"443": "https://", "80": "http://"}
_OSVDB = re.compile(r"^OSVDB-\d+:\s*")
_SEE = re.compile(r"\bSee:?\s<?https?://.*|https?://\S+$", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[a-z)\]'\"]\.)\s+(?=[A-Z])")
_CWE_PAGE = re.compile(r"cwe\.mitre\.org/data/definitions/", re.IGNORECASE)
_LOOKED_AT = 1000  # characters of a message that a title is made from
_AFTER_COLON = re.compile(r":(?=\s).*", re.DOTALL)


def recognises(head: bytes) -> bool:
    """Whether it begins like Nikto's."""
    return _HEAD.search(head) is not None


def read(stream: BinaryIO) -> ScanReport:
    """The report in ``stream``; raises UnreadableReport."""
    data = whole_file(stream)
    document = opened(data)
    if isinstance(document, BadRow):
        if len(data) > limits.MAX_DECODED_BYTES:
            raise UnreadableReport(f"The file {document}, and {oversized(limits.MAX_DECODED_BYTES)}.")
        document = hosts_by_hand(data)
    if not any(_hosts(document)):
        raise UnreadableReport(
            "The file is no whole report of Nikto. If its scan was interrupted, let it run to its end, and "
            "write a new file with -Format json."
        )
    rows = enumerate(_rows(_hosts(document)), start=1)
    ends = [end for host in _hosts(document) if (end := _time(line_of(host, "end_time", "start_time")))]
    return ScanReport(
        source="nikto",
        source_name="Nikto",
        scanned_at=max(ends, default=None),
        names_targets=True,
        told=tell_each(rows, _told),
    )


def _hosts(document: object) -> Iterator[Row]:
    hosts = objects_in(document)
    return (host for host in hosts if isinstance(host, dict) and "vulnerabilities" in host)


def _time(text: str) -> datetime | None:
    """Since 2025, "2026-03-01 10:00:00 +0100"."""
    try:
        return as_utc(datetime.strptime(text, "%Y-%m-%d %H:%M:%S %z"))
    except ValueError:
        return None


def _rows(hosts: Iterable[Row]) -> Iterator[tuple[Row, Any]]:
    for host in hosts:
        for item in list_of(host, "vulnerabilities") or [None]:
            yield host, item


def _told(number: int, row: tuple[Row, Any]) -> ReportedFinding | Check:
    host, item = row
    name, port = line_of(host, "host", "ip"), line_of(host, "port")
    if not name:
        raise BadRow("names no host")
    place = f"{_SCHEMES.get(port, '')}{name}" + (f":{port}" if port else "")
    if item is None:
        return Check(row=number, location=place, seen_at=None)
    if not isinstance(item, dict):
        raise BadRow("is not a JSON object")
    rule, url = line_of(item, "id"), line_of(item, "url")
    message = _message(line_of(item, "msg"), url)
    if not (rule and message):
        raise BadRow("has no id" if message else "has no msg")
    problem = recognised(message)
    named_in = [message, line_of(item, "references")]
    cves = cve_names(named_in)
    own_words = rule, _matcher(message, url)
    title, description = _in_words(message, url)
    return ReportedFinding.cleaned(
        row=number,
        identity=problem.identity if problem else own_words,
        aliases=[own_words] if problem else (),
        rule=problem.rule if problem else rule,
        severity=problem.known.severity if problem else Severity.MEDIUM if cves else Severity.INFO,
        severity_raw="",
        kind=problem.kind if problem else "suspected",
        title=problem.title if problem else title,
        description=problem.known.meaning if problem else description,
        remediation=problem.known.remedy if problem else "",
        references=[text.replace(",", " ") for text in reversed(named_in)],
        cwe=[
            *cwe_names(_CWE_PAGE.sub("CWE-", text) for text in named_in),
            *(problem.known.cwe if problem else ()),
        ],
        cve=[*cves, *(problem.known.cve if problem else ())],
        location=place + (url if url.startswith("/") else f"/{url}"),
        evidence="\n\n".join(_evidence(host, item, message)),
    )


def _in_words(message: str, url: str) -> tuple[str, str]:
    """Return a title, and a description where the message says more."""
    text = _SEE.sub("", message[:_LOOKED_AT]).rstrip(" :")
    if text.startswith("This might be interesting"):
        return f"Possibly interesting address: {url}", ""
    first = _SENTENCE.split(text, maxsplit=1)[0]
    return first.rstrip(". ") or message, "" if first == text else message


def _evidence(host: Row, item: Row, message: str) -> Iterator[str]:
    yield from named(
        {
            "Nikto's id": line_of(item, "id"),
            "Method": line_of(item, "method"),
            "URL": url if "?" in (url := line_of(item, "url")) else "",
            "IP address": line_of(host, "ip"),
            "Server": line_of(host, "server_banner", "banner"),
            "OSVDB": osvdb if (osvdb := line_of(item, "OSVDB")) != "0" else "",
            "Other references": " ".join(
                text for text in texts_of(item.get("references")) if not text.startswith("http")
            ),
        }
    )
    yield from section("Message", message)


def _message(message: str, url: str) -> str:
    """What is said, without the address it is said about; some versions quote twice."""
    message = _OSVDB.sub("", message.replace('\\"', '"'))
    if url and message.startswith(f"{url}:"):
        message = message[len(url) :]
    return message.removeprefix(":").strip()


def _matcher(message: str, url: str) -> str:
    """What tells problems of one id apart: not the address, nor numbers, nor what was found there."""
    if url.strip("/"):
        message = message.replace(url, "")
    return without_numbers(_AFTER_COLON.sub("", message))
