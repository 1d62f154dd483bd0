"""Our own JSON lines, for any scanner; docs/findings.schema.json is generated from this module.

The first line names the scan. Each further line is a row: a finding or a check. An optional last line says
how the scan ended.
"""

import re
from datetime import datetime
from typing import Annotated, Any, BinaryIO, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from dashboard_api.scanners.json_rows import read_rows
from dashboard_api.scanners.members import JsonObject
from dashboard_api.scanners.report import (
    RULE_LENGTH,
    SEVERITIES,
    BadRow,
    Check,
    Ending,
    Kind,
    ReportedFinding,
    ScanReport,
    Severity,
    UnreadableReport,
    convert_rows,
)
from dashboard_api.scanners.text import checked_source_name, one_line
from dashboard_api.scanners.times import as_utc

HEAD_PATTERN = re.compile(rb'\A(?:\xef\xbb\xbf)?\s*\{[^{}]*"scan"\s*:\s*"findings/1"')

# In patterns, "$" alone allows a line break at the end, hence "(?!\n)"; JSON Schema has no "\Z".
Text = Annotated[str, Meta(min_length=1)]
Time = Annotated[datetime, Meta(tz=True)]


class ScanLine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The first line, which names the scanner."""

    scan: Literal["findings/1"]
    source: Annotated[str, Meta(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$(?!\n)", max_length=50)]
    name: Annotated[str, Meta(max_length=100)] = ""
    version: Annotated[str, Meta(max_length=50)] = ""
    scanned_at: Time | UnsetType = UNSET


class FindingLine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A problem at one location."""

    finding: Annotated[Text, Meta(description="The rule: an id or a name that stays the same.")]
    matcher: Annotated[str, Meta(description="Distinguishes problems of one rule.")] = ""
    title: Text
    severity: Literal["critical", "high", "medium", "low", "info"]
    kind: Kind | None = None
    location: Annotated[Text, Meta(description="An address, or a path below --base-url.")]
    description: str = ""
    remediation: str = ""
    evidence: str = ""
    references: list[str] = []
    cwe: list[Annotated[int, Meta(ge=1, le=999_999)]] = []
    cve: list[Annotated[str, Meta(pattern=r"^CVE-[0-9]{4}-[0-9]{4,19}$(?!\n)")]] = []
    seen_at: Time | UnsetType = UNSET


class CheckLine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A location without problems; with an error, one where the check failed."""

    checked: Annotated[Text, Meta(description="An address, or a path below --base-url.")]
    error: Annotated[str, Meta(max_length=200)] = ""
    rules: Annotated[
        list[Text], Meta(max_length=20, description="The rules whose check failed; empty: every rule.")
    ] = []
    skipped: Annotated[
        list[Text],
        Meta(max_length=20, description="Rules that were not checked here, which is not a failure."),
    ] = []
    seen_at: Time | UnsetType = UNSET


class EndLine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The optional last line: whether the scan ran to its end, and when it ended."""

    complete: bool
    scanned_at: Time | UnsetType = UNSET


Line = TypeVar("Line", bound=Struct)
# The kind of a line by the member that only it has.
_LINE_KINDS: dict[str, type[FindingLine] | type[CheckLine] | type[EndLine]] = {
    "finding": FindingLine,
    "checked": CheckLine,
    "complete": EndLine,
}


def read(stream: BinaryIO) -> ScanReport:
    """Return the report in ``stream``; raises UnreadableReport."""
    rows = read_rows(stream)
    _, first = next(rows, (0, BadRow("is missing")))  # its number does not matter
    try:
        if isinstance(first, BadRow):
            raise first
        scan = _line_of_kind(ScanLine, first)
        scanned_at = _utc(scan.scanned_at)
    except BadRow as error:
        raise UnreadableReport(f"The first line names no scan: it {error}.") from error
    return ScanReport(
        source=scan.source,
        source_name=checked_source_name(scan.name, scan.source),
        version=scan.version,
        scanned_at=scanned_at,
        entries=convert_rows(rows, _convert),
    )


def _convert(number: int, row: JsonObject) -> ReportedFinding | Check | Ending:
    line_kind = next((kind for key, kind in _LINE_KINDS.items() if key in row), None)
    if line_kind is None:
        raise BadRow("is not a finding, a check or the end line")
    line = _line_of_kind(line_kind, row)
    if isinstance(line, EndLine):
        return Ending(complete=line.complete, scanned_at=_utc(line.scanned_at))
    if isinstance(line, CheckLine):
        location, error = one_line(line.checked), one_line(line.error)
        rules, skipped = (
            tuple(one_line(rule)[:RULE_LENGTH] for rule in names) for names in (line.rules, line.skipped)
        )
        return Check(
            row=number,
            location=location,
            seen_at=_utc(line.seen_at),
            error=error,
            rules=rules,
            skipped=skipped,
        )
    return _finding(number, line)


def _finding(number: int, line: FindingLine) -> ReportedFinding:
    severity = SEVERITIES[line.severity]
    return ReportedFinding(
        row=number,
        identity=(line.finding, line.matcher),
        rule=line.finding,
        severity=severity,
        severity_raw=line.severity,
        kind=line.kind or ("informational" if severity is Severity.INFO else "confirmed"),
        title=line.title,
        description=line.description,
        remediation=line.remediation,
        references=line.references,
        cwe=line.cwe,
        cve=line.cve,
        location=line.location,
        evidence=line.evidence,
        seen_at=_utc(line.seen_at),
    )


def _line_of_kind(kind: type[Line], row: JsonObject) -> Line:
    try:
        return msgspec.convert(row, kind)
    except UnicodeEncodeError as error:
        raise BadRow("holds half of a character") from error
    except msgspec.ValidationError as error:
        raise BadRow(f"is not valid: {one_line(str(error))[:300]}") from error


def _utc(time: datetime | UnsetType) -> datetime | None:
    if isinstance(time, UnsetType):
        return None
    if (moment := as_utc(time)) is None:
        raise BadRow("has a time that is out of range")
    return moment


def schema() -> dict[str, Any]:
    """Return the JSON Schema of one line."""
    kinds = [ScanLine, *_LINE_KINDS.values()]
    lines, definitions = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Findings of any scanner, as JSON lines",
        "description": "A line: first ScanLine, then FindingLine and CheckLine, last EndLine.",
        "oneOf": list(lines),
        "$defs": definitions,
    }
