"""SARIF 2.1.0, of any tool: the tool is the source, and a file with runs of several is a report of each.

Properties are those of OASIS' ``sarif-schema-2.1.0.json``; what GitHub relies on ("SARIF support for code
scanning") decides where it leaves a choice. A row is a result. A run says that it was complete by
invocations that were all successful and notified of nothing.
"""

import json
import re
from collections.abc import Iterator
from datetime import datetime
from typing import BinaryIO

from dashboard_api import policy
from dashboard_api.scanners.json_values import read_document
from dashboard_api.scanners.members import Row, line_of, list_of, object_of, texts_of, time_of
from dashboard_api.scanners.report import (
    BadRow,
    Check,
    Kind,
    ReportedFinding,
    ScanReport,
    Severity,
    UnreadableReport,
    tell_each,
)
from dashboard_api.scanners.sarif_evidence import evidence_of
from dashboard_api.scanners.sarif_run import Run, objects_in_all, text_in
from dashboard_api.scanners.text import slug, without_numbers
from dashboard_api.scanners.weaknesses import cve_names, cwe_names, cwe_numbers

_RUNS = re.compile(rb'"runs"\s*:\s*\[')
_LEVELS = {
    "error": Severity.HIGH,
    "warning": Severity.MEDIUM,
    "note": Severity.LOW,
    "none": Severity.INFO,
}
_SCORES = [(9.0, Severity.CRITICAL), (7.0, Severity.HIGH), (4.0, Severity.MEDIUM), (0.0, Severity.LOW)]
_NOTHING_FOUND = {"pass", "notApplicable"}
_KINDS: dict[str, Kind] = {"review": "suspected", "open": "suspected", "informational": "informational"}
_NOT_SUPPRESSED = {"underReview", "rejected"}
_LINE_HASH = "primaryLocationLineHash"  # the one that GitHub relies on
_NO_FINGERPRINT = "requires login"  # what Semgrep writes in place of one
_SENTENCE = re.compile(r".+?(?:[.!?](?=\s|\Z)|\n|\Z)", re.DOTALL)


def recognises(head: bytes) -> bool:
    """Whether it begins like SARIF."""
    return _RUNS.search(head) is not None


def read(stream: BinaryIO) -> ScanReport:
    """The report in ``stream``; raises UnreadableReport."""
    document = read_document(stream)
    if not isinstance(document, dict) or not isinstance(document.get("runs"), list):
        raise UnreadableReport("The file is no SARIF: it has no runs.")
    version = line_of(document, "version")
    if version and not version.startswith("2.1."):
        raise UnreadableReport(f"SARIF 2.1.0 is read, and this is SARIF {version[:20]}.")
    runs = [run for run in document["runs"] if isinstance(run, dict)]
    results = sum(len(list_of(run, "results")) for run in runs)
    if results > policy.MAX_SARIF_RESULTS:
        raise UnreadableReport(
            f"The file has {results} results, and {policy.MAX_SARIF_RESULTS} are read. Scan in parts."
        )
    first, *others = (_report(source, of_tool) for source, of_tool in _by_source(runs).items())
    first.others = tuple(others)
    return first


def _by_source(runs: list[Row]) -> dict[str, list[Run]]:
    """The runs of each tool, in the order in which the file names them; of no tool where there are none."""
    tools: dict[str, list[Run]] = {}
    for run in map(Run, runs):
        tools.setdefault(slug(line_of(run.driver, "name")) or "sarif", []).append(run)
    return tools or {"sarif": []}


def _report(source: str, runs: list[Run]) -> ScanReport:
    driver = runs[-1].driver if runs else {}
    return ScanReport(
        source=source,
        source_name=line_of(driver, "name") or "SARIF",
        version=line_of(driver, "semanticVersion", "version"),
        complete=_completeness(runs),
        scanned_at=max((time for run in runs if (time := _end(run))), default=None),
        told=tell_each(enumerate(_results(runs), start=1), _told),
    )


def _results(runs: list[Run]) -> Iterator[tuple[Run, Row] | BadRow]:
    for run in runs:
        for result in list_of(run.members, "results"):
            yield (run, result) if isinstance(result, dict) else BadRow("is not a JSON object")


def _told(number: int, row: tuple[Run, Row]) -> ReportedFinding | Check:
    run, result = row
    location = _location(run, result)
    is_gone = result.get("baselineState") == "absent"
    if line_of(result, "kind") in _NOTHING_FOUND or is_gone or _is_suppressed(result):
        return Check(row=number, location=location, seen_at=None)
    return _finding(number, run, result, location)


def _finding(number: int, run: Run, result: Row, location: str) -> ReportedFinding:
    rule = run.rule_of(result)
    properties, provenance = object_of(rule, "properties"), object_of(result, "provenance")
    message = run.message(object_of(result, "message"), rule)
    name = line_of(result, "ruleId") or line_of(object_of(result, "rule"), "id") or line_of(rule, "id")
    short, full = (text_in(rule, key) for key in ("shortDescription", "fullDescription"))
    if not (name or message.strip()):
        raise BadRow("has neither a ruleId nor a message")
    severity, word = _severity(result, rule)
    texts = [name, message, short, full, *texts_of(properties.get("tags"))]
    return ReportedFinding.cleaned(
        row=number,
        identity=(name, _identity(result) or ("" if name else without_numbers(message))),
        rule=name or "unnamed rule",
        severity=severity,
        severity_raw=word,
        kind=_kind(result, properties),
        title=short or _first_sentence(message) or name,
        description="\n\n".join(dict.fromkeys(text.strip() for text in (message, full) if text.strip())),
        remediation="\n\n".join(_remediation(result, rule)),
        references=_references(result, rule),
        cwe=_cwe(result, rule),
        cve=cve_names(texts),
        location=location,
        evidence="\n\n".join(evidence_of(run, result, location)),
        seen_at=time_of(provenance, "lastDetectionTimeUtc"),
        first_seen_at=time_of(provenance, "firstDetectionTimeUtc"),
    )


def _severity(result: Row, rule: Row) -> tuple[Severity, str]:
    """The severity, and the tool's own word for it."""
    for properties in (object_of(result, "properties"), object_of(rule, "properties")):
        word = line_of(properties, "security-severity")
        try:
            score = float(word)
        except ValueError:
            continue
        if 0 < score <= 10:
            return next(
                severity for least, severity in _SCORES if score >= least
            ), f"security-severity {word}"
    default = line_of(object_of(rule, "defaultConfiguration"), "level") or "warning"
    is_failure = line_of(result, "kind") in ("", "fail")
    level = line_of(result, "level") or (default if is_failure else "none")
    return _LEVELS.get(level, Severity.MEDIUM), level


def _kind(result: Row, properties: Row) -> Kind:
    is_precise = line_of(properties, "precision") in ("high", "very-high")
    return _KINDS.get(line_of(result, "kind"), "confirmed" if is_precise else "suspected")


def _is_suppressed(result: Row) -> bool:
    suppressions = [each for each in list_of(result, "suppressions") if isinstance(each, dict)]
    return bool(suppressions) and not any(
        line_of(each, "state", "status") in _NOT_SUPPRESSED for each in suppressions
    )


def _identity(result: Row) -> str:
    """The tool's own fingerprint: of several versions the oldest, which a newer tool still writes."""
    own = _fingerprints(object_of(result, "fingerprints"))
    partial = _fingerprints(object_of(result, "partialFingerprints"))
    if own:
        return own[min(own)]
    return partial.get(_LINE_HASH) or " ".join(f"{name}={partial[name]}" for name in sorted(partial))


def _fingerprints(members: Row) -> dict[str, str]:
    values = {
        name: value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        for name, value in members.items()
    }
    return {name: value for name, value in values.items() if value.strip() and value != _NO_FINGERPRINT}


def _location(run: Run, result: Row) -> str:
    """The first of its locations; else what was asked, or analysed."""
    for location in list_of(result, "locations"):
        if isinstance(location, dict) and (physical := object_of(location, "physicalLocation")):
            return run.address(object_of(physical, "artifactLocation"))
    target = line_of(object_of(result, "webRequest"), "target")
    return target if "://" in target else run.address(object_of(result, "analysisTarget"))


def _remediation(result: Row, rule: Row) -> Iterator[str]:
    fixes = (each for each in list_of(result, "fixes") if isinstance(each, dict))
    texts = [text_in(fix, "description") for fix in fixes]
    texts += [text_in(rule, "help"), text_in(object_of(rule, "properties"), "solution")]
    yield from dict.fromkeys(text.strip() for text in texts if text.strip())


def _references(result: Row, rule: Row) -> list[str]:
    return [
        line_of(rule, "helpUri"),
        line_of(result, "hostedViewerUri"),
        *texts_of(result.get("workItemUris")),
        *texts_of(object_of(rule, "properties").get("references")),
    ]


def _cwe(result: Row, rule: Row) -> list[int]:
    targets = [object_of(each, "target") for each in list_of(rule, "relationships") if isinstance(each, dict)]
    taxa = [each for each in [*list_of(result, "taxa"), *targets] if isinstance(each, dict)]
    of_cwe = [each for each in taxa if line_of(object_of(each, "toolComponent"), "name").upper() == "CWE"]
    properties = [object_of(result, "properties"), object_of(rule, "properties")]
    return [
        *cwe_numbers(line_of(each, "id") for each in of_cwe),
        *cwe_names(line_of(each, "id") for each in taxa),
        *cwe_names(text for each in properties for text in texts_of(each.get("tags"))),
        *cwe_numbers(text for each in properties for text in texts_of(each.get("cwe"))),
    ]


def _first_sentence(message: str) -> str:
    sentence = _SENTENCE.match(message.strip())
    return sentence[0] if sentence else ""


def _completeness(runs: list[Run]) -> bool | None:
    invocations = [each for run in runs for each in run.invocations]
    levels = {
        line_of(each, "level") or "warning"
        for each in objects_in_all(invocations, "toolExecutionNotifications")
    }
    successes = [each.get("executionSuccessful") for each in invocations]
    if False in successes or "error" in levels:
        return False
    told_by_all = all(run.invocations and "results" in run.members for run in runs)
    return True if runs and told_by_all and set(successes) == {True} and "warning" not in levels else None


def _end(run: Run) -> datetime | None:
    ends = [time_of(each, "endTimeUtc", "startTimeUtc") for each in run.invocations]
    return max((end for end in ends if end), default=None)
