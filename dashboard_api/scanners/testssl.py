"""testssl.sh: JSON, flat (--jsonfile) and pretty (--jsonfile-pretty), of versions 3.0 and 3.2.

Members are those that ``fileout_json_finding`` and its neighbours in testssl.sh write. A row is an entry
with an id. A scan ran to its end when ``scanTime`` is a number, and was whole when it told of protocols,
ciphers, the certificate and vulnerabilities.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, BinaryIO

from dashboard_api.scanners.json_values import read_document
from dashboard_api.scanners.layout import named, section
from dashboard_api.scanners.members import Row, line_of, objects_in
from dashboard_api.scanners.report import (
    BadRow,
    Check,
    ReportedFinding,
    ScanReport,
    Severity,
    UnreadableReport,
    tell_each,
)
from dashboard_api.scanners.testssl_words import name_of, remedy_of
from dashboard_api.scanners.weaknesses import cve_names, cwe_numbers

_SEVERITIES = {
    "CRITICAL": Severity.CRITICAL,
    "HIGH": Severity.HIGH,
    "MEDIUM": Severity.MEDIUM,
    "LOW": Severity.LOW,
}
_NOTHING_FOUND = {"OK", "INFO"}
_NOT_CHECKED = {"WARN", "DEBUG", "FATAL"}
_TOLD = {*_SEVERITIES, *_NOTHING_FOUND}
_NO_CHECK = {"engine_problem", "optimal_proto"}  # words about the scanner's own OpenSSL
_UNSURE = re.compile(r"\b(?:potential\w*|probabl[ey]|likely|might|may)\b", re.IGNORECASE)
_CERTIFICATE_NUMBER = re.compile(r"\s*<[^<>]*>$")  # "cert_notAfter <hostCert#2>"
_WHOLE = ("TLS1_2", "cipherlist_NULL", "cert_notAfter", "heartbleed")
_LONG = 120  # letters of a result: such a one is a list, and no title
_HEAD = re.compile(rb'"id"\s*:\s*"[^"]*"\s*,\s*"ip"\s*:|"clientProblem\d+"\s*:|"Invocation"\s*:')


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """An entry, and the host, address and port of the server it is about."""

    row: Row
    host: str
    address: str
    port: str


def recognises(head: bytes) -> bool:
    """Whether it begins like testssl.sh's, flat or pretty."""
    return _HEAD.search(head) is not None


def read(stream: BinaryIO) -> ScanReport:
    """The report in ``stream``; raises UnreadableReport."""
    document = read_document(stream)
    if isinstance(document, list):
        head: Row = {}
        entries = list(_flat(document))
    elif isinstance(document, dict) and "scanResult" in document:
        head = document
        entries = list(_pretty(document))
    else:
        raise UnreadableReport("The file is no report of testssl.sh: neither a list nor a scanResult.")
    known = [entry for entry in entries if isinstance(entry, _Entry)]
    has_begun = any(line_of(entry.row, "severity") in _TOLD for entry in known)
    place = next((f"{entry.host}:{entry.port}" for entry in known if entry.host), "")

    def told(number: int, entry: _Entry) -> ReportedFinding | Check:
        return _told(number, entry, place, is_failure=not has_begun)

    return ScanReport(
        source="testssl",
        source_name="testssl.sh",
        version=line_of(head, "version").partition(" ")[0],
        complete=_completeness(head, known),
        scanned_at=_end(head),
        names_targets=True,
        checks=set(),
        rule_separators="_-",  # BEAST_CBC_TLS1 is listed only where BEAST was found with TLS 1.0
        told=tell_each(enumerate(entries, start=1), told),
    )


def _flat(entries: list[Any]) -> Iterator[_Entry | BadRow]:
    for entry in objects_in(entries):
        if isinstance(entry, BadRow):
            yield entry
            continue
        host, _, address = line_of(entry, "ip").partition("/")
        yield _Entry(row=entry, host=host, address=address, port=line_of(entry, "port"))


def _pretty(document: Row) -> Iterator[_Entry | BadRow]:
    for name, problems in document.items():
        if name.startswith("clientProblem"):
            yield from _entries_of(problems, {})
    for server in objects_in(document.get("scanResult")):
        if isinstance(server, BadRow):
            yield server
            continue
        if "id" in server:
            yield from _entries_of(server, server)
        for value in server.values():
            if isinstance(value, list):
                yield from _entries_of(value, server)


def _entries_of(value: object, server: Row) -> Iterator[_Entry | BadRow]:
    host, address, port = (line_of(server, key) for key in ("targetHost", "ip", "port"))
    for entry in objects_in(value):
        if isinstance(entry, BadRow):
            yield entry
        else:
            yield _Entry(row=entry, host=host, address=address, port=port)


def _told(number: int, entry: _Entry, any_place: str, *, is_failure: bool) -> ReportedFinding | Check:
    """What an entry tells; words about the scanner itself name no server and belong to ``any_place``.

    Where nothing else was told, the scan is a failure, and such words are a part of it.
    """
    row = entry.row
    name = _CERTIFICATE_NUMBER.sub("", line_of(row, "id"))
    word, result = line_of(row, "severity").upper(), line_of(row, "finding")
    location = f"{entry.host}:{entry.port}" if entry.host else any_place
    if not name:
        raise BadRow("has no id")
    if not location:
        raise BadRow("names no server")
    if word in _NOTHING_FOUND or (name in _NO_CHECK and not is_failure):
        return Check(row=number, location=location, seen_at=None, rules=(name,))
    if word in _NOT_CHECKED:
        error = f"{name}: {result}"[:200]
        return Check(row=number, location=location, seen_at=None, error=error, rules=(name,))
    if word not in _SEVERITIES:
        raise BadRow("has a severity that testssl.sh does not know")
    label = name_of(name)
    short = "none" if result == "--" else result
    facts = {"Check": name, "IP address": entry.address, "Server": location}
    return ReportedFinding.cleaned(
        row=number,
        identity=(name,),
        rule=name,
        severity=_SEVERITIES[word],
        severity_raw=word,
        kind="suspected" if _UNSURE.search(result) else "confirmed",
        title=f"{label}: {short}" if 0 < len(short) <= _LONG else label,
        remediation=line_of(row, "hint") or remedy_of(name),
        cwe=cwe_numbers([line_of(row, "cwe")]),
        cve=cve_names([line_of(row, "cve")]),
        location=location,
        evidence="\n\n".join([*named(facts), *section("Result", result)]),
    )


def _completeness(head: Row, entries: list[_Entry]) -> bool | None:
    times = [entry.row for entry in entries if line_of(entry.row, "id") == "scanTime"]
    told = [line_of(row, "finding") for row in times] or [line_of(head, "scanTime")]
    if any(line_of(entry.row, "severity") == "FATAL" for entry in entries) or "Scan interrupted" in told:
        return False
    names = {_CERTIFICATE_NUMBER.sub("", line_of(entry.row, "id")) for entry in entries}
    return True if all(text.isdecimal() for text in told) and names.issuperset(_WHOLE) else None


def _end(head: Row) -> datetime | None:
    """The time that a pretty report tells in seconds: when it started, and how long it took."""
    started, took = line_of(head, "startTime"), line_of(head, "scanTime")
    if not (started.isdecimal() and started.isascii() and len(started) <= 11):
        return None
    seconds = int(took) if took.isdecimal() and took.isascii() and len(took) <= 7 else 0
    return datetime.fromtimestamp(int(started) + seconds, tz=UTC)
