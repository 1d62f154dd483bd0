"""MDN HTTP Observatory: JSON of its command line (@mdn/mdn-http-observatory), and of its API (both versions).

Members are those of ``src/scan.js``, ``src/types.js`` and ``src/api/v2/utils.js`` there; the API writes
``score_modifier`` where the command line writes ``scoreModifier``, and version 1 nests details in
``output``. A row is a test. Only the test of redirections names the website; without it, ``--base-url``
must. The report is complete when it has as many tests as it says.
"""

import re
from collections.abc import Iterator
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from dashboard_api.scanners.addresses import resolved
from dashboard_api.scanners.json_values import as_text, read_document
from dashboard_api.scanners.layout import named, section
from dashboard_api.scanners.markup import plain_text
from dashboard_api.scanners.members import (
    Row,
    line_of,
    object_of,
    text_of,
    texts_of,
    time_of,
    written_moment,
)
from dashboard_api.scanners.report import (
    BadRow,
    Check,
    ReportedFinding,
    ScanReport,
    Severity,
    UnreadableReport,
    tell_each,
)

_HEAD = re.compile(rb'"(?:algorithm_?[Vv]ersion|score_?[Mm]odifier)"\s*:')
_MDN = "https://developer.mozilla.org/en-US/docs/Web/Security/"
_DEFAULT_PORTS = {None, 80, 443}
_ABBREVIATION = re.compile(r"^(?:csp|hsts|sri|corp)-")
# From the worst down: so many points at least are taken off. All tests together begin with 100.
_SEVERITIES = [(40, Severity.HIGH), (20, Severity.MEDIUM), (1, Severity.LOW)]
_GUIDE = "Practical_implementation_guides/"
# By test: its name, what to do, and MDN's page about it as TEST_TOPIC_LINKS in src/grader/charts.js has it.
_TESTS = {
    "content-security-policy": (
        "Content Security Policy (CSP)",
        "Send a Content-Security-Policy that names where scripts come from, without 'unsafe-inline'.",
        f"{_GUIDE}CSP",
    ),
    "cookies": (
        "Cookies",
        "Set Secure on every cookie, and HttpOnly and SameSite on those of sessions.",
        f"{_GUIDE}Cookies",
    ),
    "cross-origin-resource-policy": (
        "Cross-Origin Resource Policy (CORP)",
        "Send Cross-Origin-Resource-Policy: same-site, or same-origin.",
        f"{_GUIDE}CORP",
    ),
    "cross-origin-resource-sharing": (
        "Cross-Origin Resource Sharing (CORS)",
        "Share content with the origins that need it only, not with all.",
        f"{_GUIDE}CORS",
    ),
    "redirection": (
        "Redirection to https",
        "Redirect http to https, first on the same host.",
        f"{_GUIDE}TLS",
    ),
    "referrer-policy": (
        "Referrer Policy",
        "Send Referrer-Policy: strict-origin-when-cross-origin, or a stricter one.",
        f"{_GUIDE}Referrer_policy",
    ),
    "strict-transport-security": (
        "Strict Transport Security (HSTS)",
        "Send Strict-Transport-Security over https with a max-age of at least half a year.",
        f"{_GUIDE}TLS",
    ),
    "subresource-integrity": (
        "Subresource Integrity (SRI)",
        "Give scripts from other origins an integrity attribute, and load them over https.",
        "Subresource_Integrity",
    ),
    "x-content-type-options": (
        "X-Content-Type-Options",
        "Send X-Content-Type-Options: nosniff.",
        f"{_GUIDE}MIME_types",
    ),
    "x-frame-options": (
        "X-Frame-Options",
        "Name who may frame the site by the CSP's frame-ancestors, or send X-Frame-Options: DENY.",
        f"{_GUIDE}Clickjacking",
    ),
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
    place = _place(object_of(tests, "redirection"))

    def told(number: int, row: tuple[str, Any]) -> ReportedFinding | Check:
        return _told(number, row, place)

    return ScanReport(
        source="mdn-observatory",
        source_name="MDN HTTP Observatory",
        version=line_of(scan, "algorithmVersion", "algorithm_version"),
        complete=_completeness(scan, len(tests)),
        scanned_at=time_of(scan, "scanned_at", "scannedAt", "end_time")
        or written_moment(line_of(scan, "end_time")),
        names_targets=True,
        checks=set(),
        told=tell_each(enumerate(tests.items(), start=1), told),
    )


def _place(redirection: Row) -> str:
    """Return the base address of the website: the root of the address where the redirection test began."""
    route = texts_of(redirection.get("route")) or texts_of(object_of(redirection, "output").get("route"))
    try:
        began = urlsplit(route[0] if route else "")
        is_usual = began.port in _DEFAULT_PORTS
    except ValueError:
        return "/"
    host = f"[{began.hostname}]" if ":" in (began.hostname or "") else began.hostname
    if not host:
        return "/"
    return f"https://{host}/" if is_usual else f"{began.scheme}://{host}:{began.port}/"


def _completeness(scan: Row, tests: int) -> bool | None:
    if line_of(scan, "error") or line_of(scan, "state") not in ("", "FINISHED"):
        return False
    quantity = scan.get("testsQuantity", scan.get("tests_quantity"))
    return tests == quantity if isinstance(quantity, int) else None


def _told(number: int, row: tuple[str, Any], place: str) -> ReportedFinding | Check:
    name, test = row
    if not isinstance(test, dict):
        raise BadRow("is not a JSON object")
    if not isinstance(test.get("pass"), bool | None):
        raise BadRow("has a pass that is neither true nor false")
    if test.get("pass") is not False:
        return Check(row=number, location=place, seen_at=None, rules=(name,))
    points = test.get("scoreModifier", test.get("score_modifier"))
    if isinstance(points, bool) or not isinstance(points, int | float):
        raise BadRow("failed, and has no score (scoreModifier or score_modifier)")
    result = line_of(test, "result")
    label, remedy, guide = _TESTS.get(name, (name, "", ""))
    said = _ABBREVIATION.sub("", result.removeprefix(name)).replace("-", " ").strip()
    title = line_of(test, "title") or label
    link = line_of(test, "link") or guide
    return ReportedFinding.cleaned(
        row=number,
        identity=(name,),
        rule=name,
        severity=next((severity for least, severity in _SEVERITIES if -points >= least), Severity.INFO),
        severity_raw=f"{points} points" if points else "",
        kind="confirmed" if points < 0 else "informational",
        title=f"{title}: {said}" if said else title,
        description=plain_text(text_of(test.get("scoreDescription", test.get("score_description")))),
        remediation=plain_text(text_of(test.get("recommendation"))) or remedy,
        references=[resolved(_MDN, link)] if link else [],
        location=place,
        evidence="\n\n".join(_evidence(test, result)),
    )


def _evidence(test: Row, result: str) -> Iterator[str]:
    yield from named({"Result": result, "Expected": line_of(test, "expectation")})
    data = test.get("data") or object_of(test, "output").get("data")
    yield from section("Seen", as_text(data) if data else "")
