"""Checks of SARIF 2.1.0; the numbers are sections of the OASIS specification."""

import re
from datetime import datetime
from urllib.parse import urlsplit

LEVELS = {"none", "note", "warning", "error"}
KINDS = {"notApplicable", "pass", "fail", "review", "open", "informational"}
UNRESERVED = re.compile(r"(?:%[0-9A-Fa-f]{2}|[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=])+", re.ASCII)


def check(log):
    """Return the only run of ``log``, or fail for a violation of the specification."""
    assert log["version"] == "2.1.0"  # 3.13.2
    (run,) = log["runs"]
    driver = run["tool"]["driver"]  # 3.18.2
    assert driver["name"]  # 3.19.8
    for rule in driver["rules"]:
        check_rule(rule)
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(ids) == len(set(ids))  # 3.19.23
    for invocation in run["invocations"]:
        assert isinstance(invocation["executionSuccessful"], bool)  # 3.20.14
        check_time(invocation["endTimeUtc"])
    for result in run["results"]:
        check_result(result, ids)
    assert len({"suppressions" in result for result in run["results"]}) <= 1  # 3.27.23
    return run


def check_rule(rule):
    assert rule["id"]  # 3.49.3
    for name in ("shortDescription", "fullDescription", "help"):
        assert rule.get(name, {"text": "x"})["text"]  # 3.12.3
    if "helpUri" in rule:
        check_uri(rule["helpUri"])
    assert rule.get("defaultConfiguration", {"level": "note"})["level"] in LEVELS


def check_result(result, ids):
    assert ids[result["ruleIndex"]] == result["ruleId"]  # 3.27.6
    assert result["kind"] in KINDS
    assert result["level"] in LEVELS
    assert result["kind"] == "fail" or result["level"] == "none"  # 3.27.10
    assert result["message"]["text"]  # 3.27.11
    for location in result["locations"]:
        check_uri(location["physicalLocation"]["artifactLocation"]["uri"])  # 3.4.3
    for suppression in result["suppressions"]:
        assert suppression["kind"] in ("inSource", "external")  # 3.35.2
        assert suppression["status"] in ("accepted", "underReview", "rejected")  # 3.35.3
    for name in ("firstDetectionTimeUtc", "lastDetectionTimeUtc"):
        check_time(result["provenance"].get(name, "2026-11-20T09:30:00Z"))
    if "hostedViewerUri" in result:
        check_uri(result["hostedViewerUri"])


def check_uri(text):
    assert UNRESERVED.fullmatch(text), text
    assert urlsplit(text).scheme in ("http", "https"), text
    assert urlsplit(text).hostname, text


def check_time(text):
    assert text.endswith("Z")  # 3.9
    datetime.fromisoformat(text)
