"""Findings from testssl.sh's entries: one for all entries about the same problem and address."""

import re
from collections.abc import Iterable
from pathlib import Path

from dashboard_api.scanners.members import line_at
from dashboard_api.scanners.problem_texts import ProblemText, load_texts
from dashboard_api.scanners.report import BadRow, ReportedFinding, Severity
from dashboard_api.scanners.testssl.check_ids import RATINGS
from dashboard_api.scanners.testssl.entries import Entry
from dashboard_api.scanners.text import cves_in, labelled_lines, numbers_in, section

_UNSURE = re.compile(r"\b(?:potential\w*|probabl[ey]|likely|might|may)\b", re.IGNORECASE)
_MAX_RESULT_IN_TITLE = 120  # characters; longer results are lists
_EXPIRING = {
    "cert_expirationStatus": "The certificate",
    "intermediate_cert_expiration": "An intermediate certificate",
}
_MULTIPLE = "_multiple"  # the end of the problem of a header that is sent several times
TEXTS = load_texts(Path(__file__).with_name("checks.toml"), ProblemText)

Groups = dict[tuple[str, str, str], list[Entry]]  # by problem, server and IP address


def text_on(problem: str) -> ProblemText:
    """Return our texts about ``problem``; only a title if it is unknown."""
    if problem in TEXTS:
        return TEXTS[problem]
    if problem.endswith(_MULTIPLE):
        header = problem.removesuffix(_MULTIPLE)
        return ProblemText(
            title=f"Several {header} headers",
            description="Browsers use one of them only.",
            remediation=f"Send {header} once.",
        )
    return ProblemText(title=problem.replace("_", " "))


def group_entries(entries: Iterable[Entry | BadRow]) -> Groups:
    """Group the entries with a problem."""
    groups: Groups = {}
    for entry in entries:
        if not isinstance(entry, BadRow) and (key := _key(entry)):
            groups.setdefault(key, []).append(entry)
    return groups


def group_of(entry: Entry, groups: Groups) -> list[Entry]:
    """Return all entries about the problem that ``entry`` reports; empty without a problem."""
    return groups.get(_key(entry) or ("", "", ""), [])


def _key(entry: Entry) -> tuple[str, str, str] | None:
    check_id = entry.check_id
    if entry.rating not in RATINGS or check_id.is_detail or not (check_id.problem and entry.location):
        return None
    return check_id.problem, entry.location, entry.address


def finding(number: int, group: list[Entry]) -> ReportedFinding:
    """Return one finding for the entries of ``group``, with the worst severity."""
    worst = max(group, key=_severity)
    problem = worst.check_id.problem
    text = text_on(problem)
    others = [entry for entry in group if not entry.check_id.is_suite]
    main = max(others, key=_severity, default=worst)  # its result is in the title
    # Older versions of this reader used the ids as identities.
    former_identities = dict.fromkeys(entry.check_id.check for entry in others)
    checks = dict.fromkeys(line_at(entry.row, "id") for entry in others)
    facts = {
        "Check": ", ".join(checks) or problem,
        "IP address": worst.address,
        "Server": worst.location,
    }
    return ReportedFinding(
        row=number,
        identity=(problem,),
        aliases=[(check,) for check in former_identities if check != problem],
        rule=problem,
        severity=_severity(worst),
        severity_raw=worst.rating,
        kind="suspected" if _UNSURE.search(main.result) else "confirmed",
        title=_title(main, text.title),
        description=text.description,
        remediation=line_at(worst.row, "hint") or text.remediation,
        cwe=numbers_in(line_at(entry.row, "cwe") for entry in group),
        cve=cves_in(line_at(entry.row, "cve") for entry in group),
        location=worst.location,
        evidence="\n\n".join([*labelled_lines(facts), *section("Result", _results(group))]),
    )


def _severity(entry: Entry) -> Severity:
    return entry.check_id.severity_for(entry.rating)


def _title(entry: Entry, name: str) -> str:
    problem = entry.check_id.problem
    if problem in _EXPIRING:
        return f"{_EXPIRING[problem]} {'has expired' if entry.rating == 'CRITICAL' else 'expires soon'}"
    if entry.check_id.is_suite:
        return f"{name}: offered" if entry.check_id.severity else name
    short = "none" if entry.result == "--" else entry.result.removesuffix(".")
    return f"{name}: {short}" if 0 < len(short) <= _MAX_RESULT_IN_TITLE else name


def _results(group: list[Entry]) -> str:
    """Return the results, with ids if there are several; suites come last, the weakest first."""
    others = [entry for entry in group if not entry.check_id.is_suite]
    suites = sorted(
        (entry for entry in group if entry.check_id.is_suite), key=lambda entry: -RATINGS[entry.rating]
    )
    if len(group) == 1 and others:
        return others[0].result
    lines = [f"{line_at(entry.row, 'id')}: {entry.result}" for entry in others]
    lines += [f"{entry.rating.title()}: {entry.result}" for entry in suites]
    return "\n".join(dict.fromkeys(lines))
