"""sslyze, JSON (--json_out), of version 3 and later.

Members are those of ``sslyze/json/json_output.py`` and of the scan commands' results; ``sslyze_before_5``
lays out what versions 3 and 4 wrote. A row is one check of one server (a scan command; the certificate is
four), a server that could not be reached, or a target that was no server. What sslyze did not schedule is
no row. What counts as a problem, and how bad it is, sslyze does not say: ``sslyze_checks`` does.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import BinaryIO

from dashboard_api.scanners.json_values import read_document
from dashboard_api.scanners.layout import named, section
from dashboard_api.scanners.members import Row, line_of, object_of, objects_in, time_of
from dashboard_api.scanners.report import (
    BadRow,
    Check,
    ReportedFinding,
    ScanReport,
    UnreadableReport,
    tell_each,
)
from dashboard_api.scanners.sslyze_before_5 import as_version_5, is_before_5
from dashboard_api.scanners.sslyze_checks import CHECKS, Problem

_TRIED = {"COMPLETED", "ERROR"}
_HEAD = re.compile(rb'"(?:sslyze_version|server_scan_results|invalid_server_strings)"\s*:')


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """One check of one server, and what was found; or why a command with its checks could not be run."""

    location: str
    address: str = ""
    checks: tuple[str, ...] = ()
    problem: Problem | None = None
    error: str = ""


def recognises(head: bytes) -> bool:
    """Whether it begins like sslyze's."""
    return _HEAD.search(head) is not None


def read(stream: BinaryIO) -> ScanReport:
    """The report in ``stream``; raises UnreadableReport."""
    document = read_document(stream)
    if not isinstance(document, dict) or not isinstance(document.get("server_scan_results"), list):
        raise UnreadableReport(
            "The file is no report of sslyze 3 or later: it has no server_scan_results. Versions before 3 "
            "are not read: scan again with a newer one."
        )
    if is_before_5(document):
        document = as_version_5(document)
    servers = objects_in(document["server_scan_results"])
    return ScanReport(
        source="sslyze",
        source_name="SSLyze",
        version=line_of(document, "sslyze_version"),
        complete=_completeness(servers),
        scanned_at=time_of(document, "date_scans_completed", "date_scans_started"),
        names_targets=True,
        checks=set(),
        told=tell_each(enumerate(_rows(document, servers), start=1), _told),
    )


def _rows(document: Row, servers: Sequence[Row | BadRow]) -> Iterator[_Row | BadRow]:
    for target in objects_in(document.get("invalid_server_strings")):
        if isinstance(target, BadRow):
            yield target
        else:
            why = line_of(target, "error_message") or "is no server"
            yield _Row(location=line_of(target, "server_string"), error=why)
    for server in servers:
        if isinstance(server, BadRow):
            yield server
        else:
            yield from _checks(server, line_of(document, "date_scans_completed") or _now())


def _checks(server: Row, scanned_at: str) -> Iterator[_Row | BadRow]:
    where = object_of(server, "server_location")
    host, port = line_of(where, "hostname"), line_of(where, "port")
    location = f"{host}:{port}" if host and port else host
    address = line_of(where, "ip_address")
    results = object_of(server, "scan_result")
    if not results:
        yield _Row(location=location, error=_last_line(server, "connectivity_error_trace") or "no connection")
    for command, attempt in results.items():
        if not isinstance(attempt, dict):
            yield BadRow("is not a JSON object")
        elif why := _failure(attempt):
            checks = tuple(CHECKS.get(command, [command]))
            yield _Row(location=location, error=f"{command}: {why}", checks=checks)
        elif attempt.get("status") == "COMPLETED":
            result = object_of(attempt, "result")
            for name, check in CHECKS.get(command, {command: None}).items():
                problem = check(result, scanned_at) if check else None
                yield _Row(location=location, address=address, checks=(name,), problem=problem)
        elif attempt.get("status") != "NOT_SCHEDULED":
            yield BadRow(f"has an unknown status: {line_of(attempt, 'status')[:50] or 'none'}")


def _failure(attempt: Row) -> str:
    """Why there is no result; a page that could not be asked for is told within one."""
    if attempt.get("status") == "ERROR":
        return line_of(attempt, "error_reason") or _last_line(attempt, "error_trace") or "failed"
    return _last_line(object_of(attempt, "result"), "http_error_trace")


def _now() -> str:
    """When a certificate that is imported today has expired, if its report has no time."""
    return datetime.now(UTC).isoformat()


def _told(number: int, row: _Row) -> ReportedFinding | Check:
    if not row.location:
        raise BadRow("names no server")
    problem = row.problem
    if problem is None:
        return Check(row=number, location=row.location, seen_at=None, error=row.error[:200], rules=row.checks)
    (check,) = row.checks
    facts = {"Check": check, "IP address": row.address, "Server": row.location}
    return ReportedFinding.cleaned(
        row=number,
        identity=(check,),
        rule=check,
        severity=problem.severity,
        severity_raw="",
        kind="confirmed",
        title=problem.title,
        description=problem.description,
        remediation=problem.remediation,
        cve=problem.cve,
        cwe=problem.cwe,
        location=row.location,
        evidence="\n\n".join([*named(facts), *section("Result", problem.evidence)]),
    )


def _completeness(servers: Sequence[Row | BadRow]) -> bool | None:
    """Whether everything was tried on every server that was reached; what failed has a row of its own."""
    results = [object_of(server, "scan_result") if isinstance(server, dict) else {} for server in servers]
    reached = [result for result in results if result]
    was_tried = all(
        line_of(object_of(result, command), "status") in _TRIED for result in reached for command in CHECKS
    )
    return True if reached and was_tried else None


def _last_line(parent: Row, key: str) -> str:
    """What a traceback ends with; it begins with paths of the scanner's machine."""
    trace = parent.get(key)
    lines = trace.strip().splitlines() if isinstance(trace, str) else []
    return lines[-1] if lines else ""
