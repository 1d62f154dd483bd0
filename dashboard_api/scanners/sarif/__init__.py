"""Reader of SARIF 2.1.0 from any tool. A file holds one report for each tool and category.

Sources: OASIS' ``sarif-schema-2.1.0.json``; where it leaves a choice, GitHub's "SARIF support for code
scanning". A row is a result at one of its addresses, or a file that Semgrep did not analyse. A run is
complete if all its invocations were successful, without warnings or errors. Exit codes do not count: many
tools exit with 1 when they find something.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from dashboard_api import limits
from dashboard_api.scanners.json_values import open_document
from dashboard_api.scanners.lazy_list import is_list
from dashboard_api.scanners.members import (
    JsonObject,
    dicts_at,
    known_time_at,
    line_at,
    list_at,
    object_at,
    text_of,
    texts_of,
    time_at,
)
from dashboard_api.scanners.report import (
    RULE_LENGTH,
    SEVERITIES,
    BadRow,
    Check,
    Kind,
    ReportedFinding,
    ScanReport,
    Severity,
    UnreadableReport,
    convert_rows,
)
from dashboard_api.scanners.sarif.evidence import evidence_of
from dashboard_api.scanners.sarif.identity import identities_of
from dashboard_api.scanners.sarif.run import Run, dicts_at_all, message_text_at, old_names
from dashboard_api.scanners.text import (
    checked_source_name,
    cves_in,
    cwes_in,
    numbers_in,
    one_line,
    slug,
    without_numbers,
)
from dashboard_api.scanners.times import newest

HEAD_PATTERN = re.compile(rb'"runs"\s*:\s*\[')
_LEVELS = {
    "error": Severity.HIGH,
    "warning": Severity.MEDIUM,
    "note": Severity.LOW,
    "none": Severity.INFO,
}
# Severities by the least score.
_SCORES = [(9.0, Severity.CRITICAL), (7.0, Severity.HIGH), (4.0, Severity.MEDIUM), (0.0, Severity.LOW)]
# Some tools write a word as the score.
_SEVERITY_WORDS = {**SEVERITIES, "moderate": Severity.MEDIUM, "informational": Severity.INFO}
_KINDS_WITHOUT_PROBLEM = {"pass", "notApplicable"}
_KINDS: dict[str, Kind] = {"review": "suspected", "open": "suspected", "informational": "informational"}
_MAX_OLD_MATCHERS = 5  # for each old name of the rule
_EXECUTION, _CONFIGURATION = ("toolExecutionNotifications", "toolConfigurationNotifications")
# Semgrep's warnings about a file (with "interfile", a project) that it did not analyse completely.
_NOT_ANALYSED = {
    "AST builder error",
    "Fatal error",
    "Fixpoint timeout",
    "Internal matching error",
    "Lexical error",
    "OOM during interfile analysis",
    "Other syntax error",
    "Out of memory",
    "Stack overflow",
    "Syntax error",
    "Timeout",
    "Timeout during interfile analysis",
    "Too many matches",
}
# Their texts name the file: "Syntax error at line src/a.js:2:", "Timeout when running eval on src/a.js:".
_SEMGREP = ("semgrep", "opengrep")
_NOT_ANALYSED_FILE = re.compile(r"[A-Za-z ]{1,50} (?:at line (.+):\d+|when running \S+ on (.+?)):?[ \t]*")
_MAX_FIRST_LINE = 2_000  # characters
_NOT_SUPPRESSED = {"underReview", "rejected"}
_MAX_ERROR = 200  # characters
_FIRST_SENTENCE = re.compile(r".+?(?:[.!?](?=\s|\Z)|\n|\Z)", re.DOTALL)


def read(stream: BinaryIO) -> ScanReport:
    """Return the report in ``stream``; raises UnreadableReport."""
    document = open_document(stream)
    if not isinstance(document, dict) or not is_list(document.get("runs")):
        raise UnreadableReport("The file is not SARIF: it has no runs.")
    version = line_at(document, "version")
    if version and not version.startswith("2.1."):
        raise UnreadableReport(f"SARIF 2.1.0 is read, and this is SARIF {version[:20]}.")
    runs = _valid_runs(document["runs"])
    results = sum(len(list_at(run, "results")) for run in runs)
    if results > limits.MAX_SARIF_RESULTS:
        raise UnreadableReport(
            f"The file has {results} results, and {limits.MAX_SARIF_RESULTS} are read. Scan in parts."
        )
    parts = _parts(runs)
    if len(parts) > limits.MAX_SARIF_PARTS:
        raise UnreadableReport(
            f"The file has runs of {len(parts)} tools and categories, and {limits.MAX_SARIF_PARTS} are read. "
            "Send one report for each tool."
        )
    first, *others = (_report(source, category, part) for (source, category), part in parts.items())
    first.others = tuple(others)
    return first


def _valid_runs(items: Sequence[Any]) -> list[JsonObject]:
    """Return the runs; raises UnreadableReport for a run that is no object, or results that are no list."""
    runs = list(items)
    for number, run in enumerate(runs):
        if not isinstance(run, dict):
            raise UnreadableReport(f"The file is not SARIF: runs[{number}] is not an object.")
        if not (run.get("results") is None or is_list(run["results"])):
            raise UnreadableReport(f"The file is not SARIF: runs[{number}].results is not a list.")
    return runs


def _parts(runs: list[JsonObject]) -> dict[tuple[str, str], list[Run]]:
    """Group the runs by tool and category, in file order; a file without runs gets one empty group."""
    parts: dict[tuple[str, str], list[Run]] = {}
    for run in map(Run, runs):
        parts.setdefault((slug(line_at(run.driver, "name")) or "sarif", run.category), []).append(run)
    return parts or {("sarif", ""): []}


def _report(source: str, category: str, runs: list[Run]) -> ScanReport:
    driver = runs[-1].driver if runs else {}
    rules = {rule[:RULE_LENGTH] for run in runs for rule in (*run.rule_names, *run.old_rule_names)}
    return ScanReport(
        source=source,
        source_name=checked_source_name(line_at(driver, "name") or "SARIF", source),
        version=line_at(driver, "semanticVersion", "version"),
        complete=_completeness(runs),
        failure=next(_failures(runs), ""),
        scanned_at=newest(
            time_at(each, "endTimeUtc", "startTimeUtc") for run in runs for each in run.invocations
        ),
        checks=rules or None,
        category=category,
        is_unnamed_part=not category,
        entries=convert_rows(
            enumerate(_rows(runs), start=1),
            _convert,
            time_of=lambda row: time_at(object_at(row.result, "provenance"), "lastDetectionTimeUtc"),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """Result at one address with its ``locations`` there, or a failed check with its ``error``."""

    run: Run
    result: JsonObject
    address: str
    locations: list[JsonObject]
    is_first: bool = True  # of the addresses of the result
    error: str = ""
    names_file: bool = False  # the error names a file, so it concerns only this address


def _rows(runs: list[Run]) -> Iterator[_Row | BadRow]:
    for run in runs:
        for result in list_at(run.members, "results"):
            if not isinstance(result, dict):
                yield result if isinstance(result, BadRow) else BadRow("is not a JSON object")
                continue
            try:
                addresses = list(_addresses(run, result).items())
            except BadRow as error:
                yield error
                continue
            # A check needs one row only.
            for number, (address, locations) in enumerate(
                addresses if _is_problem(result) else addresses[:1]
            ):
                yield _Row(run=run, result=result, address=address, locations=locations, is_first=number == 0)
        for each in dicts_at_all(run.invocations, _EXECUTION):
            if _is_not_analysed(run, each):
                try:
                    yield _failure(run, each)
                except BadRow as error:
                    yield error


def _failure(run: Run, notification: JsonObject) -> _Row:
    """Return the failed check of the file in the notification, or of the whole website without a file."""
    text = message_text_at(notification, "message") or _descriptor(notification)
    line = text.partition("\n")[0]
    may_name_file = not _is_between_files(run, notification) and len(line) <= _MAX_FIRST_LINE
    file = _NOT_ANALYSED_FILE.fullmatch(line) if may_name_file else None  # by either group
    address = run.address({"uri": file[1] or file[2], "uriBaseId": "%SRCROOT%"}) if file else "./"
    error = one_line(text)[:_MAX_ERROR]
    return _Row(run=run, result={}, address=address, locations=[], error=error, names_file=bool(file))


def _convert(number: int, row: _Row) -> ReportedFinding | Check:
    if row.error:
        return Check(
            row=number, location=row.address, seen_at=None, error=row.error, fails_only_here=row.names_file
        )
    if _is_problem(row.result):
        return _finding(number, row)
    if not _is_suppressed(row.result):
        return Check(row=number, location=row.address, seen_at=None)
    name = f"{_rule_name(row.result, {}) or 'a result'} at {row.address}"
    identities = tuple(tuple(map(one_line, identity)) for identity in _identities(row.run, row.result))
    return Check(
        row=number,
        location=row.address,
        seen_at=None,
        suppressed=one_line(name)[:200],
        identities=identities,
    )


def _is_between_files(run: Run, notification: JsonObject) -> bool:
    """Return whether other files may lack findings as well: Semgrep PRO follows data between files."""
    return "interfile" in _descriptor(notification) or "pro" in line_at(run.driver, "name").lower().split()


def _is_not_analysed(run: Run, notification: JsonObject) -> bool:
    is_warning = _level(notification) == "warning" and _descriptor(notification) in _NOT_ANALYSED
    return is_warning and line_at(run.driver, "name").lower().startswith(_SEMGREP)


def _descriptor(notification: JsonObject) -> str:
    return line_at(object_at(notification, "descriptor"), "id")


def _level(notification: JsonObject) -> str:
    return line_at(notification, "level") or "warning"


def _is_problem(result: JsonObject) -> bool:
    is_absent = result.get("baselineState") == "absent"
    return not (line_at(result, "kind") in _KINDS_WITHOUT_PROBLEM or is_absent or _is_suppressed(result))


def _rule_name(result: JsonObject, rule: JsonObject) -> str:
    return line_at(result, "ruleId") or line_at(object_at(result, "rule"), "id") or line_at(rule, "id")


def _identities(run: Run, result: JsonObject) -> list[tuple[str, str]]:
    """Return the identity of the problem, then its possible older identities."""
    rule = run.rule_of(result)
    name = _rule_name(result, rule)
    default = "" if name else without_numbers(run.message(object_at(result, "message"), rule))
    matchers = identities_of(result, default)  # what identifies the result within its rule
    rule_name = line_at(rule, "id")
    older = old_names(rule) if rule_name and name.startswith(rule_name) else []
    return [
        *((name, matcher) for matcher in matchers),
        # The name of a result may continue the one of its rule, as in "rule/part".
        *((old + name[len(rule_name) :], each) for old in older for each in matchers[:_MAX_OLD_MATCHERS]),
    ]


def _finding(number: int, row: _Row) -> ReportedFinding:
    run, result = row.run, row.result
    rule = run.rule_of(result)
    properties, provenance = object_at(rule, "properties"), object_at(result, "provenance")
    message = run.message(object_at(result, "message"), rule)
    name = _rule_name(result, rule)
    short, full = (message_text_at(rule, key) for key in ("shortDescription", "fullDescription"))
    if not (name or message.strip()):
        raise BadRow("has neither a ruleId nor a message")
    severity, word = _severity(result, rule)
    identity, *older = _identities(run, result)
    texts = [name, message, short, full, *texts_of(properties.get("tags"))]
    return ReportedFinding(
        row=number,
        identity=identity,
        aliases=older,
        rule=name or "unnamed rule",
        severity=severity,
        severity_raw=word,
        kind=_kind(result, properties),
        title=short or _first_sentence(message) or name,
        description="\n\n".join(dict.fromkeys(text.strip() for text in (message, full) if text.strip())),
        remediation="\n\n".join(_remediation(result, rule)),
        references=[
            line_at(rule, "helpUri"),
            line_at(result, "hostedViewerUri"),
            *texts_of(result.get("workItemUris")),
            *texts_of(object_at(rule, "properties").get("references")),
        ],
        cwe=_cwe(result, rule),
        cve=cves_in(texts),
        location=row.address,
        evidence="\n\n".join(evidence_of(run, result, row.address, row.locations, is_first=row.is_first)),
        seen_at=known_time_at(provenance, "lastDetectionTimeUtc"),
        first_seen_at=known_time_at(provenance, "firstDetectionTimeUtc"),
    )


def _severity(result: JsonObject, rule: JsonObject) -> tuple[Severity, str]:
    """Return the severity with the tool's own word for it."""
    for properties in (object_at(result, "properties"), object_at(rule, "properties")):
        word = line_at(properties, "security-severity")
        if word.lower() in _SEVERITY_WORDS:
            return _SEVERITY_WORDS[word.lower()], f"security-severity {word}"
        try:
            score = float(word)
        except ValueError:
            continue
        if 0 < score <= 10:
            severity = next(severity for least, severity in _SCORES if score >= least)
            return severity, f"security-severity {word}"
    default = line_at(object_at(rule, "defaultConfiguration"), "level") or "warning"
    is_failure = line_at(result, "kind") in ("", "fail")
    level = line_at(result, "level") or (default if is_failure else "none")
    return _LEVELS.get(level, Severity.MEDIUM), level


def _kind(result: JsonObject, properties: JsonObject) -> Kind:
    is_precise = line_at(properties, "precision") in ("high", "very-high")
    return _KINDS.get(line_at(result, "kind"), "confirmed" if is_precise else "suspected")


def _is_suppressed(result: JsonObject) -> bool:
    suppressions = dicts_at(result, "suppressions")
    return bool(suppressions) and not any(
        line_at(each, "state", "status") in _NOT_SUPPRESSED for each in suppressions
    )


def _addresses(run: Run, result: JsonObject) -> dict[str, list[JsonObject]]:
    """Group the result's locations by address; the default is the request or the analysed file."""
    addresses: dict[str, list[JsonObject]] = {}
    for location in dicts_at(result, "locations"):
        if physical := object_at(location, "physicalLocation"):
            addresses.setdefault(run.address(object_at(physical, "artifactLocation")), []).append(location)
    target = line_at(object_at(result, "webRequest"), "target")
    default = target if "://" in target else run.address(object_at(result, "analysisTarget"))
    return addresses or {default: dicts_at(result, "locations")}


def _remediation(result: JsonObject, rule: JsonObject) -> Iterator[str]:
    texts = [message_text_at(fix, "description") for fix in dicts_at(result, "fixes")]
    texts += [message_text_at(rule, "help"), message_text_at(object_at(rule, "properties"), "solution")]
    yield from dict.fromkeys(text.strip() for text in texts if text.strip())


def _cwe(result: JsonObject, rule: JsonObject) -> list[int]:
    taxa = dicts_at(result, "taxa") + [object_at(each, "target") for each in dicts_at(rule, "relationships")]
    of_cwe = [each for each in taxa if line_at(object_at(each, "toolComponent"), "name").upper() == "CWE"]
    properties = [object_at(result, "properties"), object_at(rule, "properties")]
    return [
        *numbers_in(line_at(each, "id") for each in of_cwe),
        *cwes_in(line_at(each, "id") for each in taxa),
        *cwes_in(text for each in properties for text in texts_of(each.get("tags"))),
        *numbers_in(text for each in properties for text in texts_of(each.get("cwe"))),
    ]


def _first_sentence(message: str) -> str:
    sentence = _FIRST_SENTENCE.match(message.strip())
    return sentence[0] if sentence else ""


def _completeness(runs: list[Run]) -> bool | None:
    levels = {_level(each) for each in _notifications(runs)}
    successes = [each.get("executionSuccessful") for run in runs for each in run.invocations]
    has_all_results = all(run.invocations and _lists_work(run) for run in runs)
    is_successful = all(each is True for each in successes)
    return True if runs and has_all_results and is_successful and "warning" not in levels else None


def _notifications(runs: list[Run]) -> Iterator[JsonObject]:
    for run in runs:
        for name in (_EXECUTION, _CONFIGURATION):
            for each in dicts_at_all(run.invocations, name):
                if not (name == _EXECUTION and _is_not_analysed(run, each)):  # that is a row
                    yield each


def _failures(runs: list[Run]) -> Iterator[str]:
    """Yield the reasons why runs are incomplete, the tool's own words first.

    Only names such as SIGKILL are signals: some tools write their result as the signal.
    """
    invocations = [each for run in runs for each in run.invocations]
    for each in invocations:
        if message := each.get("processStartFailureMessage"):
            yield text_of(message) or "the tool did not start"
    for each in _notifications(runs):
        if _level(each) == "error":
            yield message_text_at(each, "message") or _descriptor(each) or "the tool had an error"
    for each in invocations:
        if (signal := line_at(each, "exitSignalName")).startswith("SIG"):
            yield f"{signal} ended the tool"
        elif each.get("executionSuccessful") is False:
            yield line_at(each, "exitCodeDescription") or "the tool says that it was not successful"


def _lists_work(run: Run) -> bool:
    """Return whether a run lists results, rules or files; otherwise it may have checked no file."""
    results = run.members.get("results")
    is_empty = not (any(run.rule_names) or list_at(run.members, "artifacts"))
    return is_list(results) and (bool(results) or not is_empty)
