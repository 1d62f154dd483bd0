import pytest

from config.demo.sample_data import Location, Page, read_sample_data
from dashboard_api.models import Kind, Severity

DATA = read_sample_data()
LOCATION = Location("www.shop.example.com", Page("/cart", "item"))


@pytest.mark.parametrize("weakness", DATA.weaknesses, ids=lambda weakness: weakness.title)
def test_weakness_is_complete(weakness):
    assert weakness.severity in Severity.labels
    assert weakness.kind in Kind.values
    assert weakness.rules.keys() <= DATA.sources.keys()
    assert weakness.description
    assert weakness.remediation
    assert weakness.references
    for text in (weakness.title, weakness.description, weakness.evidence, weakness.location):
        assert "$" not in LOCATION.fill(text)


@pytest.mark.parametrize("weakness", DATA.weaknesses, ids=lambda weakness: weakness.title)
def test_weakness_names_a_page_only_if_it_occurs_on_pages(weakness):
    texts = weakness.title + weakness.description + weakness.evidence + weakness.location
    assert not (weakness.location and ("$path" in texts or "$parameter" in texts))


def test_location_fills_in_its_names():
    assert (
        LOCATION.fill("“$parameter” on https://$host$path") == "“item” on https://www.shop.example.com/cart"
    )
