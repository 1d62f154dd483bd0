"""Reader of testssl.sh JSON, flat (--jsonfile) and pretty, and CSV (--csvfile), since version 3.0.

Source: ``fileout_json_finding`` and its callers in testssl.sh. CSV has the members of flat JSON, with the
server in ``fqdn/ip``. A row is an entry with an id. A scan is complete if ``scanTime`` is a number and the
report covers protocols, ciphers, the certificate and vulnerabilities.
"""

import io
import re
from dataclasses import replace
from datetime import datetime, timedelta
from typing import BinaryIO

from dashboard_api import limits
from dashboard_api.scanners.csv_rows import CsvRows
from dashboard_api.scanners.json_values import decode, read_all
from dashboard_api.scanners.members import JsonObject, line_at, time_at
from dashboard_api.scanners.report import (
    BadRow,
    Check,
    ReportedFinding,
    ScanReport,
    UnreadableReport,
    convert_rows,
)
from dashboard_api.scanners.streams import joined
from dashboard_api.scanners.testssl.check_ids import RATINGS, SUITES_OF, WRITTEN_WITH
from dashboard_api.scanners.testssl.entries import Entry, flat_entries, pretty_entries
from dashboard_api.scanners.testssl.findings import finding, group_entries, group_of
from dashboard_api.scanners.times import Time

_NOTHING_FOUND = {"OK", "INFO"}
# Ratings of checks that failed. testssl.sh writes the last of these by mistake, for cert_keySize.
_NOT_CHECKED = {"WARN", "DEBUG", "FATAL", "CANNOT BE DETERMINED"}
_CHECKED = {*RATINGS, *_NOTHING_FOUND}
# Entries about the scanner's OpenSSL, and entries without a rating. Their failure hides no problem.
_HIDES_NO_PROBLEM = {
    "engine_problem",
    "optimal_proto",
    "ALPN",
    "NPN",
    "QUIC",
    "clientsimulation",
    "sessionresumption_ticket",
    "sessionresumption_ID",
}
# Results that do not prove the absence of problems in WRITTEN_WITH: DHE suites, because another row is about
# their group, a page that may lack the cookies, and an empty list.
_SHOWS_NO_MORE = re.compile(r"\b(?:DHE|EDH)-|TLS_DHE_|better try|maybe missed|\A\Z")
_PROTOCOLS = {"SSLv2", "SSLv3", "TLS1", "TLS1_1", "TLS1_2", "TLS1_3"}
_NOT_OFFERED = {"not offered", "likely not offered"}  # a longer result says that another version answered
# A check in each part of a complete scan.
_CHECK_OF_EACH_PART = ("TLS1_2", "cipherlist_NULL", "cert_notAfter", "heartbleed")
_CSV_HEAD_PATTERN = re.compile(rb'\A(?:\xef\xbb\xbf)?\s*"?id"?,"?fqdn/ip"?,"?port"?,"?severity"?,"?finding"?')
HEAD_PATTERN = re.compile(
    rb'"id"\s*:\s*"[^"]*"\s*,\s*"ip"\s*:|"clientProblem\d+"\s*:|"Invocation"\s*:|' + _CSV_HEAD_PATTERN.pattern
)


def read(stream: BinaryIO) -> ScanReport:
    """Return the report in ``stream``; raises UnreadableReport."""
    head, entries = _head_and_entries(stream)
    target = line_at(head, "Invocation").rpartition(" ")[2]  # the only mention of an unreachable target
    entries = _with_locations(entries, default=target)
    valid = [entry for entry in entries if isinstance(entry, Entry)]
    without_tls = _servers_without_tls(valid)
    with_tls = [entry for entry in valid if _server(entry) not in without_tls]
    has_begun = any(entry.rating in _CHECKED for entry in with_tls)
    groups = group_entries(with_tls)

    def convert(number: int, entry: Entry) -> ReportedFinding | Check:
        if _server(entry) in without_tls and entry.check_id.check:
            error = f"{entry.check_id.check}: no TLS handshake succeeded"
            return Check(row=number, location=entry.location, seen_at=None, error=error)
        group = group_of(entry, groups)
        if group and group[0] is entry:  # the others of the group are checks
            return finding(number, group)
        return _check(number, entry, has_begun=has_begun)

    return ScanReport(
        source="testssl",
        source_name="testssl.sh",
        version=line_at(head, "version").partition(" ")[0],
        complete=_completeness(head, valid),
        failure=_failure(head, valid),
        scanned_at=_end(head),
        names_every_target=True,
        checks=set(),  # the importer adds the rules of the rows
        rule_separators="_-",  # BEAST_CBC_TLS1 is reported only together with BEAST and TLS 1.0
        entries=convert_rows(enumerate(entries, start=1), convert),
    )


def _head_and_entries(stream: BinaryIO) -> tuple[JsonObject, list[Entry | BadRow]]:
    """Return the members about the whole scan, which only a pretty report has, and the entries."""
    start = stream.read(100)
    whole = joined(start, stream)
    if _CSV_HEAD_PATTERN.search(start):
        data = read_all(whole, limits.MAX_DECODED_BYTES)
        rows = [
            row if isinstance(row, BadRow) else row | {"ip": row.get("fqdn/ip", "")}
            for _, row in CsvRows(io.BytesIO(data))
        ]
        return {}, list(flat_entries(rows))
    document = decode(read_all(whole, limits.MAX_DECODED_BYTES))
    if isinstance(document, BadRow):
        raise UnreadableReport(
            f"The file {document}. testssl.sh writes broken JSON where it has a problem: let it scan with "
            "`--csvfile report.csv`."
        )
    if isinstance(document, list):
        return {}, list(flat_entries(document))
    if isinstance(document, dict) and "scanResult" in document:
        return document, list(pretty_entries(document))
    raise UnreadableReport("The file is not a report of testssl.sh: neither a list nor a scanResult.")


def _with_locations(entries: list[Entry | BadRow], *, default: str) -> list[Entry | BadRow]:
    """Give entries about the scanner itself the location of the first server."""
    locations = (entry.location for entry in entries if isinstance(entry, Entry))
    first = next(filter(None, locations), default)
    return [
        replace(entry, location=first) if isinstance(entry, Entry) and not entry.location else entry
        for entry in entries
    ]


def _server(entry: Entry) -> tuple[str, str]:
    return entry.location, entry.address


def _servers_without_tls(entries: list[Entry]) -> set[tuple[str, str]]:
    """Return the servers that answered no TLS handshake; their TLS is unknown.

    testssl.sh continues with such a server and rates every check, so its ratings have no meaning.
    """
    offers: dict[tuple[str, str], dict[str, bool]] = {}
    for entry in entries:
        if entry.check_id.check in _PROTOCOLS and entry.rating in _CHECKED:
            is_offered = entry.result not in _NOT_OFFERED
            offers.setdefault(_server(entry), {})[entry.check_id.check] = is_offered
    return {
        server
        for server, protocols in offers.items()
        if {"TLS1_2", "TLS1_3"} <= protocols.keys() and not any(protocols.values())
    }


def _check(number: int, entry: Entry, *, has_begun: bool) -> Check:
    """Return the check for an entry that is not a finding.

    If the scan never began, entries about the scanner itself are failed checks: they say why.
    """
    check_id, location = entry.check_id, entry.location
    if not check_id.check:
        raise BadRow("has no id")
    if not location:
        raise BadRow("names no server")
    if entry.rating not in _CHECKED | _NOT_CHECKED:
        raise BadRow("has a severity that testssl.sh does not know")
    has_failed = entry.rating in _NOT_CHECKED and not check_id.is_detail
    if not has_failed or (has_begun and check_id.check in _HIDES_NO_PROBLEM):
        return Check(row=number, location=location, seen_at=None, rules=_checked_rules(entry))
    error = f"{check_id.check}: {entry.result or entry.rating.lower()}"[:200]
    return Check(row=number, location=location, seen_at=None, error=error, rules=(check_id.problem,))


def _checked_rules(entry: Entry) -> tuple[str, ...]:
    """Return the rules that an entry without a problem proves to be checked.

    Version 3.0 lists suites without a rating (INFO). A protocol that is not offered has no weak suites.
    """
    check_id = entry.check_id
    if check_id.is_detail or (check_id.is_suite and entry.rating == "INFO"):
        return ()
    if check_id.check in SUITES_OF and entry.result.startswith("not offered"):
        return check_id.problem, SUITES_OF[check_id.check]
    if entry.rating not in _CHECKED or _SHOWS_NO_MORE.search(entry.result):
        return (check_id.problem,)
    return check_id.problem, *WRITTEN_WITH.get(check_id.problem, ())


def _scan_times(head: JsonObject, entries: list[Entry]) -> list[str]:
    """Return the seconds that each server took, as text, or words if the scan was interrupted."""
    times = [entry.result for entry in entries if line_at(entry.row, "id") == "scanTime"]
    return times or [line_at(head, "scanTime")]


def _failure(head: JsonObject, entries: list[Entry]) -> str:
    fatal = next((entry.result or "FATAL" for entry in entries if entry.rating == "FATAL"), "")
    return fatal or ("the scan was interrupted" if "Scan interrupted" in _scan_times(head, entries) else "")


def _completeness(head: JsonObject, entries: list[Entry]) -> bool | None:
    checks = {entry.check_id.check for entry in entries}
    has_ended = all(text.isdecimal() for text in _scan_times(head, entries))
    return True if has_ended and checks.issuperset(_CHECK_OF_EACH_PART) else None


def _end(head: JsonObject) -> Time:
    """Return the end of the scan: start plus duration in seconds, which only a pretty report has."""
    start, duration = time_at(head, "startTime"), line_at(head, "scanTime")
    seconds = int(duration) if duration.isdecimal() and duration.isascii() and len(duration) <= 7 else 0
    return start + timedelta(seconds=seconds) if isinstance(start, datetime) else start
