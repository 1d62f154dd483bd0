import pytest

from config.demo.sample_data import Page, PageOnHost, read_sample_data
from dashboard_api.models import Kind, Severity, problem_key
from dashboard_api.reading.topics import problem_id
from dashboard_api.scanners.topics import TOPICS

DATA = read_sample_data()
PAGE = PageOnHost("www.shop.example.com", Page("/cart", "item"))


@pytest.mark.parametrize("weakness", DATA.weaknesses, ids=lambda weakness: weakness.title)
def test_weakness_is_complete(weakness):
    assert weakness.severity in Severity.labels
    assert weakness.kind in Kind.values
    assert weakness.rules.keys() <= DATA.sources.keys()
    assert weakness.description
    assert weakness.remediation
    assert weakness.references
    for text in (weakness.title, weakness.description, weakness.evidence, weakness.only_location):
        assert "$" not in PAGE.fill_in(text)


@pytest.mark.parametrize("weakness", DATA.weaknesses, ids=lambda weakness: weakness.title)
def test_weakness_names_a_page_only_if_it_occurs_on_pages(weakness):
    texts = weakness.title + weakness.description + weakness.evidence + weakness.only_location
    assert not (weakness.only_location and ("$path" in texts or "$parameter" in texts))


@pytest.mark.parametrize("weakness", DATA.weaknesses, ids=lambda weakness: weakness.title)
def test_a_weakness_that_several_scanners_report_is_one_problem(weakness):
    problems = {problem_id(problem_key(source, rule, "")) for source, rule in weakness.rules.items()}
    assert len(problems) == 1


def test_the_worst_problems_have_topics_and_so_german_titles_and_fixes():
    topics = {
        (source, rule) for topic in TOPICS.values() for source, own in topic.rules.items() for rule in own
    }
    critical = [weakness for weakness in DATA.weaknesses if weakness.severity == Severity.CRITICAL.label]
    assert critical
    assert [weakness.title for weakness in critical if not weakness.rules.items() <= topics] == []


def test_location_fills_in_its_names():
    assert PAGE.fill_in("“$parameter” on https://$host$path") == "“item” on https://www.shop.example.com/cart"
