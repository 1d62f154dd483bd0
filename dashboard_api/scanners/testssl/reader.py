"""testssl.sh: JSON, flat (--jsonfile) and pretty (--jsonfile-pretty), of version 3.0 and later.

Members are those that ``fileout_json_finding`` and its neighbours in testssl.sh write. A row is an entry
with an id. A scan ran to its end when ``scanTime`` is a number, and was whole when it reported protocols,
ciphers, the certificate and vulnerabilities.
"""

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import BinaryIO

from dashboard_api.scanners.json_values import read_document
from dashboard_api.scanners.members import Row, line_of
from dashboard_api.scanners.report import (
    BadRow,
    Check,
    ReportedFinding,
    ScanReport,
    UnreadableReport,
    tell_each,
)
from dashboard_api.scanners.testssl.check_ids import SEVERITIES, SUITES_OF
from dashboard_api.scanners.testssl.entries import Entry, flat_entries, pretty_entries
from dashboard_api.scanners.testssl.findings import finding, group_of, grouped

_NOTHING_FOUND = {"OK", "INFO"}
_NOT_CHECKED = {"WARN", "DEBUG", "FATAL", "CANNOT BE DETERMINED"}  # the last is a slip for cert_keySize
_CHECKED = {*SEVERITIES, *_NOTHING_FOUND}
# Entries about the scanner's own OpenSSL, and those that testssl.sh never rates: their failure hides nothing.
_NO_CHECK = {
    "engine_problem",
    "optimal_proto",
    "ALPN",
    "NPN",
    "QUIC",
    "clientsimulation",
    "sessionresumption_ticket",
    "sessionresumption_ID",
}
_WHOLE = ("TLS1_2", "cipherlist_NULL", "cert_notAfter", "heartbleed")
_HEAD = re.compile(rb'"id"\s*:\s*"[^"]*"\s*,\s*"ip"\s*:|"clientProblem\d+"\s*:|"Invocation"\s*:')


def recognises(head: bytes) -> bool:
    """Whether it begins like testssl.sh's, flat or pretty."""
    return _HEAD.search(head) is not None


def read(stream: BinaryIO) -> ScanReport:
    """The report in ``stream``; raises UnreadableReport."""
    document = read_document(stream)
    if isinstance(document, list):
        head: Row = {}
        entries = list(flat_entries(document))
    elif isinstance(document, dict) and "scanResult" in document:
        head = document
        entries = list(pretty_entries(document))
    else:
        raise UnreadableReport("The file is no report of testssl.sh: neither a list nor a scanResult.")
    entries = _placed(entries)
    known = [entry for entry in entries if isinstance(entry, Entry)]
    has_begun = any(entry.word in _CHECKED for entry in known)
    groups = grouped(known)

    def outcome(number: int, entry: Entry) -> ReportedFinding | Check:
        group = group_of(entry, groups)
        if group and group[0] is entry:
            return finding(number, group)
        return _check(number, entry, has_begun=has_begun)

    return ScanReport(
        source="testssl",
        source_name="testssl.sh",
        version=line_of(head, "version").partition(" ")[0],
        complete=_completeness(head, known),
        scanned_at=_end(head),
        names_targets=True,
        checks=set(),
        rule_separators="_-",  # BEAST_CBC_TLS1 is listed only where BEAST was found with TLS 1.0
        told=tell_each(enumerate(entries, start=1), outcome),
    )


def _placed(entries: list[Entry | BadRow]) -> list[Entry | BadRow]:
    """Give entries without a server, which are about the scanner itself, the first server's location."""
    place = next((entry.location for entry in entries if isinstance(entry, Entry) and entry.location), "")
    return [
        replace(entry, location=place) if isinstance(entry, Entry) and not entry.location else entry
        for entry in entries
    ]


def _check(number: int, entry: Entry, *, has_begun: bool) -> Check:
    """A row that makes no finding of its own.

    Where the scan has not begun, entries about the scanner itself say why.
    """
    what, location = entry.named, entry.location
    if not what.check:
        raise BadRow("has no id")
    if not location:
        raise BadRow("names no server")
    if entry.word not in _CHECKED | _NOT_CHECKED:
        raise BadRow("has a severity that testssl.sh does not know")
    has_failed = entry.word in _NOT_CHECKED and not what.is_detail
    if not has_failed or (has_begun and what.check in _NO_CHECK):
        return Check(row=number, location=location, seen_at=None, rules=_looked_at(entry))
    error = f"{what.check}: {entry.result or entry.word.lower()}"[:200]
    return Check(row=number, location=location, seen_at=None, error=error, rules=(what.problem,))


def _looked_at(entry: Entry) -> tuple[str, ...]:
    """Return the rules that an entry without a problem checked.

    Version 3.0 lists suites without rating them (INFO); a protocol that is not offered has no weak suites.
    """
    what = entry.named
    if what.is_detail or (what.is_suite and entry.word == "INFO"):
        return ()
    if what.check in SUITES_OF and entry.result.startswith("not offered"):
        return what.problem, SUITES_OF[what.check]
    return (what.problem,)


def _completeness(head: Row, entries: list[Entry]) -> bool | None:
    times = [entry.result for entry in entries if line_of(entry.row, "id") == "scanTime"]
    times = times or [line_of(head, "scanTime")]
    if any(entry.word == "FATAL" for entry in entries) or "Scan interrupted" in times:
        return False
    checks = {entry.named.check for entry in entries}
    return True if all(text.isdecimal() for text in times) and checks.issuperset(_WHOLE) else None


def _end(head: Row) -> datetime | None:
    """The time that a pretty report gives in seconds: when it started, and how long it took."""
    started, took = line_of(head, "startTime"), line_of(head, "scanTime")
    if not (started.isdecimal() and started.isascii() and len(started) <= 11):
        return None
    seconds = int(took) if took.isdecimal() and took.isascii() and len(took) <= 7 else 0
    return datetime.fromtimestamp(int(started) + seconds, tz=UTC)
