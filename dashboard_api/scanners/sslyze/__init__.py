"""Reader of SSLyze's JSON (--json_out) since version 3.

Sources: ``sslyze/json/json_output.py`` and the results of the scan commands. A row is a check of a server, a
failed command, an unreachable server, or an invalid target. The module ``checks`` decides what is a problem.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO

from dashboard_api.scanners.json_values import read_document
from dashboard_api.scanners.members import JsonObject, known_time_at, line_at, object_at, objects_in, time_at
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
from dashboard_api.scanners.sslyze.before_5 import as_version_5, is_before_5
from dashboard_api.scanners.sslyze.checks import (
    CHECKS,
    OF_ALL_SUITES,
    SUITES,
    Judge,
    NoResult,
    Problem,
    no_problem,
)
from dashboard_api.scanners.text import host_and_port, labelled_lines, section

_NO_RESULT = "no result"
_TRIED_STATUSES = {"COMPLETED", "ERROR"}
HEAD_PATTERN = re.compile(rb'"(?:sslyze_version|server_scan_results|invalid_server_strings)"\s*:')


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """Check of a server with its problem, if any, or a failed command with all its checks."""

    location: str
    address: str = ""
    checks: tuple[str, ...] = ()
    problem: Problem | None = None
    error: str = ""


def read(stream: BinaryIO) -> ScanReport:
    """Return the report in ``stream``; raises UnreadableReport."""
    document = read_document(stream)
    if not isinstance(document, dict) or not isinstance(document.get("server_scan_results"), list):
        raise UnreadableReport(
            "The file is not a report of sslyze 3 or later: it has no server_scan_results. Versions before 3 "
            "are not read: scan again with a newer one."
        )
    if is_before_5(document):
        document = as_version_5(document)
    servers = objects_in(document["server_scan_results"])

    def entries() -> Iterator[ReportRow | Ending]:
        # The importer sets judged_at after ``read`` returns and before it reads rows.
        judged_at = report.judged_at or known_time_at(document, "date_scans_completed")
        yield from convert_rows(enumerate(_rows(document, servers, judged_at), start=1), _convert)

    report = ScanReport(
        source="sslyze",
        source_name="SSLyze",
        version=line_at(document, "sslyze_version"),
        complete=_completeness(servers),
        scanned_at=time_at(document, "date_scans_completed", "date_scans_started"),
        names_every_target=True,
        checks=set(),  # the importer adds the rules of the rows
        entries=entries(),
    )
    return report


def _rows(
    document: JsonObject, servers: Sequence[JsonObject | BadRow], scanned_at: datetime | None
) -> Iterator[_Row | BadRow]:
    for target in objects_in(document.get("invalid_server_strings")):
        if isinstance(target, BadRow):
            yield target
        else:
            error = line_at(target, "error_message") or "is not a server"
            yield _Row(location=line_at(target, "server_string"), error=error)
    for server in servers:
        if isinstance(server, BadRow):
            yield server
        else:
            yield from _checks(server, scanned_at)


def _checks(server: JsonObject, scanned_at: datetime | None) -> Iterator[_Row | BadRow]:
    server_location = object_at(server, "server_location")
    host, port = line_at(server_location, "hostname"), line_at(server_location, "port")
    location = host_and_port(host, port) if host else ""
    address = line_at(server_location, "ip_address")
    results = object_at(server, "scan_result")
    if not results:
        yield _Row(location=location, error=_last_line(server, "connectivity_error_trace") or "no connection")
    for command, attempt in results.items():
        if not isinstance(attempt, dict | None):
            yield BadRow(f"has no JSON object for {command[:50]}")
        elif failure := _failure(attempt):
            checks = tuple(CHECKS.get(command, [command]))
            yield _Row(location=location, error=f"{command}: {failure}", checks=checks)
        elif attempt and attempt.get("status") == "COMPLETED":
            result = object_at(attempt, "result")
            for name, judge in CHECKS.get(command, {command: no_problem}).items():
                problem, error = _problem_or_error(name, judge, result, scanned_at)
                yield _Row(location=location, address=address, checks=(name,), problem=problem, error=error)
        elif attempt and attempt.get("status") != "NOT_SCHEDULED":
            yield BadRow(f"has an unknown status: {line_at(attempt, 'status')[:50] or 'none'}")
    if (accepted := _suites_of_all_versions(results)) is not None:
        for name, judge in OF_ALL_SUITES.items():
            problem, _ = _problem_or_error(name, judge, accepted, scanned_at)
            yield _Row(location=location, address=address, checks=(name,), problem=problem)


def _suites_of_all_versions(results: JsonObject) -> JsonObject | None:
    """Return the accepted suites of all TLS versions, if SSLyze tried every version."""
    tried = [object_at(object_at(results, command), "result") for command in SUITES]
    if not all(isinstance(each.get("accepted_cipher_suites"), list) for each in tried):
        return None
    return {"accepted_cipher_suites": [suite for each in tried for suite in each["accepted_cipher_suites"]]}


def _problem_or_error(
    name: str, judge: Judge, result: JsonObject, scanned_at: datetime | None
) -> tuple[Problem | None, str]:
    """Return the problem, if any, and an error text if the check has no result."""
    try:
        return judge(result, scanned_at), ""
    except NoResult as error:
        return None, f"{name}: {error}"


def _failure(attempt: JsonObject | None) -> str:
    """Return why a command has no result; empty if it has one."""
    if attempt is None:
        return _NO_RESULT
    status, result = attempt.get("status"), attempt.get("result")
    if status == "ERROR":
        return line_at(attempt, "error_reason") or _last_line(attempt, "error_trace") or "failed"
    if status == "COMPLETED" and not isinstance(result, dict):
        return _NO_RESULT
    return _last_line(object_at(attempt, "result"), "http_error_trace")


def _convert(number: int, row: _Row) -> ReportedFinding | Check:
    if not row.location:
        raise BadRow("names no server")
    problem = row.problem
    if problem is None:
        return Check(row=number, location=row.location, seen_at=None, error=row.error[:200], rules=row.checks)
    text, (check,) = problem.text, row.checks  # a problem has one check
    facts = {"Check": check, "IP address": row.address, "Server": row.location}
    return ReportedFinding(
        row=number,
        identity=(check,),
        rule=check,
        severity=text.severity,
        severity_raw="",
        kind="confirmed",
        title=text.title,
        description=text.description,
        remediation=text.remediation,
        cve=text.cve,
        cwe=text.cwe,
        location=row.location,
        evidence="\n\n".join([*labelled_lines(facts), *section("Result", problem.evidence)]),
    )


def _completeness(servers: Sequence[JsonObject | BadRow]) -> bool | None:
    """Return True if every command was tried on every reached server; failed commands are rows."""
    results = [object_at(server, "scan_result") if isinstance(server, dict) else {} for server in servers]
    reached = [result for result in results if result]
    was_tried = all(
        line_at(object_at(result, command), "status") in _TRIED_STATUSES
        for result in reached
        for command in CHECKS
    )
    return True if reached and was_tried else None


def _last_line(parent: JsonObject, key: str) -> str:
    """Return the last line of a traceback; the others show paths on the scanner's machine."""
    trace = parent.get(key)
    lines = trace.strip().splitlines() if isinstance(trace, str) else []
    return lines[-1] if lines else ""
