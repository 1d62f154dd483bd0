import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from django_htmx.middleware import HtmxDetails

from portal.pages.forms import Filters
from portal.pages.htmx import set_shown_url, wants_region
from portal.pages.urls import Address

PATH = "/sites/shop.example.com/"
REGION = {"hx_request": "true", "hx_target": "results"}


def make_request(**headers):
    request = RequestFactory().get(PATH, headers=headers)
    request.htmx = HtmxDetails(request)
    return request


def shown(before, now, *, trigger, path=PATH):
    """Return the header for htmx, push or replace, and its URL, when ``before`` becomes ``now``."""
    request = make_request(**REGION, hx_trigger=trigger, hx_current_url=f"http://testserver{PATH}{before}")
    response = HttpResponse()
    set_shown_url(request, response, str(Address(path=path, filters=now)), now)
    (how,) = (name for name in ("HX-Push-Url", "HX-Replace-Url") if name in response)
    return how, response[how]


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, False),
        (REGION, True),
        ({"hx_target": "results"}, False),
        ({"hx_request": "true"}, False),
        ({"hx_request": "true", "hx_target": "other"}, False),
        (REGION | {"hx_history_restore_request": "true"}, False),
    ],
)
def test_only_a_request_for_the_region_gets_the_region(headers, expected):
    assert wants_region(make_request(**headers)) is expected


def test_a_new_filter_is_a_step_in_the_history():
    assert shown("", Filters(severity="High"), trigger="facet-severity-high") == (
        "HX-Push-Url",
        PATH + "?severity=High",
    )


def test_the_first_word_of_a_search_is_a_step():
    assert (
        shown("?severity=High", Filters(severity="High", query="jq"), trigger="filters")[0] == "HX-Push-Url"
    )


def test_refining_a_search_is_none():
    assert shown("?query=jq", Filters(query="jquery"), trigger="filters") == (
        "HX-Replace-Url",
        PATH + "?query=jquery",
    )


def test_refining_a_search_from_a_later_page_is_none():
    assert shown("?query=jq&page=3", Filters(query="jquery"), trigger="filters")[0] == "HX-Replace-Url"


def test_clearing_a_search_is_a_step():
    assert shown("?query=jq", Filters(), trigger="filters")[0] == "HX-Push-Url"


def test_another_page_of_a_search_is_a_step():
    assert shown("?query=jq", Filters(query="jq", page=2), trigger="page-2")[0] == "HX-Push-Url"


def test_asking_again_for_the_same_is_none():
    assert shown("?severity=High", Filters(severity="High"), trigger="retry")[0] == "HX-Replace-Url"


def test_a_finding_of_the_list_is_a_step_and_so_is_the_way_back():
    high = Filters(severity="High")
    there = shown("?severity=High", high, trigger="finding-7", path=PATH + "findings/7/")
    assert there == ("HX-Push-Url", PATH + "findings/7/?severity=High")
    back = shown("findings/7/?severity=High", high, trigger="")
    assert back == ("HX-Push-Url", PATH + "?severity=High")


def test_asking_again_for_a_finding_is_none():
    again = shown("findings/7/", Filters(), trigger="retry", path=PATH + "findings/7/")
    assert again[0] == "HX-Replace-Url"
