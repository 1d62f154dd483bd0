"""Conversion of the parts of WPScan's report to findings."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dashboard_api.scanners.members import JsonObject, dicts_at, line_at, object_at, texts_of
from dashboard_api.scanners.problem_texts import ProblemText, load_texts
from dashboard_api.scanners.report import BadRow, Kind, ReportedFinding, Severity
from dashboard_api.scanners.text import cves_in, labelled_lines, section, without_numbers

TEXTS = load_texts(Path(__file__).with_name("problems.toml"), ProblemText)
_MIN_SURE_CONFIDENCE = 80  # of WPScan, at most 100
# Severities by the least score.
_CVSS = [(9.0, Severity.CRITICAL), (7.0, Severity.HIGH), (4.0, Severity.MEDIUM), (0.1, Severity.LOW)]
_ADDRESS = re.compile(r"(?:: )?https?://\S+")
_GRAVE_TITLE = re.compile(
    r"remote code|\bRCE\b|SQL injection|SQLi\b|file upload|file inclusion|\bLFI\b|privilege escalation"
    r"|object injection|auth\w{0,20} bypass|arbitrary file|account takeover",
    re.IGNORECASE,
)


class Component(NamedTuple):
    """Component of a website: WordPress, a plugin, a theme or a timthumb."""

    kind: str
    name: str
    row: JsonObject  # its part of the report

    @property
    def version(self) -> str:
        """The version number; empty if WPScan does not know it."""
        if self.kind == "wordpress":
            return line_at(self.row, "number")
        return line_at(object_at(self.row, "version"), "number")

    @property
    def is_outdated(self) -> bool:
        """Whether there is a newer version."""
        return self.row.get("outdated") is True or line_at(self.row, "status") in ("outdated", "insecure")

    @property
    def title(self) -> str:
        """The component in words."""
        return "WordPress" if self.kind == "wordpress" else f"the {self.kind} {self.name}"

    def location(self, target: str) -> str:
        """Return the component's own address, the name of a timthumb, or else ``target``."""
        return line_at(self.row, "location") or (self.name if self.kind == "timthumb" else target)


def interesting(number: int, row: JsonObject, *, target: str) -> ReportedFinding:
    """Return an interesting finding."""
    name = line_at(row, "type") or without_numbers(line_at(row, "to_s"))
    if not name:
        raise BadRow("has no type")
    words = _ADDRESS.sub("", line_at(row, "to_s"))
    text = TEXTS.get(name, ProblemText(title=words or name.replace("_", " ")))
    return _finding(number, f"interesting/{name}", text, row, location=line_at(row, "url") or target)


def exposed_file(number: int, row: JsonObject, *, target: str, name: str, address: str) -> ReportedFinding:
    """Return a file that should not be public."""
    return _finding(number, name, TEXTS[name], row, location=address or target)


def users(number: int, row: JsonObject, *, target: str) -> ReportedFinding:
    """Return one finding that lists the user names."""
    return _finding(number, "user_names", TEXTS["user_names"], {}, location=target, seen="\n".join(row))


def guessed_password(number: int, row: JsonObject, *, target: str) -> ReportedFinding:
    """Return a finding for a guessed password, which omits the password."""
    user = line_at(row, "user")
    text, seen = TEXTS["guessed_password"], f"User: {user}"
    return _finding(number, "guessed_password", text, {}, location=target, seen=seen, matcher=user)


def outdated(number: int, row: JsonObject, *, target: str, part: Component) -> ReportedFinding:
    """Return an outdated component; Medium if its version is insecure, else Low."""
    is_insecure = line_at(row, "status") == "insecure"
    latest = line_at(row, "latest_version")
    text = ProblemText(
        title=f"{part.title[:1].upper()}{part.title[1:]} is outdated",
        severity_name="medium" if is_insecure else "low",
        remediation=f"Update {part.title}{f' to {latest}' if latest else ''}.",
        cwe=(1104,),
    )
    rule = f"outdated/{part.kind}" + (f"/{part.name}" if part.kind != "wordpress" else "")
    seen = "\n".join(labelled_lines({"Version": part.version, "Newest version": latest}))
    return _finding(number, rule, text, row, location=part.location(target), seen=seen)


def vulnerability(number: int, row: JsonObject, *, target: str, part: Component) -> ReportedFinding:
    """Return a known vulnerability of a component; suspected if the component's version is unknown."""
    title, references = line_at(row, "title"), object_at(row, "references")
    if not title:
        raise BadRow("has no title")
    branches = [line_at(each, "fixed_in") for each in dicts_at(row, "affected_versions")]
    fixed_in = line_at(row, "fixed_in") or ", ".join(filter(None, branches))
    ids = texts_of(references.get("wpvulndb"))
    key = ids[0] if ids else without_numbers(title)
    severity, raw = _severity(row, title)
    addresses = [
        *texts_of(references.get("url")),
        *[f"https://wpscan.com/vulnerability/{each}" for each in ids],
    ]
    return ReportedFinding(
        row=number,
        identity=(f"{part.kind}/{part.name}", key),
        rule=f"vulnerability/{part.kind}/{part.name}/{key}",
        severity=severity,
        severity_raw=raw,
        kind="confirmed" if part.version else "suspected",
        title=title,
        description=line_at(row, "description"),
        remediation=f"Update {part.title} to {fixed_in} or later."
        if fixed_in
        else f"No version is known to fix this: do without {part.title} until there is one.",
        references=addresses,
        cve=cves_in(f"CVE-{each.upper().removeprefix('CVE-')}" for each in texts_of(references.get("cve"))),
        location=part.location(target),
        evidence="\n\n".join(
            labelled_lines(
                {
                    "Component": part.title,
                    "Version": part.version or "not known",
                    "Fixed in": fixed_in,
                    "Found by": line_at(part.row, "found_by"),
                }
            )
        ),
    )


def _severity(row: JsonObject, title: str) -> tuple[Severity, str]:
    """Return the severity by CVSS, which only some WPScan plans include, else by words of the title."""
    score = line_at(object_at(row, "cvss"), "score")
    try:
        value = float(score)
    except ValueError:
        return (Severity.HIGH if _GRAVE_TITLE.search(title) else Severity.MEDIUM), ""
    return next((severity for least, severity in _CVSS if value >= least), Severity.INFO), f"CVSS {score}"


def _finding(
    number: int,
    rule: str,
    text: ProblemText,
    row: JsonObject,
    *,
    location: str,
    seen: str = "",
    matcher: str = "",
) -> ReportedFinding:
    references = object_at(row, "references")
    return ReportedFinding(
        row=number,
        identity=(rule, matcher),
        rule=rule,
        severity=text.severity,
        severity_raw="",
        kind=_kind(row, text.severity),
        title=text.title,
        description=text.description,
        remediation=text.remediation,
        references=texts_of(references.get("url")),
        cwe=text.cwe,
        location=location,
        evidence="\n\n".join(_evidence(row, seen)),
    )


def _kind(row: JsonObject, severity: Severity) -> Kind:
    if severity is Severity.INFO:
        return "informational"
    confidence = row.get("confidence", 100)
    return "confirmed" if isinstance(confidence, int) and confidence >= _MIN_SURE_CONFIDENCE else "suspected"


def _evidence(row: JsonObject, seen: str) -> Iterator[str]:
    if seen:
        yield seen
    words = line_at(row, "to_s")
    yield from labelled_lines({"Found by": line_at(row, "found_by"), "WPScan's words": words})
    yield from section("Seen", "\n".join(texts_of(row.get("interesting_entries"))))
