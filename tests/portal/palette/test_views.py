"""The fragments of the palette: a member's own websites and pages."""

import re

import pytest

from portal.palette import view_models
from tests.factories import make_membership, make_portal_account, make_portal_website, make_user
from tests.portal.service_answers import answer_pages

pytestmark = pytest.mark.django_db

HITS = "/palette/hits/"
LINK = re.compile(r'<a href="([^"]*)">(?:<b>)?([^<]*)<')


@pytest.fixture
def account():
    account = make_portal_account("acct_0001", name="Example Ltd")
    for host in ("shop.example.com", "my-shop.example.com", "blog.example.com"):
        make_portal_website(account, host)
    return account


@pytest.fixture
def theirs():
    return make_portal_website(make_portal_account("acct_0002", name="Shops of others"), "shop.example.org")


@pytest.fixture
def browser(client, account):
    make_membership(person := make_user(), account)
    client.force_login(person)
    return client


def links(browser, query="", path=HITS):
    return {label: url for url, label in LINK.findall(browser.get(path, {"query": query}).text)}


def test_a_part_of_the_name_finds_websites_that_begin_with_it_first(browser):
    assert list(links(browser, "SHOP").items())[:2] == [
        ("shop.example.com", "/sites/shop.example.com/"),
        ("my-shop.example.com", "/sites/my-shop.example.com/"),
    ]


def test_the_name_of_an_account_finds_its_websites(browser):
    assert len(links(browser, "example ltd")) == 3


def test_pages_are_found_by_their_names(browser):
    assert links(browser, "what") == {"What is new": "/new/"}
    assert links(browser, "notific") == {"Notifications": "/notifications/"}


def test_a_websites_page_leads_to_its_overdue_findings_and_to_mine(browser):
    page = {"HTTP_REFERER": "http://testserver/sites/shop.example.com/?severity=High"}
    found = {label: url for url, label in LINK.findall(browser.get(HITS, {"query": "me"}, **page).text)}
    assert found["Assigned to me"] == "/sites/shop.example.com/?assignee=me"
    found = {label: url for url, label in LINK.findall(browser.get(HITS, {"query": "over"}, **page).text)}
    assert found == {"Overdue": "/sites/shop.example.com/?due=overdue"}
    assert "Overdue" not in links(browser, "over")


def test_without_a_text_there_are_all_pages_and_the_first_websites(browser, monkeypatch):
    monkeypatch.setattr(view_models, "MAX_WEBSITES", 2)
    found = links(browser)
    assert list(found)[:2] == ["blog.example.com", "my-shop.example.com"]
    assert {"Websites", "Team", "API", "Help", "Share links", "Your account"} <= found.keys()
    assert "There are more." in browser.get(HITS).text


def test_every_hit_opens(browser, monkeypatch):
    answer_pages(monkeypatch)
    for path in links(browser, "e").values():
        if not path.startswith("/sites/"):  # their results come from the service
            assert browser.get(path).status_code == 200


@pytest.mark.parametrize("query", ["", "shop", "shop.example.org", "acct_0002", "others"])
@pytest.mark.parametrize("path", [HITS, "/palette/"])
def test_nothing_of_another_account_is_found(browser, theirs, path, query):
    page = browser.get(path, {"query": query}).text
    for text in ("shop.example.org", "acct_0002", "Shops of others"):
        assert text not in page


def test_viewers_are_not_offered_pages_of_owners(client, account):
    make_membership(person := make_user("viewer"), account, role="viewer")
    client.force_login(person)
    assert not {"Team", "API", "Share links", "Admin"} & links(client).keys()


def test_a_website_of_two_accounts_is_listed_once_for_each(browser, account, theirs):
    make_portal_website(theirs.account, "blog.example.com")
    make_membership(account.memberships.get().user, theirs.account)
    page = browser.get(HITS, {"query": "blog"}).text
    assert "/sites/blog.example.com/?account=acct_0001" in page
    assert "/sites/blog.example.com/?account=acct_0002" in page


@pytest.mark.parametrize("query", ["%", "_", "x" * 300, "<b>"])
def test_any_text_can_be_typed(browser, query):
    assert browser.get(HITS, {"query": query}).status_code == 200


def test_nothing_found_says_so(browser):
    page = browser.get(HITS, {"query": "zzz"}).text
    assert "Nothing found." in page
    assert 'data-status="0 results"' in page
