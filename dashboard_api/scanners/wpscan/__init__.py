"""Reader of WPScan 3's JSON (-f json).

Source: the views in ``app/views/json`` of wpscanteam/wpscan. A row is the target, an interesting finding, a
known vulnerability or an outdated version of WordPress, a plugin or a theme, an exposed file, the list of
users, or a guessed password. The report does not list the plugins and themes that WPScan looked for, so it
cannot say whether a scan was complete.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO, NamedTuple

from dashboard_api.scanners.json_values import open_document
from dashboard_api.scanners.members import JsonObject, dicts_at, line_at, list_at, object_at, time_at
from dashboard_api.scanners.report import (
    BadRow,
    Check,
    ReportedFinding,
    ScanReport,
    UnreadableReport,
    convert_rows,
)
from dashboard_api.scanners.wpscan import findings

HEAD_PATTERN = re.compile(rb'"description"\s*:\s*"WordPress Security Scanner|"interesting_findings"\s*:\s*\[')
# Exposed files: their member, and the rule of their finding.
_FILES = {
    "config_backups": "config_backup",
    "db_exports": "db_export",
    "backup_folders": "backup_folder",
}
_GAVE_UP = ("scan_aborted", "not_fully_configured")
_COMPONENTS = {"plugins": "plugin", "themes": "theme", "timthumbs": "timthumb"}


class _Item(NamedTuple):
    """Part of the report with the function that converts it to a finding or a check."""

    convert: Any  # takes number, row and target
    row: object


def read(stream: BinaryIO) -> ScanReport:
    """Return the report in ``stream``; raises UnreadableReport."""
    document = open_document(stream)
    if not isinstance(document, dict) or document.keys().isdisjoint(["target_url", *_GAVE_UP]):
        raise UnreadableReport("The file is not a report of WPScan: it has no target_url.")
    target = line_at(document, "effective_url") or line_at(document, "target_url")
    if not target:
        raise UnreadableReport(f"WPScan gave up: {_abort_reason(document) or 'no reason given'}.")
    items = list(_items(document))

    def convert(number: int, item: _Item) -> ReportedFinding | Check:
        if not isinstance(item.row, dict):
            raise BadRow("is not a JSON object")
        return item.convert(number, item.row, target=target)  # type: ignore[no-any-return]

    return ScanReport(
        source="wpscan",
        source_name="WPScan",
        version=line_at(object_at(document, "banner"), "version"),
        failure=_failure(document),
        scanned_at=time_at(document, "stop_time", "start_time"),
        names_every_target=True,
        checks=_checks(document),
        entries=convert_rows(enumerate(items, start=1), convert),
    )


def _abort_reason(document: JsonObject) -> str:
    """Return why WPScan stopped early; empty if it did not."""
    if document.keys().isdisjoint(_GAVE_UP):
        return ""
    return line_at(document, *_GAVE_UP)[:300].rstrip(".") or "no reason given"


def _failure(document: JsonObject) -> str:
    """Return why WPScan stopped early, or that many requests failed because it may be blocked."""
    is_blocked = document.get("response_status_codes_warning") is True
    return _abort_reason(document) or ("many requests failed: WPScan may be blocked" if is_blocked else "")


def _checks(document: JsonObject) -> set[str]:
    """Return the rules that ran, or prefixes of them: only these rules can be fixed.

    Without an answer of its database, WPScan knows no vulnerabilities. An empty list of plugins is then no
    proof: WPScan may have looked for vulnerable ones only. WordPress and the theme count only if WPScan
    recognised them. Without --enumerate, it checks no theme except the main theme.
    """
    has_answer = _has_answer(object_at(document, "vuln_api"))
    # A kind such as "plugin" stands for all its components, "theme/NAME" for one.
    kinds = {kind for key, kind in _COMPONENTS.items() if key in document and (has_answer or document[key])}
    kinds |= {f"theme/{line_at(theme, 'slug')}" for theme in _main_themes(document)}
    if line_at(object_at(document, "version"), "status") not in ("", "Unknown"):
        kinds.add("wordpress")
    checks = {"interesting", *(f"outdated/{kind}" for kind in kinds)}
    if has_answer:
        checks |= {f"vulnerability/{kind}" for kind in kinds}
    if "timthumbs" in document:
        checks.add("vulnerability/timthumb")  # WPScan needs no database for these
    if "users" in document:
        checks.add("user_names")
    # Without --usernames, WPScan tries passwords only for the users that it found.
    if "password_attack" in document and document.get("users") != {}:
        checks.add("guessed_password")
    return checks | {name for key, name in _FILES.items() if key in document}


def _has_answer(database: JsonObject) -> bool:
    """Return whether WPScan's database answered every request: no error, and the quota is not used up."""
    has_failed = any(key.endswith("error") for key in database)
    return bool(database) and not has_failed and database.get("requests_remaining") != 0


def _items(document: JsonObject) -> Iterator[_Item]:
    yield _Item(_target, document)
    for finding in list_at(document, "interesting_findings"):
        yield _Item(findings.interesting, finding)
    for key, name in _FILES.items():
        for address, details in object_at(document, key).items():
            yield _Item(partial(findings.exposed_file, name=name, address=address), details)
    if users := object_at(document, "users"):
        yield _Item(findings.users, users)
    for user in object_at(document, "password_attack"):
        yield _Item(findings.guessed_password, {"user": user})
    if isinstance(document.get("version"), dict):
        yield from _component("wordpress", "WordPress", document["version"])
    for theme in _main_themes(document):
        yield from _component("theme", line_at(theme, "slug"), theme)
    for key, kind in _COMPONENTS.items():
        for name, component in object_at(document, key).items():
            yield from _component(kind, name, component)


def _main_themes(document: JsonObject) -> list[JsonObject]:
    """Return the main theme and its parents; empty if WPScan did not recognise the theme."""
    theme = object_at(document, "main_theme")
    return [theme, *dicts_at(theme, "parents")] if theme else []


def _target(number: int, document: JsonObject, *, target: str) -> Check:
    return Check(row=number, location=target, seen_at=None, error=_abort_reason(document)[:200])


def _component(kind: str, name: str, component: object) -> Iterator[_Item]:
    """Yield the outdated version and the vulnerabilities of WordPress, a plugin or a theme."""
    if not isinstance(component, dict):
        yield _Item(None, component)  # refused before it is converted
        return
    part = findings.Component(kind, name, component)
    if part.is_outdated:
        yield _Item(partial(findings.outdated, part=part), component)
    for vulnerability in list_at(component, "vulnerabilities"):
        yield _Item(partial(findings.vulnerability, part=part), vulnerability)
