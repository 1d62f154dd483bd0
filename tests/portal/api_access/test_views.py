"""The page for those who call the API, with a stub of the service."""

import re

import pytest

from foundation.texts.snippets import SNIPPETS
from portal.answers import service
from portal.api_access import view_models
from signed_api.errors import TimedOut
from signed_api.findings import DASHBOARD, DashboardRequest
from tests.factories import make_membership, make_portal_account, make_portal_website, make_user
from tests.portal.dashboards import make_dashboard, make_summary

pytestmark = pytest.mark.django_db

PAGE = "/api/"


@pytest.fixture
def stub(monkeypatch):
    """Return the calls, which succeed until ``error`` is one."""

    class Stub(list):
        error = None

        def get_dashboard(self, website, request):
            self.append((website.host, request))
            if self.error:
                raise self.error
            return make_dashboard(summary=make_summary(open=1_084))

    stub = Stub()
    monkeypatch.setattr(service, "get_dashboard", stub.get_dashboard)
    return stub


@pytest.fixture
def account():
    return make_portal_account("acct_0001", name="Example Shops")


@pytest.fixture
def website(account):
    return make_portal_website(account, "shop.example.com")


@pytest.fixture
def theirs():
    return make_portal_website(make_portal_account("acct_0002"), "theirs.example.com")


def member(client, account, role="owner"):
    make_membership(person := make_user(role), account, role=role)
    client.force_login(person)
    return client


def test_call(website):
    return f"/api/{website.pk}/test/"


test_call.__test__ = False


@pytest.mark.parametrize("role", ["owner", "manager"])
def test_owners_and_managers_see_what_their_backend_sends(client, account, website, theirs, role):
    page = member(client, account, role).get(PAGE).text
    assert page.count(website.link_id) >= 3  # the list, and each snippet
    assert "acct_0001" in page
    assert f"http://testserver{DASHBOARD.path}" in page
    assert 'href="http://testserver/v1/docs"' in page
    for other in ("theirs.example.com", "acct_0002"):
        assert other not in page


def test_the_call_is_there_in_each_language_with_the_ids(client, account, website):
    page = member(client, account).get(PAGE).text
    for snippet in SNIPPETS:
        assert f">{snippet.title}</label>" in page
    assert page.count(website.link_id) == 1 + len(SNIPPETS)
    assert page.count("SITE_API_SECRET") >= len(SNIPPETS)


def test_no_secret_is_on_the_page(client, account, website):
    assert account.reveal_secret() not in member(client, account).get(PAGE).text


def test_viewers_see_neither_ids_nor_calls(client, account, website, stub):
    page = member(client, account, "viewer")
    assert website.link_id not in page.get(PAGE).text
    assert "Only owners and managers see the API" in page.get(PAGE).text
    assert page.post(test_call(website)).status_code == 404
    assert stub == []


@pytest.mark.parametrize("link_url", ["", "https://example.com/link"])
def test_before_an_account_has_a_website_the_page_leads_to_adding_one(client, account, settings, link_url):
    settings.LINK_URL = link_url
    browser = member(client, account)
    page = browser.get(PAGE).text
    assert "Only owners and managers" not in page
    assert "acct_0001" in page
    assert f'href="/api/{account.pk}/secrets/"' in page
    assert f'href="{link_url or "/websites/add/?account=acct_0001"}">Add a website</a>' in page
    second = make_portal_account("acct_0002", name="Second Shop")
    make_membership(account.memberships.get().user, second)
    make_portal_website(second)
    page = browser.get(PAGE).text
    assert page.index("acct_0001") < page.index("Add a website</a>") < page.index("acct_0002")


def test_each_account_leads_to_adding_a_website_of_its_own(client, account, settings):
    settings.LINK_URL = ""
    browser = member(client, account)
    make_membership(account.memberships.get().user, make_portal_account("acct_0002"))
    page = browser.get(PAGE).text
    assert re.findall(r'href="([^"]*)">Add a website</a>', page) == [
        "/websites/add/?account=acct_0001",
        "/websites/add/?account=acct_0002",
    ]


def test_a_manager_here_who_views_there_sees_only_this_account(client, account, website, theirs):
    browser = member(client, account, "manager")
    make_membership(account.memberships.get().user, theirs.account, role="viewer")
    assert theirs.link_id not in browser.get(PAGE).text.replace(website.link_id, "")
    assert "theirs.example.com" not in browser.get(PAGE).text
    assert browser.post(test_call(theirs)).status_code == 404


def test_a_test_call_says_that_it_works(client, account, website, stub):
    page = member(client, account).post(test_call(website), follow=True)
    assert re.search(r"The call for shop\.example\.com works, in \d+ ms\. Open findings: 1,084\.", page.text)
    assert stub == [("shop.example.com", DashboardRequest(page_size=1))]


def test_a_test_call_that_fails_says_why_and_names_a_reference(client, account, website, stub):
    stub.error = TimedOut()
    page = member(client, account).post(test_call(website), follow=True).text
    assert "The call for shop.example.com failed: The service is taking too long." in page
    assert "Reference for support" in page


def test_a_test_call_needs_a_form_and_a_sign_in(client, account, website, stub):
    assert client.post(test_call(website))["Location"].startswith("/accounts/login/")
    assert member(client, account).get(test_call(website)).status_code == 405
    assert stub == []


def test_a_long_list_ends_and_counts_the_rest(client, account, website, monkeypatch):
    monkeypatch.setattr(view_models, "MAX_WEBSITES", 2)
    for number in range(4):
        make_portal_website(account, f"zz{number}.example.com")
    page = member(client, account).get(PAGE).text
    assert page.count('action="/api/') == 2
    assert "3 more websites." in page


@pytest.mark.parametrize(
    ("address", "base"),
    [
        ("", "https://portal.example.com"),
        ("http://127.0.0.1:8001", "https://portal.example.com"),
        ("https://api.example.com", "https://api.example.com"),
    ],
)
def test_the_address_of_the_api_is_one_that_customers_reach(rf, settings, address, base):
    settings.DASHBOARD_BASE_URL, settings.PORTAL_BASE_URL = address, "https://portal.example.com"
    assert view_models.public_base_url(rf.get("/")) == base
