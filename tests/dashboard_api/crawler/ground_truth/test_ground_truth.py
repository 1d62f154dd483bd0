"""A tenth of the ground truth in each run of the tests; the command of this package scans all of it."""

from collections import Counter

import msgspec
import pytest

from dashboard_api.crawler.essentials.rules import RULES
from tests.dashboard_api.crawler.ground_truth import figures
from tests.dashboard_api.crawler.ground_truth.table import websites

WEBSITES = websites()
SAMPLE = WEBSITES[::10]


@pytest.fixture(scope="module")
def scanned():
    with figures.scanning() as scanned:
        yield scanned


def test_the_table_has_each_line_twice_and_half_of_its_websites_without_a_finding():
    lines = Counter(website.line for website in WEBSITES)
    without_finding = [website for website in WEBSITES if not website.wanted]
    assert min(lines.values()) >= 2
    assert 0.45 <= len(without_finding) / len(WEBSITES) <= 0.55
    assert len({(website.line, website.name) for website in WEBSITES}) == len(WEBSITES)
    assert {rule for website in WEBSITES for rule in website.wanted} <= RULES.keys()


@pytest.mark.parametrize("website", SAMPLE, ids=lambda website: f"{website.line}: {website.name}")
def test_what_a_tester_would_report_is_found_and_no_more(scanned, website):
    result = scanned(website)
    assert (result.missed, result.extra) == ([], [])
    assert result.requests <= 20


def test_a_scanner_that_misses_and_invents_is_seen(scanned):
    headers = {"X-Content-Type-Options": ""}
    wrong = msgspec.structs.replace(WEBSITES[0], wanted=["csp-missing"], headers=headers)
    result = scanned(wrong)
    assert (result.found, result.missed, result.extra) == ([], ["csp-missing"], ["nosniff-missing"])
    assert [*figures.table_of([result])][-1].split() == ["all", "0", "1", "1"]
