"""MDN HTTP Observatory, JSON of its command line (@mdn/mdn-http-observatory).

Members are those of ``src/scan.js`` and ``src/types.js`` there. A row is a test. The website is named only
by where the test of redirections began; without it, ``--base-url`` has to. The report is complete when it
holds as many tests as it says.
"""

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from dashboard_api.scanners.json_values import as_text, read_document
from dashboard_api.scanners.layout import named, section
from dashboard_api.scanners.members import Row, line_of, object_of, texts_of, time_of
from dashboard_api.scanners.report import (
    BadRow,
    Check,
    ReportedFinding,
    ScanReport,
    Severity,
    UnreadableReport,
    tell_each,
)

_HEAD = re.compile(rb'"(?:algorithmVersion|scoreModifier)"\s*:')
_MDN = "https://developer.mozilla.org/en-US/docs/Web/Security/"
_ABBREVIATION = re.compile(r"^(?:csp|hsts|sri|corp)-")
# From the worst down: so many points at least are taken off. All tests together begin with 100.
_SEVERITIES = [(40, Severity.HIGH), (20, Severity.MEDIUM), (1, Severity.LOW)]
# What each test asks for, and MDN's page about it, as TEST_TOPIC_LINKS in src/grader/charts.js has it.
_TESTS = {
    "content-security-policy": ("Content Security Policy (CSP)", "Practical_implementation_guides/CSP"),
    "cookies": ("Cookies", "Practical_implementation_guides/Cookies"),
    "cross-origin-resource-policy": (
        "Cross-Origin Resource Policy (CORP)",
        "Practical_implementation_guides/CORP",
    ),
    "cross-origin-resource-sharing": (
        "Cross-Origin Resource Sharing (CORS)",
        "Practical_implementation_guides/CORS",
    ),
    "redirection": ("Redirection to https", "Practical_implementation_guides/TLS"),
    "referrer-policy": ("Referrer Policy", "Practical_implementation_guides/Referrer_policy"),
    "strict-transport-security": ("Strict Transport Security (HSTS)", "Practical_implementation_guides/TLS"),
    "subresource-integrity": ("Subresource Integrity (SRI)", "Subresource_Integrity"),
    "x-content-type-options": ("X-Content-Type-Options", "Practical_implementation_guides/MIME_types"),
    "x-frame-options": ("X-Frame-Options", "Practical_implementation_guides/Clickjacking"),
}


def recognises(head: bytes) -> bool:
    """Whether it begins like the Observatory's."""
    return _HEAD.search(head) is not None


def read(stream: BinaryIO) -> ScanReport:
    """The report in ``stream``; raises UnreadableReport."""
    document = read_document(stream)
    if not isinstance(document, dict) or not isinstance(document.get("tests"), dict):
        raise UnreadableReport("The file is no report of the HTTP Observatory: it has no tests.")
    scan, tests = object_of(document, "scan"), document["tests"]
    quantity = scan.get("testsQuantity")
    route = texts_of(object_of(tests, "redirection").get("route"))
    place = route[0] if route else "/"

    def told(number: int, row: tuple[str, Any]) -> ReportedFinding | Check:
        return _told(number, row, place)

    return ScanReport(
        source="mdn-observatory",
        source_name="MDN HTTP Observatory",
        version=line_of(scan, "algorithmVersion", "algorithm_version"),
        complete=len(tests) == quantity if isinstance(quantity, int) else None,
        scanned_at=time_of(scan, "scanned_at", "scannedAt"),
        told=tell_each(enumerate(tests.items(), start=1), told),
    )


def _told(number: int, row: tuple[str, Any], place: str) -> ReportedFinding | Check:
    name, test = row
    if not isinstance(test, dict):
        raise BadRow("is not a JSON object")
    if not isinstance(test.get("pass"), bool | None):
        raise BadRow("has a pass that is neither true nor false")
    if test.get("pass") is not False:
        return Check(row=number, location=place, seen_at=None)
    result = line_of(test, "result")
    label, guide = _TESTS.get(name, (name, ""))
    points = test.get("scoreModifier")
    lost = -points if isinstance(points, int | float) else 0
    said = _ABBREVIATION.sub("", result.removeprefix(name)).replace("-", " ").strip()
    return ReportedFinding.cleaned(
        row=number,
        identity=(name,),
        rule=name,
        severity=next((severity for least, severity in _SEVERITIES if lost >= least), Severity.INFO),
        severity_raw=f"{line_of(test, 'scoreModifier')} points" if lost else "",
        kind="confirmed" if lost > 0 else "informational",
        title=f"{label}: {said}" if said else label,
        references=[_MDN + guide] if guide else [],
        location=place,
        evidence="\n\n".join(_evidence(test, result)),
    )


def _evidence(test: Row, result: str) -> Iterator[str]:
    yield from named({"Result": result, "Expected": line_of(test, "expectation")})
    data = test.get("data")
    yield from section("Seen", as_text(data) if data else "")
