"""The pages as a browser gets them, with a stub of the service."""

import gzip
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from config.operations.logs import TextLines
from portal import models as portal
from portal.answers import service
from portal.models import WebsiteSummary
from portal.pages.view_models.site_rows import FRESH_TIME
from portal.pages.view_models.sites import PAGE_SIZE
from signed_api.errors import (
    InactiveEntitlement,
    RateLimited,
    RevokedLink,
    SlowRequest,
    TimedOut,
    UnknownFinding,
    UnknownLink,
)
from signed_api.findings import DASHBOARD, DashboardRequest, Event, Location
from tests.factories import make_membership, make_portal_account, make_portal_website, make_user
from tests.portal.dashboards import (
    NOW,
    make_clean_dashboard,
    make_coverage,
    make_dashboard,
    make_entitlement,
    make_finding,
    make_finding_response,
    make_note,
    make_page,
    make_problem,
    make_summary,
    make_threat,
)
from tests.portal.service_answers import answer_with
from tests.structs import build, refused

pytestmark = [pytest.mark.django_db, pytest.mark.once]

HOST = "shop.example.com"
PATH = f"/sites/{HOST}/"
ERRORS = [
    (refused(InactiveEntitlement, plan="standard", status="expired", ends_on=None), 403, "Renew the plan"),
    (UnknownLink(), 404, "Add a website"),
    (RateLimited(retry_after=30), 503, "Try again"),
    (SlowRequest(), 503, "Try again"),
    (TimedOut(), 504, "Try again"),
]
REGION = {"HX-Request": "true", "HX-Target": "results", "HX-Current-URL": f"http://testserver{PATH}"}


class StubService:
    """Returns or raises ``response``, and records requests."""

    def __init__(self):
        self.response = make_dashboard()
        self.finding = make_finding_response()
        self.requests = []

    def get_dashboard(self, website, request, *, stores_summary=True):
        self.requests.append((website, request))
        if isinstance(self.response, Exception):
            raise self.response
        return self.response

    def get_finding(self, website, finding_id):
        self.requests.append((website, finding_id))
        if isinstance(self.response, Exception):
            raise self.response
        return self.finding


@pytest.fixture
def stub(monkeypatch):
    stub = StubService()
    monkeypatch.setattr(service, "get_dashboard", stub.get_dashboard)
    monkeypatch.setattr(service, "get_finding", stub.get_finding)
    return stub


@pytest.fixture
def account():
    return make_portal_account("acct_0001", name="Example Shops")


@pytest.fixture
def website(account):
    return make_portal_website(account, HOST)


@pytest.fixture
def owner(account, website):
    owner = make_user("owner")
    make_membership(owner, account)
    return owner


@pytest.fixture
def stranger():
    stranger = make_user("stranger")
    account = make_portal_account("acct_0002", name="Someone else")
    make_membership(stranger, account)
    make_portal_website(account, "other.example.com")
    return stranger


@pytest.fixture
def browser(client, owner):
    client.force_login(owner)
    return client


def link_id(number):
    return f"00000000-0000-4000-8000-{number:012}"


def text_of(response):
    """Return the text of a page without tags."""
    return " ".join(re.sub(r"<[^>]*>", " ", response.content.decode()).split())


# The list of websites


def test_the_list_shows_every_website_with_its_account(browser):
    assert "shop.example.com Example Shops" in text_of(browser.get("/"))


def sign_in_as_member(client, account, *, role):
    """Sign a new member of the account in."""
    person = make_user("person")
    make_membership(person, account, role=role)
    client.force_login(person)


MAY_LINK = [("owner", True), ("manager", True), ("viewer", False)]


@pytest.mark.parametrize(("role", "can_link"), MAY_LINK)
def test_the_empty_list_says_who_links_a_website(client, settings, account, role, can_link):
    person = make_user("newcomer")
    make_membership(person, account, role=role)
    client.force_login(person)
    response = client.get("/")
    assert "No websites yet" in text_of(response)
    assert (settings.LINK_URL in response.text) == can_link
    assert ("Ask an owner of your organization" in response.text) != can_link


@pytest.mark.parametrize(("role", "can_link"), MAY_LINK)
@pytest.mark.parametrize("path", ["/", "/sites/nowhere.example.com/"])
def test_owners_and_managers_are_offered_to_link_a_website(
    client, settings, account, website, stub, path, role, can_link
):
    stub.response = refused(RevokedLink, revoked_at=None)
    sign_in_as_member(client, account, role=role)
    assert (settings.LINK_URL in client.get(path).text) == can_link


@pytest.mark.parametrize(("role", "can_link"), MAY_LINK)
def test_without_another_page_the_portals_own_adds_a_website(client, settings, website, role, can_link):
    settings.LINK_URL = ""
    sign_in_as_member(client, website.account, role=role)
    assert ('href="/websites/add/"' in client.get("/").text) == can_link


def test_a_revoked_link_offers_support_and_no_new_link(client, settings, account, website, stub):
    stub.response = refused(RevokedLink, revoked_at=None)
    sign_in_as_member(client, account, role="owner")
    text = client.get(PATH).text
    assert settings.SUPPORT_URL in text
    assert settings.LINK_URL not in text


PAGES_OF_A_WEBSITE = [
    "",
    "findings/7/",
    "findings/7/check/",
    "scans/",
    "new/",
    "findings.csv",
    "report/",
]


@pytest.fixture
def lapsed(monkeypatch, settings, website):
    """The proof of ownership of the website is missing, and websites are added in the portal."""

    def refuse(website):
        raise refused(RevokedLink, revoked_at=None, reason="ownership_lapsed")

    settings.LINK_URL = ""
    monkeypatch.setattr(service, "signer_of_website", refuse)


@pytest.mark.parametrize(("role", "can_link"), MAY_LINK)
@pytest.mark.parametrize("page", PAGES_OF_A_WEBSITE)
@pytest.mark.usefixtures("lapsed")
def test_every_page_of_a_website_offers_a_missing_proof_to_owners_and_managers_alone(
    client, account, page, role, can_link
):
    sign_in_as_member(client, account, role=role)
    response = client.get(PATH + page)
    assert (response.status_code, "The proof of ownership is missing" in response.text) == (403, True)
    assert ("/websites/add/" in response.text) == can_link


@pytest.mark.parametrize(("role", "can_link"), MAY_LINK)
@pytest.mark.parametrize("page", PAGES_OF_A_WEBSITE)
@pytest.mark.usefixtures("lapsed")
def test_an_owner_of_several_accounts_is_led_to_the_proof_in_the_account_of_the_website(
    client, account, page, role, can_link
):
    person = make_user("person")
    make_membership(person, make_portal_account("acct_0000", name="Another"))
    make_membership(person, account, role=role)
    client.force_login(person)
    text = client.get(PATH + page).text
    assert ('href="/websites/add/?account=acct_0001">Add a website<' in text) == can_link
    assert ("/websites/add/" in text) == can_link


def test_a_website_that_none_of_the_accounts_has_is_added_by_a_manager_of_any(client, settings, account):
    settings.LINK_URL = ""
    person = make_user("person")
    make_membership(person, account, role="viewer")
    make_membership(person, make_portal_account("acct_0002"), role="manager")
    client.force_login(person)
    assert 'href="/websites/add/">Add a website<' in client.get("/sites/nowhere.example.com/").text


def test_staff_who_are_members_of_no_account_start_in_the_admin(client, account, website):
    person = make_user("analyst", is_staff=True)
    client.force_login(person)
    assert client.get("/")["Location"] == "/admin/"
    make_membership(person, account)
    assert HOST in client.get("/").text


def test_a_person_without_accounts_sees_whom_to_ask(client):
    client.force_login(make_user("newcomer"))
    assert "Ask an owner of your organization" in client.get("/").text


def test_a_website_in_two_accounts_links_to_the_other(browser, owner):
    second = make_portal_account("acct_0003", name="Second")
    make_membership(owner, second, role="viewer")
    make_portal_website(second, HOST)
    page = browser.get("/").content.decode()
    assert f'href="{PATH}?account=acct_0001"' in page
    assert f'href="{PATH}?account=acct_0003"' in page


# The rows of the list

ROW = f"{PATH}row/"
HTMX = {"HX-Request": "true", "HX-Current-URL": "http://testserver/"}


HIGH = re.compile(r'<td class="high"><a href="[^"]+">\s*2<')


def shows_numbers(response):
    return bool(HIGH.search(response.text))


@pytest.fixture
def storing_stub(monkeypatch, stub):
    """Return the stub, with its responses stored as summaries."""
    monkeypatch.undo()
    answer_with(monkeypatch, DASHBOARD, lambda _, *call: stub.get_dashboard(*call))
    return stub


@pytest.mark.parametrize(("role", "leads_to_a_scan"), [("owner", True), ("manager", True), ("viewer", False)])
def test_a_website_never_checked_leads_owners_and_managers_to_a_scan(
    client, account, website, stub, role, leads_to_a_scan
):
    stub.response = make_clean_dashboard(
        dashboard=make_page(total=0, page_count=0, grade=None),
        coverage=[make_coverage("never", last_run_at=None)],
    )
    client.force_login(make_membership(make_user("reader"), account, role).user)
    page = client.get("/sites/shop.example.com/").content.decode()
    assert ('id="empty-action"' in page) == leads_to_a_scan
    assert ("Scan now" in page) == leads_to_a_scan


@pytest.mark.parametrize(("role", "leads_there"), [("owner", True), ("manager", True), ("viewer", False)])
def test_a_website_without_a_schedule_leads_owners_and_managers_to_it(
    client, account, website, stub, role, leads_there
):
    stub.response = make_dashboard(coverage=[make_coverage(next_due_on=None)])
    client.force_login(make_membership(make_user("reader"), account, role).user)
    page = client.get("/sites/shop.example.com/").content.decode()
    assert "Not scanned automatically." in page
    assert ('<a href="/sites/shop.example.com/scans/">Set a schedule</a>' in page) == leads_there


def test_a_failed_check_leads_to_the_scans_which_have_the_reason(browser, stub):
    link = '<a href="/sites/shop.example.com/scans/">See the scans</a>'
    for state, leads_there in (("ok", False), ("failed", True)):
        stub.response = make_dashboard(coverage=[make_coverage(state)])
        assert (link in browser.get("/sites/shop.example.com/").text) == leads_there


def test_the_header_asks_for_the_styles_of_the_page(browser, stub):
    response = browser.get(PATH)
    url, digest = re.search(r'stylesheet" href="(\S+)" integrity="(\S+)"', response.text).groups()
    assert response["Link"] == f'<{url}>; rel=preload; as=style; integrity="{digest}"'
    part = browser.get(PATH, headers={"HX-Request": "true", "HX-Target": "results"})
    assert "Link" not in part


def test_the_list_sends_no_request(browser, storing_stub):
    assert browser.get("/").status_code == 200
    assert storing_stub.requests == []


def test_a_row_requests_and_shows_the_summary(browser, storing_stub):
    response = browser.get(ROW, headers=HTMX)
    assert response.status_code == 200
    assert b"<html" not in response.content
    assert shows_numbers(response)
    assert b"hx-get" not in response.content
    assert [request for _, request in storing_stub.requests] == [DashboardRequest(page_size=1)]


def test_the_list_shows_the_summary_of_the_last_row_and_refreshes_only_old_ones(browser, storing_stub):
    browser.get(ROW, headers=HTMX)
    page = browser.get("/")
    assert shows_numbers(page)
    assert "hx-get" not in page.text
    WebsiteSummary.objects.update(updated_at=timezone.now() - FRESH_TIME - timedelta(seconds=1))
    page = browser.get("/")
    assert shows_numbers(page)
    assert f'hx-get="{ROW}"' in page.text
    assert 'hx-trigger="intersect once' in page.text
    assert "As of" in text_of(page)


def test_a_website_without_a_summary_is_refreshed_when_it_is_seen(browser):
    page = browser.get("/")
    assert f'hx-get="{ROW}"' in page.text
    assert "The results are not loaded yet." in text_of(page)


def test_the_url_searches_sorts_and_pages_the_list(browser, account):
    for number in range(60):
        make_portal_website(account, f"other{number:02}.example.com")
    first, second = browser.get("/?sort=name").text, browser.get("/?sort=name&page=2").text
    assert ">other00.example.com<" in first
    assert ">other49.example.com<" in first
    assert ">other50.example.com<" not in first
    assert ">other50.example.com<" in second
    found = browser.get("/?query=SHOP.EX&sort=name")
    assert ">shop.example.com<" in found.text
    assert ">other00.example.com<" not in found.text
    assert "1 of 61 websites" in text_of(found)
    assert 'name="sort" value="name"' in found.text


@pytest.mark.parametrize("query", ["page=0", "page=x", f"page={'9' * 30}", "sort=size", "grade=Z"])
def test_a_senseless_filter_is_dropped(browser, query):
    assert "shop.example.com" in text_of(browser.get(f"/?{query}"))


def test_a_search_without_a_match_says_so_and_leads_back(browser):
    page = browser.get("/?query=nothing-of-that-name")
    assert "No website matches" in page.text
    assert 'href="/">Show all' in page.text


def test_five_hundred_websites_are_one_page_of_at_most_60_kb_that_sends_no_request(
    browser, account, storing_stub, django_assert_max_num_queries
):
    portal.Website.objects.bulk_create(
        portal.Website(account=account, host=f"shop{number:03}.example.com", link_id=link_id(number))
        for number in range(500)
    )
    title = "Apache 2.4.49 lets visitors read files and run programs"
    worst = make_page(do_first=[make_problem(number, title=title) for number in range(5)])
    for website in portal.Website.objects.select_related("account"):
        WebsiteSummary.objects.store(website, dashboard=make_dashboard(dashboard=worst))
    browser.get("/")  # a first page stores its language
    with django_assert_max_num_queries(10):
        response = browser.get("/")
    assert len(response.content) <= 60_000
    assert len(gzip.compress(response.content)) <= 10_000
    assert response.text.count('class="site-row"') == PAGE_SIZE
    assert title in response.text
    assert storing_stub.requests == []


def test_the_list_shows_the_summary_of_the_dashboard(browser, storing_stub):
    browser.get(PATH, {"severity": "Low"})
    assert shows_numbers(browser.get("/"))


@pytest.mark.parametrize(("error", "status", "_action"), ERRORS)
def test_a_row_that_gets_no_dashboard_is_an_error_only_where_there_is_a_fault(
    browser, storing_stub, error, status, _action
):
    storing_stub.response = error
    response = browser.get(ROW, headers=HTMX)
    assert response.status_code == (status if status >= 500 else 200)
    assert response["HX-Retarget"].startswith("#site-")


def test_a_failed_row_keeps_its_summary_and_can_be_retried(browser, storing_stub):
    browser.get(ROW, headers=HTMX)
    storing_stub.response = TimedOut()
    response = browser.get(ROW, headers=HTMX)
    assert response.status_code == 504
    assert shows_numbers(response)
    assert "Not refreshed since" in text_of(response)
    assert 'hx-trigger="click from:find .retry"' in response.content.decode()


def test_a_row_of_a_revoked_link_says_so_and_shows_no_numbers_anymore(browser, storing_stub):
    browser.get(ROW, headers=HTMX)
    storing_stub.response = refused(RevokedLink, revoked_at=None)
    for response in (browser.get(ROW, headers=HTMX), browser.get("/")):
        assert "Removed by our team" in text_of(response)
        assert not shows_numbers(response)


def test_a_row_is_a_fragment_for_htmx_only(browser, storing_stub):
    response = browser.get(ROW)
    assert (response.status_code, response["Location"]) == (302, "/")
    assert storing_stub.requests == []


def test_a_list_never_shows_the_summary_of_another_account(browser, stranger, storing_stub, owner):
    second = make_portal_account("acct_0003", name="Second")
    make_portal_website(second, HOST)
    make_membership(owner, second)
    browser.get(ROW, {"account": "acct_0001"}, headers=HTMX)
    assert len(HIGH.findall(browser.get("/").text)) == 1


# Access


@pytest.mark.parametrize(
    ("query", "is_expected"), [("", False), ("?next=/", False), ("?next=/sites/shop.example.com/", True)]
)
def test_the_sign_in_says_that_it_leads_on(client, query, is_expected):
    response = client.get(f"/accounts/login/{query}")
    assert ("see the page that you asked for" in response.text) is is_expected


def test_a_session_that_is_over_leads_back_to_the_filter_that_was_clicked(client, website):
    response = client.get(PATH, {"severity": "Low"}, headers=REGION)
    assert response["HX-Redirect"] == "/accounts/login/?next=%2Fsites%2Fshop.example.com%2F%3Fseverity%3DLow"


def test_a_foreign_website_reads_like_one_that_does_not_exist(client, stranger, website, stub):
    client.force_login(stranger)
    other, nothing = client.get(PATH), client.get("/sites/nowhere.example.com/")
    assert (other.status_code, nothing.status_code) == (404, 404)
    without_host = [
        re.sub(r"<code>\w+</code>", "", text.replace(host, "HOST"))
        for text, host in (
            (other.content.decode(), HOST),
            (nothing.content.decode(), "nowhere.example.com"),
        )
    ]
    assert re.sub(r'value="\w{64}"', "", without_host[0]) == re.sub(r'value="\w{64}"', "", without_host[1])
    assert stub.requests == []


def test_leaving_an_account_takes_effect_on_the_next_request(browser, owner, stub):
    assert browser.get(PATH).status_code == 200
    owner.memberships.all().delete()
    assert browser.get(PATH).status_code == 404


def test_an_account_that_is_not_the_persons_is_not_theirs_by_naming_it(browser, stranger, stub):
    make_portal_website(stranger.portal_accounts.get(), HOST)
    assert browser.get(PATH, {"account": "acct_0002"}).status_code == 404


def test_the_request_uses_the_account_of_the_url(browser, owner, stub):
    second = make_portal_account("acct_0003", name="Second")
    make_membership(owner, second)
    make_portal_website(second, HOST)
    page = browser.get(PATH, {"account": "acct_0003"}).content.decode()
    assert stub.requests[0][0].account == second
    assert f"{PATH}?account=acct_0003&amp;severity=High" in page
    assert f'href="{PATH}?account=acct_0001"' in page


# Page and fragment


def test_the_request_has_the_filters_of_the_url(browser, stub):
    browser.get(
        PATH, {"severity": "High", "query": "log4j", "page": "2", "page_size": "50", "kind": "nonsense"}
    )
    assert stub.requests[0][1] == DashboardRequest(
        severity="High", query="log4j", sort="priority", page=2, page_size=50
    )


def test_a_page_is_whole_and_a_fragment_is_the_region(browser, stub):
    page, fragment = browser.get(PATH), browser.get(PATH, headers=REGION)
    assert page.content.lower().startswith(b"<!doctype html>")
    assert b'<section id="results"' in page.content
    assert fragment.content.startswith(b"<title>shop.example.com")
    assert b"<html" not in fragment.content
    assert b'<section id="results"' in fragment.content


def test_a_restored_history_entry_is_a_whole_page(browser, stub):
    response = browser.get(PATH, headers=REGION | {"HX-History-Restore-Request": "true"})
    assert response.content.lower().startswith(b"<!doctype html>")


@pytest.mark.parametrize("headers", [{}, REGION])
def test_responses_vary_by_htmx_headers_and_are_never_cached(browser, stub, headers):
    response = browser.get(PATH, headers=headers)
    assert {"HX-Request", "HX-Target", "Cookie"} <= set(response["Vary"].split(", "))
    assert response["Cache-Control"] == "private, no-store"


@pytest.mark.parametrize("path", [PATH, f"{PATH}findings/1/"])
def test_pages_are_compressed(browser, stub, path):
    response = browser.get(path, headers={"Accept-Encoding": "gzip"})
    assert response["Content-Encoding"] == "gzip"
    assert b"Finding 1" in gzip.decompress(response.content)
    assert "Accept-Encoding" in response["Vary"]


def test_a_page_of_20_findings_stays_small(browser, stub):
    threats = [make_threat(number, title="A title as long as most of them are") for number in range(20)]
    stub.response = make_dashboard(threats=threats)
    page = browser.get(PATH, headers={"Accept-Encoding": "gzip"})
    whole = gzip.decompress(page.content)
    assert len(whole) < 40_000
    assert len(page.content) < 10_000


def test_a_fragment_brings_the_canonical_address(browser, stub):
    response = browser.get(f"{PATH}?page=1&severity=high&kind=&page_size=20&x=y", headers=REGION)
    assert response["HX-Push-Url"] == f"{PATH}?severity=High"


def test_a_fragment_updates_the_hidden_fields_of_the_search_but_not_its_input(browser, stub):
    response = browser.get(PATH, {"severity": "High", "query": "x"}, headers=REGION)
    assert b'<input type="hidden" name="severity" value="High">' in response.content
    assert re.search(
        rb'<div id="search-fields" data-query="x"\s+hidden hx-swap-oob="true">', response.content
    )
    assert b'id="q"' not in response.content


def test_a_fragment_announces_its_result(browser, stub):
    stub.response = make_dashboard(dashboard=make_page(total=26), summary=make_summary(open=137))
    response = browser.get(PATH, {"severity": "High"}, headers=REGION)
    assert '<p id="status" hx-swap-oob="innerHTML">26 of 137 findings</p>' in response.content.decode()


# Dashboard


def test_a_plan_says_how_long_it_lasts_and_what_stops_then(browser, stub):
    until = make_dashboard().dashboard.generated_at.date() + timedelta(days=165)
    stub.response = make_dashboard(entitlement=make_entitlement(usable_until=until))
    page = text_of(browser.get(PATH))
    assert "165 days left" in page
    assert "When the plan ends, results, downloads and e-mails stop until you renew it." in page


def test_a_row_shows_the_main_facts_and_links_to_the_finding(browser, stub):
    threat = make_threat(severity="Critical", title="Log4Shell", locations_count=4, status="accepted_risk")
    stub.response = make_dashboard(threats=[threat], analyst_notes=[make_note(finding_id="1")])
    response = browser.get(PATH, {"severity": "Critical", "page": 2})
    page = text_of(response)
    for words in (
        "Critical Log4Shell https://shop.example.com/page/1 +3 more locations",
        "Accepted risk · 1 note · Confirmed · Nuclei 19 Nov 2026",
    ):
        assert words in page
    link = f'id="finding-1" href="{PATH}findings/1/?severity=Critical&amp;page=2"'
    assert link in response.content.decode()


def test_untrusted_text_is_always_text(browser, stub):
    evil = '"><img src=x onerror=alert(1)>'
    stub.response = make_dashboard(
        threats=[
            make_threat(
                id=evil, title=evil, description=evil, remediation=evil, evidence=evil, location=evil,
                rule=evil, source=evil, source_name=evil, severity=evil, kind=evil, status=evil,
                references=[f"https://example.com/{evil}", evil], cve=[evil],
            )
        ],
        coverage=[make_coverage(source_name=evil, version=evil, detail=evil, state=evil)],
        analyst_notes=[make_note(author=evil, body=evil)],
        entitlement=make_entitlement(plan=evil, status=evil, features=[evil]),
        dashboard=make_page(grade=evil),
    )  # fmt: skip
    page = browser.get(PATH, {"query": evil}).content.decode()
    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page


def test_numbers_are_grouped(browser, stub):
    stub.response = make_dashboard(summary=make_summary(open=1180), dashboard=make_page(total=1180))
    assert "1,180 findings" in text_of(browser.get(PATH))


def test_a_clean_website_shows_when_and_by_which_scanner(browser, stub):
    stub.response = make_clean_dashboard()
    page = text_of(browser.get(PATH))
    assert "No threats found Last scanned 19 Nov 2026, 22:15 UTC by Nuclei." in page


def test_an_unchecked_website_is_neither_clean_nor_zero(browser, stub):
    stub.response = make_clean_dashboard(
        dashboard=make_page(total=0, page_count=0, grade=None),
        summary=make_summary(open=0, by_severity={}, last_scan_at=None, oldest_open_days=None),
        coverage=[make_coverage("never")],
    )
    page = text_of(browser.get(PATH))
    assert "Not scanned yet" in page
    assert "Not graded yet" in page
    assert "No threats found" not in page
    assert not re.search(r"\b0\b", page)


@pytest.mark.parametrize(("grade", "title"), [("F", "Grade F"), (None, "Not graded yet")])
def test_the_grade_leads_to_its_explanation_also_without_a_grade(browser, stub, grade, title):
    stub.response = make_dashboard(dashboard=make_page(grade=grade))
    link = f'<a href="/how-we-grade/" data-full-page>{title}</a>'
    assert link in browser.get(PATH).text


def test_nothing_matching_names_the_filters_and_the_way_out(browser, stub):
    stub.response = make_dashboard(dashboard=make_page(total=0, page_count=0), threats=[], charts=[])
    response = browser.get(PATH, {"severity": "Low", "query": "zzz"})
    page = text_of(response)
    assert "Nothing matches these filters" in page
    assert "No threats found" not in page
    assert "Remove filter Severity: Low" in page
    assert "Remove filter Search: “zzz”" in page
    assert f'id="clear" href="{PATH}"' in response.content.decode()


# One finding

FINDING = f"{PATH}findings/1/"


def test_a_finding_shows_all_its_details(browser, stub):
    stub.finding = make_finding_response(
        finding=make_finding(
            severity="Critical",
            status="fixed",
            title="Log4Shell",
            description="Remote code.",
            remediation="Update.",
            evidence="GET / HTTP/1.1",
            evidence_truncated=True,
            locations_count=4,
            locations=[
                build(Location, location="https://shop.example.com/a"),
                build(Location, location="/b", evidence="B!"),
            ],
            references=["https://example.com/a", "javascript:alert(1)"],
            cwe=[79],
            cve=["CVE-2021-44228"],
            timeline=[build(Event, at=NOW, event="first_seen"), build(Event, at=NOW, event="fixed")],
        ),
        analyst_notes=[make_note(finding_id="1", body="Reproduced **by hand**.")],
        also_found_by=["ZAP", "Observatory"],
    )
    response = browser.get(FINDING)
    page = text_of(response)
    for words in (
        "Log4Shell – shop.example.com", "Critical · Fixed · Confirmed · Nuclei", "Remote code.", "Update.",
        "GET / HTTP/1.1", "Only the beginning", "https://shop.example.com/a", "Evidence here B!",
        "And 2 more locations.", "CVE-2021-44228", "CWE-79", "http/missing-header", "Reproduced by hand .",
        "Found by Nuclei Also found by ZAP, Observatory",
        "First seen 20 Nov 2026, 09:30 UTC Fixed 20 Nov 2026, 09:30 UTC",
    ):  # fmt: skip
        assert words in page
    text = response.content.decode()
    for url in (
        "https://example.com/a", "https://nvd.nist.gov/vuln/detail/CVE-2021-44228",
        "https://cwe.mitre.org/data/definitions/79.html",
    ):  # fmt: skip
        assert f'href="{url}" rel="noopener noreferrer"' in text
    assert "javascript:" not in text


def test_the_request_has_the_finding_of_the_url(browser, stub, website):
    browser.get(FINDING, {"severity": "High"})
    assert stub.requests == [(website, "1"), (website, DashboardRequest(severity="High", sort="priority"))]


def test_a_finding_leads_to_its_neighbours_in_the_list(browser, stub):
    stub.response = make_dashboard(threats=[make_threat(id=number) for number in ("7", "1", "9")])
    page = browser.get(FINDING, {"severity": "High"})
    for relation, number in (("prev", 7), ("next", 9)):
        assert re.search(rf'rel="{relation}"\s+href="{PATH}findings/{number}/\?severity=High"', page.text)
    assert "2 of 2" in text_of(page)


def test_a_finding_without_its_list_has_no_neighbours(browser, stub, monkeypatch):
    def refuse(*_, **__):
        raise TimedOut

    monkeypatch.setattr(service, "get_dashboard", refuse)
    page = browser.get(FINDING)
    assert page.status_code == 200
    assert 'rel="next"' not in page.text


def test_a_finding_links_back_to_its_list_and_is_shared_without_it(browser, stub):
    page = browser.get(FINDING, {"severity": "High", "page": "2"}).content.decode()
    assert f'href="{PATH}?severity=High&amp;page=2" data-focus="finding-1"' in page
    assert f'value="http://testserver{FINDING}"' in page


def test_the_link_to_share_has_the_account_if_the_host_is_ambiguous(browser, owner, stub):
    second = make_portal_account("acct_0003", name="Second")
    make_membership(owner, second)
    make_portal_website(second, HOST)
    page = browser.get(FINDING, {"account": "acct_0003", "severity": "High"}).content.decode()
    assert stub.requests[0][0].account == second
    assert f'value="http://testserver{FINDING}?account=acct_0003"' in page


def test_searching_from_a_finding_searches_the_list(browser, stub):
    page = browser.get(FINDING, {"severity": "High"}).content.decode()
    assert f'action="{PATH}"' in page
    assert '<input type="hidden" name="severity" value="High">' in page


def test_a_finding_opens_in_place(browser, stub):
    response = browser.get(FINDING, {"severity": "High"}, headers=REGION | {"HX-Trigger": "finding-1"})
    assert response.content.startswith("<title>Finding 1 – shop.example.com".encode())
    assert response["HX-Push-Url"] == f"{FINDING}?severity=High"
    assert b"<html" not in response.content
    assert '<p id="status" hx-swap-oob="innerHTML">Finding 1</p>' in response.content.decode()


@pytest.mark.parametrize("headers", [{}, REGION])
def test_an_unknown_finding_leads_to_the_list(browser, stub, headers):
    stub.response = UnknownFinding()
    response = browser.get(FINDING, {"severity": "High"}, headers=headers)
    assert response.status_code == 404
    assert "Finding not found" in text_of(response)
    assert f'href="{PATH}?severity=High">All findings' in response.content.decode()


@pytest.mark.parametrize("finding_id", ["..%2F..", "%3Cimg%3E", "a%20b", "x" * 129])
def test_an_invalid_id_is_unknown_without_a_request(browser, stub, finding_id):
    assert browser.get(f"{PATH}findings/{finding_id}/").status_code == 404
    assert stub.requests == []


def test_an_error_of_a_finding_is_retried_at_the_finding(browser, stub):
    stub.response = TimedOut()
    response = browser.get(FINDING, {"severity": "High"}, headers=REGION)
    assert response.status_code == 504
    assert f'id="retry" class="button primary" href="{FINDING}?severity=High"' in response.content.decode()


@pytest.mark.parametrize(
    ("status", "can_retest", "shown", "hidden"),
    [
        ("open", False, "The next complete scan by Nuclei shows whether it worked.", "Check again whether"),
        ("open", True, "Retest whether it is still there", "Fixed it?"),
        ("fixed", False, "Fixed", "Fixed it?"),
        ("fixed", True, "Fixed", "Check again"),
    ],
)
def test_an_open_finding_says_how_a_fix_shows(browser, stub, status, can_retest, shown, hidden):
    finding = make_finding(status=status, source_name="Nuclei")
    stub.finding = make_finding_response(finding=finding, can_retest=can_retest)
    page = text_of(browser.get(FINDING))
    assert shown in page
    assert hidden not in page


def test_everything_about_a_finding_is_text(browser, stub):
    evil = '"><img src=x onerror=alert(1)>'
    stub.finding = make_finding_response(
        finding=make_finding(
            id=evil, title=evil, description=evil, remediation=evil, evidence=evil, location=evil,
            rule=evil, source=evil, source_name=evil, severity=evil, kind=evil, status=evil,
            references=[f"https://example.com/{evil}", evil], cve=[evil],
            locations=[
                build(Location, location=evil, evidence=f"{evil}{evil}"),
                build(Location, location=evil),
            ],
            timeline=[build(Event, at=NOW, event=evil), build(Event, at=NOW, event="fixed")],
        ),
        analyst_notes=[make_note(author=evil, body=evil)],
    )  # fmt: skip
    page = browser.get(FINDING, {"query": evil}).content.decode()
    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page


# Error pages


@pytest.mark.parametrize(("error", "status", "action"), ERRORS)
def test_an_error_page_has_its_status_and_an_action(browser, stub, error, status, action):
    stub.response = error
    response = browser.get(PATH)
    assert response.status_code == status
    assert action in text_of(response)
    assert "Reference for support" in text_of(response)


@pytest.mark.parametrize(("error", "status", "action"), ERRORS)
def test_an_error_page_replaces_the_region_with_its_status(browser, stub, error, status, action):
    stub.response = error
    response = browser.get(PATH, {"severity": "High"}, headers=REGION)
    assert response.status_code == status
    assert response["HX-Retarget"] == "#results"
    assert response["HX-Push-Url"] == f"{PATH}?severity=High"


def test_a_retry_keeps_the_filters(browser, stub):
    stub.response = TimedOut()
    page = browser.get(PATH, {"severity": "High", "query": "x"}).content.decode()
    assert f'href="{PATH}?severity=High&amp;query=x"' in page
    assert 'name="query" value="x"' in page


def test_the_response_has_retry_after(browser, stub):
    stub.response = RateLimited(retry_after=30)
    assert browser.get(PATH)["Retry-After"] == "30"


def test_the_reference_on_the_page_finds_the_line_in_the_log(browser, stub, caplog, monkeypatch):
    stub.response = TimedOut("no answer within 15 s")
    monkeypatch.setattr(caplog.handler, "formatter", TextLines())
    page = browser.get(PATH).content.decode()
    (reference,) = re.findall(r"<code>(\w+)</code>", page)
    assert f"{HOST}: TimedOut [{reference}]" in caplog.text
    assert "within 15 s" not in page
