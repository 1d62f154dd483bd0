"""Findings from testssl.sh's entries: all entries about one problem of one address are one finding."""

import re
from collections.abc import Iterable

from dashboard_api.scanners.layout import named, section
from dashboard_api.scanners.members import line_of
from dashboard_api.scanners.report import BadRow, ReportedFinding, Severity
from dashboard_api.scanners.testssl.check_ids import SEVERITIES
from dashboard_api.scanners.testssl.entries import Entry
from dashboard_api.scanners.testssl.words import words_of
from dashboard_api.scanners.weaknesses import cve_names, cwe_numbers

_UNSURE = re.compile(r"\b(?:potential\w*|probabl[ey]|likely|might|may)\b", re.IGNORECASE)
_LONG = 120  # characters of a result: a longer one is a list, not a title
_EXPIRY = {
    "cert_expirationStatus": "The certificate",
    "intermediate_cert_expiration": "An intermediate certificate",
}

Groups = dict[tuple[str, str, str], list[Entry]]


def grouped(entries: Iterable[Entry | BadRow]) -> Groups:
    """Group the entries that report a problem by problem, server and address."""
    groups: Groups = {}
    for entry in entries:
        if not isinstance(entry, BadRow) and (key := _key(entry)):
            groups.setdefault(key, []).append(entry)
    return groups


def group_of(entry: Entry, groups: Groups) -> list[Entry]:
    """Return all entries about the problem that ``entry`` reports; none where it reports none."""
    return groups.get(_key(entry) or ("", "", ""), [])


def _key(entry: Entry) -> tuple[str, str, str] | None:
    what = entry.named
    if entry.word not in SEVERITIES or what.is_detail or not (what.problem and entry.location):
        return None
    return what.problem, entry.location, entry.address


def finding(number: int, group: list[Entry]) -> ReportedFinding:
    """Return the one finding for the entries of ``group``, as severe as the worst of them."""
    worst = max(group, key=_severity)
    problem = worst.named.problem
    words = words_of(problem)
    others = [entry for entry in group if not entry.named.is_suite]
    main = max(others, key=_severity, default=worst)
    checks = dict.fromkeys(line_of(entry.row, "id") for entry in others)
    facts = {
        "Check": ", ".join(checks) or problem,
        "IP address": worst.address,
        "Server": worst.location,
    }
    return ReportedFinding.cleaned(
        row=number,
        identity=(problem,),
        aliases=[(check,) for check in _former(others) if check != problem],
        rule=problem,
        severity=_severity(worst),
        severity_raw=worst.word,
        kind="suspected" if _UNSURE.search(main.result) else "confirmed",
        title=_title(main, words.name),
        description=words.meaning,
        remediation=line_of(worst.row, "hint") or words.remedy,
        cwe=cwe_numbers(line_of(entry.row, "cwe") for entry in group),
        cve=cve_names(line_of(entry.row, "cve") for entry in group),
        location=worst.location,
        evidence="\n\n".join([*named(facts), *section("Result", _results(group))]),
    )


def _former(entries: list[Entry]) -> list[str]:
    """Return the ids of entries, which older versions of this reader used as identities."""
    return list(dict.fromkeys(entry.named.check for entry in entries))


def _severity(entry: Entry) -> Severity:
    return entry.named.grade(entry.word)


def _title(entry: Entry, name: str) -> str:
    problem = entry.named.problem
    if problem in _EXPIRY:
        return f"{_EXPIRY[problem]} {'has expired' if entry.word == 'CRITICAL' else 'expires soon'}"
    if entry.named.is_suite:
        return f"{name}: offered" if entry.named.severity else name
    short = "none" if entry.result == "--" else entry.result.removesuffix(".")
    return f"{name}: {short}" if 0 < len(short) <= _LONG else name


def _results(group: list[Entry]) -> str:
    """List the results, with their ids where there are several; suites last, the weakest first."""
    others = [entry for entry in group if not entry.named.is_suite]
    suites = sorted(
        (entry for entry in group if entry.named.is_suite), key=lambda entry: -SEVERITIES[entry.word]
    )
    if len(group) == 1 and others:
        return others[0].result
    lines = [f"{line_of(entry.row, 'id')}: {entry.result}" for entry in others]
    lines += [f"{entry.word.title()}: {entry.result}" for entry in suites]
    return "\n".join(dict.fromkeys(lines))
