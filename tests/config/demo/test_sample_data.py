import pytest

from config.demo.sample_data import Location, Page, read_catalogue
from dashboard_api.models import Kind, Severity

CATALOGUE = read_catalogue()
LOCATION = Location("www.shop.example.com", Page("/cart", "item"))


@pytest.mark.parametrize("problem", CATALOGUE.problems, ids=lambda problem: problem.title)
def test_problem_is_complete(problem):
    assert problem.severity in Severity.labels
    assert problem.kind in Kind.values
    assert problem.rules.keys() <= CATALOGUE.sources.keys()
    assert problem.description
    assert problem.remediation
    assert problem.references
    for text in (problem.title, problem.description, problem.evidence, problem.location):
        assert "$" not in LOCATION.fill(text)


@pytest.mark.parametrize("problem", CATALOGUE.problems, ids=lambda problem: problem.title)
def test_problem_names_a_page_only_if_it_occurs_on_pages(problem):
    texts = problem.title + problem.description + problem.evidence + problem.location
    assert not (problem.location and ("$path" in texts or "$parameter" in texts))


def test_place_fills_in_its_names():
    assert (
        LOCATION.fill("“$parameter” on https://$host$path") == "“item” on https://www.shop.example.com/cart"
    )
