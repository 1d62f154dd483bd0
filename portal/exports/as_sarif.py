"""Findings as SARIF 2.1.0 (OASIS, "Static Analysis Results Interchange Format"); sections in brackets.

One run of one tool, the dashboard. Rules are known only when every finding has passed, so they follow the
results: members of an object have no order. Their texts wait in a file once they are many.
"""

import re
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from urllib.parse import quote, urlsplit

from portal.exports.as_json import elements, json, opened
from portal.exports.selection import Selected
from portal.gateway.messages import Threat

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
TOOL = "Threat Dashboard"
LEVELS = {"Critical": "error", "High": "error", "Medium": "warning"}  # [3.27.10]; all others are notes
# Within the ranges by which code hosts sort security results; what is for information has none.
SCORES = {"Critical": "9.5", "High": "8.0", "Medium": "5.5", "Low": "2.0"}
SUPPRESSIONS = {  # [3.35]: decided by analysts, outside of any code
    "accepted_risk": [{"kind": "external", "status": "accepted", "justification": "Accepted risk"}],
    "false_positive": [{"kind": "external", "status": "accepted", "justification": "False positive"}],
}
_IN_MEMORY = 1024 * 1024  # bytes
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


def write_sarif(selected: Selected) -> Iterator[str]:
    """The log with its results, one to a line, then the rules that they name."""
    with SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="utf-8", newline="") as texts:
        rules = _Rules(texts)
        yield f'{{"$schema":"{SCHEMA}","version":"2.1.0","runs":['
        yield opened(_run(selected), "results")
        yield from elements(selected, lambda threat: _result(threat, selected, rules))
        yield f'],"tool":{{"driver":{{"name":"{TOOL}","rules":['
        yield from rules.texts()
        yield "]}}}]}\r\n"


class _Rules:
    """The rules of the results so far, each as its first and worst finding tells it."""

    def __init__(self, texts: IO[str]) -> None:
        self._texts = texts
        self._places: dict[str, int] = {}

    def place_of(self, threat: Threat) -> tuple[str, int]:
        """The id of the rule that ``threat`` broke, and its place among the rules."""
        rule_id = f"{threat.source}/{threat.rule}" if threat.rule else threat.source or "finding"
        if rule_id not in self._places:
            self._texts.write(("," if self._places else "") + json(_rule(rule_id, threat)))
            self._places[rule_id] = len(self._places)
        return rule_id, self._places[rule_id]

    def texts(self) -> Iterator[str]:
        """All of them, as elements of a list."""
        self._texts.seek(0)
        while text := self._texts.read(64 * 1024):
            yield text


def _run(selected: Selected) -> dict[str, Any]:
    first = selected.first
    return {
        "automationDetails": {"id": f"threat-dashboard/{first.host}/"},
        "invocations": [{"executionSuccessful": True, "endTimeUtc": first.dashboard.generated_at}],
        "properties": {
            "host": first.host,
            "link": selected.list_url,
            "filters": selected.filters,
            "total": selected.total,
            "grade": first.dashboard.grade,
            "grade_provisional": first.dashboard.grade_provisional,
            "coverage": first.coverage,
        },
    }


def _rule(rule_id: str, threat: Threat) -> dict[str, Any]:
    """A reportingDescriptor [3.49]; without a rule of its own, the engine stands for it."""
    if not threat.rule:
        name = threat.source_name or threat.source or "Finding"
        return {"id": rule_id, "shortDescription": {"text": name}}
    help_url = next((url for url in threat.references if url.startswith(("https://", "http://"))), "")
    return {
        "id": rule_id,
        "shortDescription": {"text": threat.title},
        **({"fullDescription": {"text": threat.description}} if threat.description else {}),
        **({"help": {"text": threat.remediation}} if threat.remediation else {}),
        **({"helpUri": absolute_uri(help_url, otherwise="")} if help_url else {}),
        "defaultConfiguration": {"level": LEVELS.get(threat.severity, "note")},
        "properties": {
            "tags": ["security", *(f"external/cwe/cwe-{number:03}" for number in threat.cwe)],
            **_score(threat),
        },
    }


def _result(threat: Threat, selected: Selected, rules: _Rules) -> dict[str, Any]:
    """A result [3.27]; what SARIF has no name for is in its property bag, named as in the API."""
    rule_id, rule_index = rules.place_of(threat)
    link = selected.finding_url(threat.id)
    return {
        "ruleId": rule_id,
        "ruleIndex": rule_index,
        **_verdict(threat),
        "message": {"text": threat.title},
        "locations": [_location(threat, selected.first.host)],
        "fingerprints": {"threatDashboardFinding/v1": f"{selected.first.host}/{threat.id}"},
        "suppressions": SUPPRESSIONS.get(threat.status, []),  # all results have the member, or none [3.27.23]
        **({"hostedViewerUri": link} if link else {}),
        "provenance": _times(threat),
        "properties": {
            name: getattr(threat, name)
            for name in (
                "id", "severity", "kind", "status", "source", "source_name", "description", "remediation",
                "evidence", "evidence_truncated", "locations_count", "references", "cve", "cwe",
            )
        }
        | _score(threat),
    }  # fmt: skip


def _verdict(threat: Threat) -> dict[str, str]:
    """Kind and level; whatever is no failure has the level none [3.27.9, 3.27.10]."""
    if threat.status == "fixed":
        return {"kind": "pass", "level": "none"}
    if threat.kind == "informational":
        return {"kind": "informational", "level": "none"}
    return {"kind": "fail", "level": LEVELS.get(threat.severity, "note")}


def _score(threat: Threat) -> dict[str, str]:
    return {"security-severity": SCORES[threat.severity]} if threat.severity in SCORES else {}


def _times(threat: Threat) -> dict[str, Any]:
    """When it was first and last detected [3.48]."""
    times = {"firstDetectionTimeUtc": threat.first_seen, "lastDetectionTimeUtc": threat.last_seen}
    return {name: at for name, at in times.items() if at is not None}


def _location(threat: Threat, host: str) -> dict[str, Any]:
    """Where: an address of the web; what is none is a name at the website."""
    uri = absolute_uri(threat.location, otherwise=f"https://{host}/")
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": uri}}}
    if threat.location and not threat.location.startswith(("https://", "http://")):
        location["logicalLocations"] = [{"fullyQualifiedName": threat.location}]
    return location


def absolute_uri(text: str, *, otherwise: str) -> str:
    """``text`` as a URI without characters that a URI cannot have; ``otherwise`` for anything else."""
    try:
        parts = urlsplit(_BAD_ESCAPE.sub("%25", text))
    except ValueError:
        return otherwise
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return otherwise
    kept = {
        "netloc": quote(parts.netloc, safe=":@[]%!$&'()*+,;=~"),
        "path": quote(parts.path, safe="/:@%!$&'()*+,;=~"),
        "query": quote(parts.query, safe="/?:@%!$&'()*+,;=~"),
        "fragment": quote(parts.fragment, safe="/?:@%!$&'()*+,;=~"),
    }
    return parts._replace(**kept).geturl()
