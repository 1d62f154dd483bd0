"""WPScan's JSON (-f json), of version 3.

Members are those of the views in ``app/views/json`` of wpscanteam/wpscan. A row is the target, an interesting
finding, a known vulnerability of WordPress, a plugin or a theme, an outdated one of them, a file that must
not be there, the list of users, or a guessed password. The report does not say which plugins and themes were
looked for, so it does not say whether a scan was complete.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO, NamedTuple

from dashboard_api.scanners.json_values import open_document
from dashboard_api.scanners.members import Row, dicts_of, line_of, list_of, object_of, time_of
from dashboard_api.scanners.report import (
    BadRow,
    Check,
    ReportedFinding,
    ScanReport,
    UnreadableReport,
    convert_rows,
)
from dashboard_api.scanners.wpscan import findings

HEAD = re.compile(rb'"description"\s*:\s*"WordPress Security Scanner|"interesting_findings"\s*:\s*\[')
_FILES = {
    "config_backups": "config_backup",
    "db_exports": "db_export",
    "backup_folders": "backup_folder",
}
_GAVE_UP = ("scan_aborted", "not_fully_configured")
_COMPONENTS = {"plugins": "plugin", "themes": "theme", "timthumbs": "timthumb"}


class _Item(NamedTuple):
    """A part of the report with the function that makes a finding or a check of it."""

    convert: Any
    row: object


def read(stream: BinaryIO) -> ScanReport:
    """Return the report in ``stream``; raises UnreadableReport."""
    document = open_document(stream)
    if not isinstance(document, dict) or document.keys().isdisjoint(["target_url", *_GAVE_UP]):
        raise UnreadableReport("The file is not a report of WPScan: it has no target_url.")
    target = line_of(document, "effective_url") or line_of(document, "target_url")
    if not target:
        raise UnreadableReport(f"WPScan gave up: {_gave_up(document) or 'no reason given'}.")
    items = list(_items(document))

    def convert(number: int, item: _Item) -> ReportedFinding | Check:
        if not isinstance(item.row, dict):
            raise BadRow("is not a JSON object")
        return item.convert(number, item.row, target=target)  # type: ignore[no-any-return]

    return ScanReport(
        source="wpscan",
        source_name="WPScan",
        version=line_of(object_of(document, "banner"), "version"),
        failure=_failure(document),
        scanned_at=time_of(document, "stop_time", "start_time"),
        names_targets=True,
        checks=_checks(document),
        entries=convert_rows(enumerate(items, start=1), convert),
    )


def _gave_up(document: Row) -> str:
    """Return why WPScan gave up; empty if it did not."""
    has_given_up = not document.keys().isdisjoint(_GAVE_UP)
    return line_of(document, *_GAVE_UP)[:300].rstrip(".") or "no reason given" if has_given_up else ""


def _failure(document: Row) -> str:
    """Return why WPScan gave up, or that too many requests failed, as where it is blocked."""
    is_blocked = document.get("response_status_codes_warning") is True
    return _gave_up(document) or ("many requests failed: WPScan may be blocked" if is_blocked else "")


def _checks(document: Row) -> set[str]:
    """Return the rules that ran, or the beginnings of their names.

    Without an answer of its database, WPScan knows no vulnerabilities, and finding none proves nothing, nor
    does an empty list, which may be of vulnerable plugins only. It proves nothing where WPScan did not
    recognise the version of WordPress or the theme, either. Without --enumerate, it looks at no other theme.
    """
    has_answer = _has_answer(object_of(document, "vuln_api"))
    kinds = {kind for key, kind in _COMPONENTS.items() if key in document and (has_answer or document[key])}
    kinds |= {f"theme/{line_of(theme, 'slug')}" for theme in _main_themes(document)}
    if line_of(object_of(document, "version"), "status") not in ("", "Unknown"):
        kinds.add("wordpress")
    checks = {"interesting", *(f"outdated/{kind}" for kind in kinds)}
    if has_answer:
        checks |= {f"vulnerability/{kind}" for kind in kinds}
    if "timthumbs" in document:
        checks.add("vulnerability/timthumb")  # WPScan itself knows them
    if "users" in document:
        checks.add("user_names")
    # Without --usernames, WPScan tries the passwords of the users that it found.
    if "password_attack" in document and document.get("users") != {}:
        checks.add("guessed_password")
    return checks | {name for key, name in _FILES.items() if key in document}


def _has_answer(database: Row) -> bool:
    """Return whether WPScan's database answered every request: there was no error, and requests are left."""
    failed = any(key.endswith("error") for key in database)
    return bool(database) and not failed and database.get("requests_remaining") != 0


def _items(document: Row) -> Iterator[_Item]:
    yield _Item(_target, document)
    for finding in list_of(document, "interesting_findings"):
        yield _Item(findings.interesting, finding)
    for key, name in _FILES.items():
        for address, details in object_of(document, key).items():
            yield _Item(partial(findings.exposed_file, name=name, address=address), details)
    if users := object_of(document, "users"):
        yield _Item(findings.users, users)
    for user in object_of(document, "password_attack"):
        yield _Item(findings.guessed_password, {"user": user})
    if isinstance(document.get("version"), dict):
        yield from _component("wordpress", "WordPress", document["version"])
    for theme in _main_themes(document):
        yield from _component("theme", line_of(theme, "slug"), theme)
    for key, kind in _COMPONENTS.items():
        for name, component in object_of(document, key).items():
            yield from _component(kind, name, component)


def _main_themes(document: Row) -> list[Row]:
    """Return the main theme and its parents; none where WPScan did not recognise it."""
    theme = object_of(document, "main_theme")
    return [theme, *dicts_of(theme, "parents")] if theme else []


def _target(number: int, document: Row, *, target: str) -> Check:
    return Check(row=number, location=target, seen_at=None, error=_gave_up(document)[:200])


def _component(kind: str, name: str, component: object) -> Iterator[_Item]:
    """Yield what is wrong with WordPress, a plugin or a theme."""
    if not isinstance(component, dict):
        yield _Item(None, component)
        return
    part = findings.Component(kind, name, component)
    if part.is_outdated:
        yield _Item(partial(findings.outdated, part=part), component)
    for vulnerability in list_of(component, "vulnerabilities"):
        yield _Item(partial(findings.vulnerability, part=part), vulnerability)
