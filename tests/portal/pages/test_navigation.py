"""The navigation in the header: what each person may see, and where they are."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from portal.models import LastVisit, WebsiteSummary
from portal.pages.navigation import navigation
from signed_api.findings import Summary
from tests.factories import make_membership, make_portal_account, make_portal_website, make_user
from tests.portal.dashboards import make_dashboard
from tests.structs import build

pytestmark = pytest.mark.django_db

NAVIGATION = re.compile(r'<nav id="navigation".*?</nav>', re.DOTALL)
LINK = re.compile(r'<a href="([^"]*)"(?:\s+aria-current="true")?>([^<]*?)\s*</a>')


@pytest.fixture
def account():
    return make_portal_account()


@pytest.fixture
def make_request(rf):
    def make_request(user):
        request = rf.get("/")
        request.user = user
        return request

    return make_request


def navigation_of(client, path="/help/"):
    found = NAVIGATION.search(client.get(path).text)
    return found[0] if found else ""


def member(client, account, role="owner"):
    make_membership(person := make_user("person"), account, role=role)
    client.force_login(person)
    return person


@pytest.mark.parametrize(("role", "sees_members"), [("owner", True), ("manager", True), ("viewer", False)])
def test_every_member_has_the_same_links_and_only_owners_and_managers_those_of_the_account(
    client, account, role, sees_members
):
    member(client, account, role)
    labels = [label for _, label in LINK.findall(navigation_of(client))]
    members, own = (["Team"], ["Plan", "API"]) if sees_members else ([], [])
    assert labels == ["Websites", "What is new", *members, "Notifications", *own, "Help"]


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
        ("/team/", "Team"),
        ("/notifications/", "Notifications"),
        ("/plan/", "Plan"),
        ("/api/", "API"),
        ("/help/", "Help"),
        ("/accounts/", None),
    ],
)
def test_the_part_of_the_page_is_marked(client, account, path, current):
    make_portal_website(account)
    member(client, account)
    marked = re.findall(r'aria-current="true">([^<]*?)\s*<', navigation_of(client, path))
    assert marked == ([current] if current else [])


def test_a_visitor_and_a_person_without_accounts_have_no_navigation(client):
    assert navigation_of(client, "/accounts/login/") == ""
    client.force_login(make_user("newcomer"))
    assert navigation_of(client) == ""


def test_the_navigation_costs_a_few_queries_and_a_fragment_none(
    client, account, make_request, django_assert_max_num_queries
):
    make_portal_website(account)
    request = make_request(member(client, account))
    with django_assert_max_num_queries(0):
        context = navigation(request)
    with django_assert_max_num_queries(4):
        assert len(list(context["navigation"])) == 7


def test_a_person_with_several_websites_can_switch(client, account, make_request):
    request = make_request(member(client, account))
    make_portal_website(account)
    make_portal_website(make_portal_account("acct_0002"), "theirs.example.com")
    assert not navigation(request)["has_several_websites"]
    make_portal_website(account, "other.example.com")
    assert navigation(request)["has_several_websites"]


class TestUnread:
    """The dot at "What is new": websites with more new findings than at the last visit of the page."""

    DOT = re.compile(r'class="unread" title="([^"]*)"')

    def store(self, website, new, at=None):
        summary = build(Summary, open=new, new_7d=new)
        WebsiteSummary.objects.store(website, dashboard=make_dashboard(summary=summary))
        if at:
            WebsiteSummary.objects.update(grew_at=at)

    def dots(self, client, path="/help/"):
        return self.DOT.findall(client.get(path).text)

    def test_it_counts_websites_with_new_findings(self, client, account):
        member(client, account)
        assert self.dots(client) == []
        for number in range(2):
            self.store(make_portal_website(account, f"shop{number}.example.com"), 3)
        self.store(make_portal_website(account, "clean.example.com"), 0)
        dot = "2 websites have new findings"
        assert self.dots(client) == [dot, dot]  # at the link, and at the button of phones

    def test_it_goes_out_with_the_visit_until_there_are_more(self, client, account):
        member(client, account)
        website = make_portal_website(account)
        self.store(website, 3)
        assert self.dots(client, "/new/") == []
        for new, dots in ((3, 0), (1, 0), (2, 2)):  # findings leave the last seven days
            self.store(website, new)
            assert len(self.dots(client)) == dots

    def test_a_refused_call_neither_lights_nor_quenches_it(self, client, account):
        member(client, account)
        website = make_portal_website(account)
        self.store(website, 3)
        WebsiteSummary.objects.store(website, refusal="revoked_link")
        assert len(self.dots(client)) == 2
        client.get("/new/")
        self.store(website, 3)
        assert self.dots(client) == []

    def test_what_is_older_than_the_page_lists_is_not_counted(self, client, account):
        member(client, account)
        self.store(make_portal_website(account), 3, at=timezone.now() - timedelta(days=8))
        assert self.dots(client) == []

    def test_each_person_has_a_visit_of_their_own(self, client, account):
        member(client, account)
        self.store(make_portal_website(account), 3)
        client.get("/new/")
        make_membership(other := make_user("other"), account)
        client.force_login(other)
        assert len(self.dots(client)) == 2
        client.head("/new/")
        assert len(self.dots(client)) == 2

    def test_websites_of_others_are_not_counted(self, client, account):
        member(client, account)
        self.store(make_portal_website(make_portal_account("acct_0002"), "theirs.example.com"), 3)
        assert self.dots(client) == []

    def test_a_visit_ends_with_the_person(self, client, account):
        person = member(client, account)
        client.get("/new/")
        person.delete()
        assert not LastVisit.objects.exists()
