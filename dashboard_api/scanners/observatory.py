"""Reader of MDN HTTP Observatory JSON, from its command line and both versions of its API.

Sources: ``src/scan.js``, ``src/types.js`` and ``src/api/v2/utils.js`` of @mdn/mdn-http-observatory. The API
writes ``score_modifier``, the command line ``scoreModifier``. Version 1 of the API nests details in
``output``, and its ``getScanResults`` returns only the tests. A row is a test. Only the redirection test
names the website; without it, use ``--base-url``. The report is complete if it has as many tests as it says.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from dashboard_api.scanners.json_values import read_document, to_text
from dashboard_api.scanners.members import (
    JsonObject,
    address_in,
    line_at,
    object_at,
    text_of,
    texts_of,
    time_at,
)
from dashboard_api.scanners.problem_texts import ProblemText, load_texts
from dashboard_api.scanners.report import (
    BadRow,
    Check,
    ReportedFinding,
    ScanReport,
    Severity,
    UnreadableReport,
    convert_rows,
)
from dashboard_api.scanners.text import labelled_lines, plain_text, section

HEAD_PATTERN = re.compile(rb'"(?:algorithm_?[Vv]ersion|score_?[Mm]odifier)"\s*:')
_MDN = "https://developer.mozilla.org/en-US/docs/Web/Security/"
_DEFAULT_PORTS = {None, 80, 443}
_ABBREVIATION = re.compile(r"^(?:csp|hsts|sri|corp)-")  # of the test, before the outcome in a result
# Severity by the least number of points that a test subtracts from the website's 100.
_SEVERITIES = [(40, Severity.HIGH), (20, Severity.MEDIUM), (1, Severity.LOW)]


class _TestText(ProblemText, frozen=True, kw_only=True):
    guide: str = ""


_TESTS = load_texts(Path(__file__).with_suffix(".toml"), _TestText)


def read(stream: BinaryIO) -> ScanReport:
    """Return the report in ``stream``; raises UnreadableReport."""
    document = read_document(stream)
    tests = _tests(document)
    if not isinstance(document, dict) or tests is None:
        raise UnreadableReport("The file is not a report of the HTTP Observatory: it has no tests.")
    scan = object_at(document, "scan")
    location = _location(object_at(tests, "redirection"))
    return ScanReport(
        source="mdn-observatory",
        source_name="MDN HTTP Observatory",
        version=line_at(scan, "algorithmVersion", "algorithm_version"),
        complete=None if _number_of_tests(scan) is None else True,
        failure=_failure(scan, len(tests)),
        scanned_at=time_at(scan, "scanned_at", "scannedAt", "end_time"),
        names_every_target=True,
        checks=set(),  # the importer adds the rules of the rows
        entries=convert_rows(enumerate(tests.items(), start=1), partial(_convert, location=location)),
    )


def _tests(document: object) -> JsonObject | None:
    """Return the tests by name. A document without "tests" may be the tests, as from ``getScanResults``."""
    if not isinstance(document, dict):
        return None
    if "tests" in document:
        return document["tests"] if isinstance(document["tests"], dict) else None
    are_tests = [isinstance(test, dict) and "pass" in test and "result" in test for test in document.values()]
    return document if are_tests and all(are_tests) else None


def _location(redirection: JsonObject) -> str:
    """Return the root of the address at which the redirection test began; "/" if it names no host."""
    route = texts_of(redirection.get("route")) or texts_of(object_at(redirection, "output").get("route"))
    try:
        start = urlsplit(route[0] if route else "")
        is_usual = start.port in _DEFAULT_PORTS
    except ValueError:
        return "/"
    host = f"[{start.hostname}]" if ":" in (start.hostname or "") else start.hostname
    if not host:
        return "/"
    return f"https://{host}/" if is_usual else f"{start.scheme}://{host}:{start.port}/"


def _failure(scan: JsonObject, tests: int) -> str:
    error, state = line_at(scan, "error"), line_at(scan, "state")
    if error or state not in ("", "FINISHED"):
        return error or f"the status of the scan is {state}"
    expected = _number_of_tests(scan)
    return "" if expected in (None, tests) else f"{tests} of {expected} tests are in the report"


def _number_of_tests(scan: JsonObject) -> int | None:
    number = scan.get("testsQuantity", scan.get("tests_quantity"))
    return number if isinstance(number, int) else None


def _convert(number: int, row: tuple[str, Any], *, location: str) -> ReportedFinding | Check:
    name, test = row
    if not isinstance(test, dict):
        raise BadRow("is not a JSON object")
    if not isinstance(test.get("pass"), bool | None):
        raise BadRow("has a pass that is neither true nor false")
    if test.get("pass") is not False:
        return Check(row=number, location=location, seen_at=None, rules=(name,))
    points = test.get("scoreModifier", test.get("score_modifier"))
    if isinstance(points, bool) or not isinstance(points, int | float):
        raise BadRow("failed, and has no score (scoreModifier or score_modifier)")
    result = line_at(test, "result")
    text = _TESTS.get(name, _TestText(title=name))
    outcome = _ABBREVIATION.sub("", result.removeprefix(name)).replace("-", " ").strip()
    title = line_at(test, "title") or text.title
    link = line_at(test, "link") or text.guide
    return ReportedFinding(
        row=number,
        identity=(name,),
        rule=name,
        severity=next((severity for least, severity in _SEVERITIES if -points >= least), Severity.INFO),
        severity_raw=f"{points} points" if points else "",
        kind="confirmed" if points < 0 else "informational",
        title=f"{title}: {outcome}" if outcome else title,
        description=plain_text(text_of(test.get("scoreDescription", test.get("score_description")))),
        remediation=plain_text(text_of(test.get("recommendation"))) or text.remediation,
        references=[address_in(_MDN, link)] if link else [],
        location=location,
        evidence="\n\n".join(_evidence(test, result)),
    )


def _evidence(test: JsonObject, result: str) -> Iterator[str]:
    yield from labelled_lines({"Result": result, "Expected": line_at(test, "expectation")})
    data = test.get("data") or object_at(test, "output").get("data")
    yield from section("Seen", to_text(data) if data else "")
