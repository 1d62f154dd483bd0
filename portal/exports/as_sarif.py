"""Findings as SARIF 2.1.0 (OASIS, "Static Analysis Results Interchange Format"); sections in brackets.

The log has one run of one tool, the dashboard. The rules follow the results, because they are complete only
after the last finding; members of an object have no order. Many rules are kept in a temporary file.
"""

import re
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from urllib.parse import quote, urlsplit

from portal.exports.as_json import elements, open_list, to_json
from portal.exports.selection import Selection
from signed_api.answers import ACCEPTED
from signed_api.findings import Threat

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
TOOL = "Threat Dashboard"
LEVELS = {"Critical": "error", "High": "error", "Medium": "warning"}  # [3.27.10]; all others are notes
# Code hosts sort security results by ranges of this score; informational results have no score.
SCORES = {"Critical": "9.5", "High": "8.0", "Medium": "5.5", "Low": "2.0"}
SUPPRESSIONS = {  # [3.35]: decisions of analysts and of the account, which are external to the code
    "accepted": [{"kind": "external", "status": "accepted", "justification": "Risk accepted"}],
    "accepted_risk": [{"kind": "external", "status": "accepted", "justification": "Accepted risk"}],
    "false_positive": [{"kind": "external", "status": "accepted", "justification": "False positive"}],
}
_WITH_SARIF_NAME = ("title", "location", "rule", "first_seen", "last_seen")
_IN_MEMORY = 1024 * 1024  # bytes of rules; more are written to a file
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


def write_sarif(selection: Selection) -> Iterator[str]:
    """Yield the log with its results, one on each line, then their rules."""
    with SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="utf-8", newline="") as texts:
        rules = _Rules(texts)
        yield f'{{"$schema":"{SCHEMA}","version":"2.1.0","runs":['
        yield open_list(_run(selection), "results")
        yield from elements(selection, lambda threat: _result(threat, selection, rules))
        yield f'],"tool":{{"driver":{{"name":"{TOOL}","rules":['
        yield from rules.texts()
        yield "]}}}]}\n"


class _Rules:
    """The rules of the results so far, each with the texts of its first finding, which is its worst."""

    def __init__(self, texts: IO[str]) -> None:
        self._texts = texts
        self._indexes: dict[str, int] = {}

    def id_and_index(self, threat: Threat) -> tuple[str, int]:
        """Return the id of the finding's rule, and its index among the rules."""
        rule_id = f"{threat.source}/{threat.rule}" if threat.rule else threat.source or "finding"
        if rule_id not in self._indexes:
            self._texts.write(("," if self._indexes else "") + to_json(_rule(rule_id, threat)))
            self._indexes[rule_id] = len(self._indexes)
        return rule_id, self._indexes[rule_id]

    def texts(self) -> Iterator[str]:
        """Yield the rules as elements of a list."""
        self._texts.seek(0)
        while text := self._texts.read(64 * 1024):
            yield text


def _run(selection: Selection) -> dict[str, Any]:
    first = selection.first
    return {
        "automationDetails": {"id": f"threat-dashboard/{first.host}/"},
        "invocations": [{"executionSuccessful": True, "endTimeUtc": first.dashboard.generated_at}],
        "properties": {
            "host": first.host,
            "link": selection.list_url,
            "filters": selection.filters,
            "total": selection.total,
            "grade": first.dashboard.grade,
            "grade_provisional": first.dashboard.grade_provisional,
            "coverage": first.coverage,
        },
    }


def _rule(rule_id: str, threat: Threat) -> dict[str, Any]:
    """Return a reportingDescriptor [3.49]; without a rule, it describes the scanner."""
    if not threat.rule:
        name = threat.source_name or threat.source or "Finding"
        return {"id": rule_id, "shortDescription": {"text": name}}
    help_url = next(filter(None, (absolute_uri(url, default="") for url in threat.references)), "")
    return {
        "id": rule_id,
        "shortDescription": {"text": threat.title},
        **({"fullDescription": {"text": threat.description}} if threat.description else {}),
        **({"help": {"text": threat.remediation}} if threat.remediation else {}),
        **({"helpUri": help_url} if help_url else {}),
        "defaultConfiguration": {"level": LEVELS.get(threat.severity, "note")},
        "properties": {
            "tags": ["security", *(f"external/cwe/cwe-{number:03}" for number in threat.cwe)],
            **_score(threat),
        },
    }


def _result(threat: Threat, selection: Selection, rules: _Rules) -> dict[str, Any]:
    """Return a result [3.27]; its property bag has the members of the API without a SARIF name."""
    rule_id, rule_index = rules.id_and_index(threat)
    link = selection.finding_url(threat.id)
    times = {"firstDetectionTimeUtc": threat.first_seen, "lastDetectionTimeUtc": threat.last_seen}
    return {
        "ruleId": rule_id,
        "ruleIndex": rule_index,
        **_verdict(threat),
        "message": {"text": threat.title.replace("](", "] (")},  # avoid an embedded link [3.11.6]
        "locations": [_location(threat, selection.first.host)],
        "fingerprints": {"threatDashboardFinding/v1": f"{selection.first.host}/{threat.id}"},
        "suppressions": _suppressions(threat),  # in all results, or in no result [3.27.23]
        **({"hostedViewerUri": link} if link else {}),
        "provenance": {name: at for name, at in times.items() if at is not None},  # [3.48]
        "properties": {
            name: getattr(threat, name) for name in Threat.__struct_fields__ if name not in _WITH_SARIF_NAME
        }
        | _score(threat)
        | {"assignee": selection.assignee_of(threat)},
    }  # fmt: skip


def _suppressions(threat: Threat) -> list[dict[str, str]]:
    """Return the analyst's decision, or that the account accepts the risk of an open finding."""
    is_accepted = threat.status == "open" and threat.answer is not None and threat.answer.answer == ACCEPTED
    return SUPPRESSIONS.get(ACCEPTED if is_accepted else threat.status, [])


def _verdict(threat: Threat) -> dict[str, str]:
    """Return kind and level; results that are not failures have the level none [3.27.9, 3.27.10]."""
    if threat.status == "fixed":
        return {"kind": "pass", "level": "none"}
    if threat.kind == "informational":
        return {"kind": "informational", "level": "none"}
    return {"kind": "fail", "level": LEVELS.get(threat.severity, "note")}


def _score(threat: Threat) -> dict[str, str]:
    return {"security-severity": SCORES[threat.severity]} if threat.severity in SCORES else {}


def _location(threat: Threat, host: str) -> dict[str, Any]:
    """Return the location as a URL; any other text becomes a logical location at the website."""
    uri = absolute_uri(threat.location, default=f"https://{host}/")
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": uri}}}
    if threat.location and not threat.location.startswith(("https://", "http://")):
        location["logicalLocations"] = [{"fullyQualifiedName": threat.location}]
    return location


def absolute_uri(text: str, *, default: str) -> str:
    """Return ``text`` as a valid absolute http(s) URI, else ``default``."""
    try:
        parts = urlsplit(_BAD_ESCAPE.sub("%25", text))
    except ValueError:
        return default
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return default
    quoted = {
        "netloc": quote(parts.netloc, safe=":@[]%!$&'()*+,;=~"),
        "path": quote(parts.path, safe="/:@%!$&'()*+,;=~"),
        "query": quote(parts.query, safe="/?:@%!$&'()*+,;=~"),
        "fragment": quote(parts.fragment, safe="/?:@%!$&'()*+,;=~"),
    }
    return parts._replace(**quoted).geturl()
