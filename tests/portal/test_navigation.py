"""The navigation in the header: what each person may see, and where they are."""

import re

import pytest

from tests.factories import make_membership, make_portal_account, make_portal_website, make_user

pytestmark = pytest.mark.django_db

NAVIGATION = re.compile(r'<nav id="navigation".*?</nav>', re.DOTALL)
LINK = re.compile(r'<a href="([^"]*)"(?:\s+aria-current="true")?>([^<]*)</a>')


@pytest.fixture
def account():
    return make_portal_account()


def navigation_of(client, path="/help/"):
    found = NAVIGATION.search(client.get(path).text)
    return found[0] if found else ""


def member(client, account, role="owner"):
    make_membership(person := make_user("person"), account, role=role)
    client.force_login(person)
    return person


@pytest.mark.parametrize(("role", "sees_members"), [("owner", True), ("manager", True), ("viewer", False)])
def test_every_member_has_the_same_links_and_only_owners_and_managers_the_members(
    client, account, role, sees_members
):
    member(client, account, role)
    labels = [label for _, label in LINK.findall(navigation_of(client))]
    members, api = (["Members"], ["API"]) if sees_members else ([], [])
    assert labels == ["Websites", "What is new", *members, "Alerts", *api, "Help"]


def test_every_link_opens(client, account):
    member(client, account)
    for path, _ in LINK.findall(navigation_of(client)):
        assert client.get(path).status_code == 200


@pytest.mark.parametrize(
    ("path", "current"),
    [
        ("/", "Websites"),
        ("/sites/nowhere.example.com/", "Websites"),
        ("/new/", "What is new"),
        ("/team/", "Members"),
        ("/notifications/", "Alerts"),
        ("/api/", "API"),
        ("/help/", "Help"),
        ("/accounts/", None),
    ],
)
def test_the_part_of_the_page_is_marked(client, account, path, current):
    make_portal_website(account)
    member(client, account)
    marked = re.findall(r'aria-current="true">([^<]*)<', navigation_of(client, path))
    assert marked == ([current] if current else [])


def test_a_visitor_and_a_person_without_accounts_have_no_navigation(client):
    assert navigation_of(client, "/accounts/login/") == ""
    client.force_login(make_user("newcomer"))
    assert navigation_of(client) == ""


def test_the_navigation_costs_one_query_and_a_fragment_none(client, account, django_assert_num_queries):
    from django.test import RequestFactory

    from portal.navigation import navigation

    request = RequestFactory().get("/")
    request.user = member(client, account)
    with django_assert_num_queries(0):
        context = navigation(request)
    with django_assert_num_queries(1):
        assert len(list(context["navigation"])) == 6
