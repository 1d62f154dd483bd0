"""The findings before and after one finding of a list."""

import pytest

from portal.pages.forms import Filters
from portal.pages.urls import Address
from portal.pages.view_models import find_neighbours
from tests.portal.dashboards import make_dashboard, make_page, make_threat

SIZE = 20
IDS = [f"f{number}" for number in range(1, 46)]  # three pages


class Lists:
    """The pages of a list, and the requests for them."""

    def __init__(self, ids=IDS, **fields):
        self.ids, self.fields, self.requests = ids, fields, []

    def __call__(self, request):
        self.requests.append(request)
        ids = self.ids[(request.page - 1) * SIZE : request.page * SIZE]
        page = {"page": request.page, "page_count": -(-len(self.ids) // SIZE), "total": len(self.ids)}
        return make_dashboard(
            dashboard=make_page(**page | self.fields), threats=[make_threat(id=each) for each in ids]
        )


def find(finding_id, lists, **filters):
    return find_neighbours(finding_id, Address(path="/s/", filters=Filters(**filters)), lists)


def test_neighbours_are_those_of_the_list_with_its_filters():
    lists = Lists()
    found = find("f7", lists, severity="High", sort="newest")
    assert found.previous_url == "/s/findings/f6/?severity=High&sort=newest"
    assert found.next_url == "/s/findings/f8/?severity=High&sort=newest"
    assert found.position == "7 of 45"
    assert [(request.severity, request.sort) for request in lists.requests] == [("High", "newest")]


@pytest.mark.parametrize(
    ("finding_id", "page", "previous", "following"),
    [
        ("f20", 1, "/s/findings/f19/", "/s/findings/f21/?page=2"),
        ("f21", 2, "/s/findings/f20/", "/s/findings/f22/?page=2"),
        ("f40", 2, "/s/findings/f39/?page=2", "/s/findings/f41/?page=3"),
    ],
)
def test_neighbours_may_be_on_another_page(finding_id, page, previous, following):
    lists = Lists()
    found = find(finding_id, lists, page=page)
    assert (found.previous_url, found.next_url) == (previous, following)
    assert found.position == f"{finding_id[1:]} of 45"
    assert len(lists.requests) == 2


def test_a_list_has_two_ends():
    assert find("f1", Lists()).previous_url == ""
    assert find("f45", Lists(), page=3).next_url == ""
    alone = find("f1", Lists(["f1"]))
    assert (alone.previous_url, alone.next_url, alone.position) == ("", "", "1 of 1")


def test_a_finding_that_the_page_does_not_list_has_none():
    assert find("f21", Lists()) is None
    assert find("other", Lists([])) is None


def test_a_list_of_problems_is_not_requested():
    lists = Lists()
    assert find("f1", lists, view="problems") is None
    assert lists.requests == []


def test_pages_beyond_the_limit_of_the_service_are_not_requested():
    lists = Lists([f"f{number}" for number in range(1, 10_021)])
    assert find("f10000", lists, page=500).next_url == ""
    assert len(lists.requests) == 1


def test_an_id_that_has_no_page_has_no_link():
    assert find("f1", Lists(["f1", "a b"])).next_url == ""
