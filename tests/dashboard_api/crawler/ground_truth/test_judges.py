"""Reasons for differences from other scanners; the command of the package judges needs npm and is no test."""

import re

import pytest

from dashboard_api.crawler.essentials.rules import RULES
from tests.dashboard_api.crawler.ground_truth.judges.__main__ import POINTS, REASONS, Difference
from tests.dashboard_api.crawler.ground_truth.table import websites

NAMES = [f"{website.line}: {website.name}" for website in websites()]


@pytest.mark.parametrize("reason", REASONS, ids=lambda reason: reason["reason"][:60])
def test_a_reason_is_about_a_judge_and_about_websites_of_the_table(reason):
    assert reason["judge"] in ("Observatory", "csp_evaluator")
    assert reason.keys() <= {*Difference._fields, "reason"}
    assert any(re.fullmatch(reason.get("website", ".*"), name) for name in NAMES)


def test_points_are_given_for_rules_of_ours():
    assert {rule for rules in POINTS.values() for rule in rules} <= RULES.keys()


def test_a_difference_has_the_reason_whose_patterns_match_all_of_it():
    known = Difference("csp_evaluator", NAMES[0], "policy", "MISSING_DIRECTIVES object-src", "")
    assert "plug-ins" in known.reason
    assert not known._replace(theirs="MISSING_DIRECTIVES object-src, PLAIN_WILDCARD script-src").reason
    assert not known._replace(ours="csp-unsafe-scripts").reason
