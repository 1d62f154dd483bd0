"""The list of websites: rows that refresh as they are seen, a few at a time, and fail separately."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from dashboard_api.models import Severity, SiteLink
from portal.answers import service
from portal.models import Account, Website, WebsiteSummary
from portal.pages.view_models.site_rows import FRESH_TIME
from signed_api.findings import DashboardRequest
from tests.browser.steps import Held, findings, pages, status
from tests.factories import (
    SECRET,
    make_account,
    make_coverage,
    make_entitlement,
    make_finding,
    make_link,
    make_membership,
    make_portal_account,
    make_portal_website,
    make_source,
    make_user,
    make_website,
)
from tests.portal.dashboards import make_dashboard, make_summary

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ABREAST = 2  # sites.js
WEBSITES = 60  # more than a page
WRONG_SECRET = "another-secret-0123456789"


def row(page, host):
    return page.get_by_role("row").filter(has=page.get_by_role("link", name=host, exact=True))


def boxes(page):
    return [item.bounding_box() for item in page.locator(".site-row").all()]


def expect_hosts(page, *hosts):
    expect(page.locator(".site-row th > a")).to_have_text(list(hosts))


def expect_all_refreshed(page):
    expect(status(page)).to_have_text("All websites are up to date.")


def make_old():
    WebsiteSummary.objects.update(updated_at=timezone.now() - FRESH_TIME - timedelta(seconds=1))


@pytest.fixture(autouse=True)
def _slow_service(monkeypatch):
    """Let the list begin as where the service does not send numbers in time."""
    monkeypatch.setattr(service, "refresh_for_page", lambda _websites: None)


@pytest.fixture
def bakery(link, owner):
    """Return a second website of the owner, in another account."""
    other = make_link(make_account("acct_0002"), make_website("bakery.example.net"))
    make_finding(other.website, title="Outdated oven")
    account = make_portal_account(other.account.ref)
    make_membership(owner, account)
    return make_portal_website(account, other.website.host, other.link_id)


@pytest.fixture
def many(service):
    """Return the owner of many websites, half of them with long names."""
    account = make_account(entitled=False)
    make_entitlement(account, sites_limit=WEBSITES, ends_on=timezone.now().date() + timedelta(days=5))
    portal_account = make_portal_account(account.ref, name="An account with many websites")
    for number in range(WEBSITES):
        host = f"{'a-host-name-that-is-as-long-as-some-are.' * (number % 2)}shop{number:03}.example.com"
        link = make_link(account, make_website(host))
        make_portal_website(portal_account, host, link.link_id)
    user = make_user()
    make_membership(user, portal_account)
    return user


def test_rows_refresh_themselves_with_one_announcement(open_page, owner, bakery):
    page = open_page(user=owner)
    page.goto("/")
    expect_all_refreshed(page)
    cells = row(page, "shop.example.com").get_by_role("cell")
    expect(cells.nth(1)).to_have_text("1")
    expect(cells.nth(2)).to_have_text("12")
    expect(row(page, "bakery.example.net")).to_contain_text("Not scanned yet")
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    expect(page.locator("body")).to_be_focused()


def test_the_numbers_above_the_list_wait_for_its_rows(open_page, owner, website, bakery):
    page = open_page(user=owner)
    held = Held(page, f"**/{website.host}/row/")
    page.goto("/")
    totals = page.get_by_role("region", name="All your websites")
    expect(totals).to_contain_text("Counted so far: 0 of 2 websites")
    expect(totals).not_to_contain_text("No website needs attention")
    expect(totals).not_to_contain_text("open findings")
    held.request().continue_()
    expect(totals.get_by_role("link", name="1 website needs attention")).to_be_visible()
    expect(totals).not_to_contain_text("Counted so far")
    expect(totals).to_contain_text("open findings")


def test_fresh_rows_send_no_request(open_page, owner, website):
    service.get_dashboard(website, DashboardRequest())
    page = open_page(user=owner)
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto("/", wait_until="networkidle")
    assert [url for url in requests if "/row/" in url] == []
    expect(row(page, "shop.example.com")).to_contain_text("12")


def test_a_stored_order_stays_until_the_next_visit(open_page, owner, website, bakery):
    service.get_dashboard(website, DashboardRequest())
    service.get_dashboard(bakery, DashboardRequest())
    worse = SiteLink.objects.get(website__host=bakery.host).website
    make_coverage(worse)
    for _ in range(2):
        make_finding(worse, severity=Severity.CRITICAL)
    make_old()
    page = open_page(user=owner)
    page.goto("/")
    expect_all_refreshed(page)
    expect(row(page, bakery.host).locator(".critical")).to_have_text("2")
    expect_hosts(page, website.host, bakery.host)
    page.reload()
    expect_hosts(page, bakery.host, website.host)


def test_a_row_fails_and_is_retried_alone(open_page, owner, bakery, watch):
    watch.expect("502 (Bad Gateway)")
    service.get_dashboard(bakery, DashboardRequest())
    make_old()
    account = Account.objects.get(ref="acct_0002")
    account.set_secret(WRONG_SECRET)
    account.save()
    page = open_page(user=owner)
    page.goto("/")
    expect(status(page)).to_have_text("Some websites could not be refreshed.")
    failed = row(page, "bakery.example.net")
    expect(failed).to_contain_text("Not refreshed since")
    expect(failed.locator(".medium")).to_have_text("1")
    expect(row(page, "shop.example.com").get_by_role("button")).to_have_count(0)

    again = failed.get_by_role("button", name="Try again")
    with page.expect_response("**/row/"):
        again.dblclick()
    expect(page.locator(".htmx-request")).to_have_count(0)
    expect(again).to_be_focused()

    account.set_secret(SECRET)
    account.save()
    again.press("Enter")
    expect_all_refreshed(page)
    expect(failed).not_to_contain_text("Not refreshed since")
    expect(page.get_by_role("link", name="bakery.example.net")).to_be_focused()


def test_a_row_is_retried_after_a_lost_connection_and_keeps_focus(open_page, owner, watch):
    watch.expect("net::ERR_FAILED", "htmx:sendError", "htmx:afterRequest")
    page = open_page(user=owner)
    page.route("**/row/", lambda route: route.abort(), times=1)
    page.goto("/")
    expect(status(page)).to_have_text("Some websites could not be refreshed.")
    only = row(page, "shop.example.com")
    expect(only).to_contain_text("The results could not be loaded")
    only.get_by_role("button", name="Try again").click()
    expect(only.locator(".high")).to_have_text("12")
    expect(page.get_by_role("link", name="shop.example.com")).to_be_focused()


def test_only_rows_that_are_seen_are_refreshed_a_few_at_a_time(open_page, many):
    page, held, most = open_page(user=many, viewport={"width": 1280, "height": 800}), [], 25
    page.route("**/row/", lambda route: held.append(route))
    page.goto("/")
    expect(page.locator(".htmx-request")).to_have_count(ABREAST)
    done = 0
    while not status(page).inner_text():
        if done == len(held):  # the request is on its way to this test
            page.wait_for_timeout(20)
            continue
        assert len(held) <= done + ABREAST
        with page.expect_response("**/row/"):
            held[done].continue_()
        done += 1
    assert ABREAST < done <= most
    page.unroute_all(behavior="ignoreErrors")
    with page.expect_response("**/row/"):
        page.locator(".site-row").last.scroll_into_view_if_needed()
    expect(page.locator(".site-row").last).to_contain_text("Not scanned yet")


@pytest.mark.slow
@pytest.mark.parametrize("width", [320, 1280])
def test_refreshed_rows_move_nothing(open_page, owner_of_everything, width):
    page, held = open_page(user=owner_of_everything, viewport={"width": width, "height": 800}), []
    page.route("**/row/", lambda route: held.append(route) if held is not None else route.continue_())
    page.goto("/")
    expect(page.locator(".htmx-request").first).to_be_visible()
    before, waiting, held = boxes(page), held, None
    for route in waiting:
        route.continue_()
    expect_all_refreshed(page)
    assert [box["y"] for box in boxes(page)] == [box["y"] for box in before]
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.fixture
def owner_of_everything(many):
    """Include a refused website, an old partial check with findings, and many unchecked ones."""
    refused = Website.objects.get(host="shop002.example.com")
    refused.link_id = "00000000-0000-4000-8000-000000000000"
    refused.save()
    found = SiteLink.objects.get(website__host="shop004.example.com").website
    make_finding(found)
    make_coverage(found, last_run_at=timezone.now() - timedelta(days=20))
    make_coverage(found, source=make_source("zap"), state="failed", completed_at=None)
    for website in Website.objects.select_related("account")[:20]:
        try:
            service.get_dashboard(website, DashboardRequest())
        except Exception:  # noqa: BLE001 - a refusal, which is stored
            continue
    make_old()
    return many


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_many_websites_are_searched_sorted_and_paged(open_page, many, scripts):
    for website in Website.objects.select_related("account"):
        WebsiteSummary.objects.store(website, refusal="revoked_link")
    page = open_page(user=many, java_script_enabled=scripts)
    page.goto("/")
    expect(page.locator(".site-row")).to_have_count(50)
    page.get_by_role("link", name="By name").click()
    expect(page).to_have_url("/?sort=name")
    pages(page).get_by_role("link", name="Page 2").click()
    expect(page).to_have_url("/?sort=name&page=2")
    expect(page.locator(".site-row")).to_have_count(10)
    page.get_by_role("searchbox", name="Search websites").fill("shop01")
    page.keyboard.press("Enter")
    expect(page.locator(".site-row")).to_have_count(10)
    expect(page.get_by_role("link", name="By name")).to_have_attribute("aria-current", "true")
    page.get_by_role("link", name="Show all").click()
    expect(page).to_have_url("/?sort=name")


def test_the_numbers_above_the_list_narrow_it(open_page, owner, website, bakery):
    service.get_dashboard(website, DashboardRequest())
    service.get_dashboard(bakery, DashboardRequest())
    page = open_page(user=owner)
    page.goto("/")
    page.get_by_role("link", name="1 website needs attention").click()
    expect_hosts(page, "shop.example.com")
    page.get_by_role("link", name="1 website needs attention").click()
    expect(page.locator(".site-row")).to_have_count(2)
    page.get_by_role("navigation", name="Grades").get_by_role("link", name="F").click()
    expect_hosts(page, "shop.example.com")


@pytest.mark.slow
def test_the_list_looks_well_with_every_kind_of_row(tour, owner_of_everything):
    page = tour.open(user=owner_of_everything)
    tour.visit(page, "/", "/?query=shop0&sort=checked", "/?query=nothing", "/?grade=none&page=2")


def test_without_javascript_the_list_shows_stored_summaries(open_page, owner, website, bakery):
    service.get_dashboard(website, DashboardRequest())
    make_old()
    page = open_page(user=owner, java_script_enabled=False)
    page.goto("/")
    expect_hosts(page, "shop.example.com", "bakery.example.net")
    known = row(page, "shop.example.com")
    expect(known.locator(".high")).to_have_text("12")
    expect(known.get_by_text("As of")).to_contain_text("UTC")
    expect(row(page, "bakery.example.net").get_by_text("The results are not loaded yet.")).to_be_visible()
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    page.get_by_role("link", name="bakery.example.net").click()
    expect(findings(page).get_by_role("heading", name="Outdated oven")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="Websites").click()
    expect(row(page, "bakery.example.net").locator(".medium")).to_have_text("1")


def test_what_is_new_fits_a_phone_in_german(open_page, owner, website):
    dashboard = make_dashboard(summary=make_summary(new_7d=87, fixed_7d=29))
    WebsiteSummary.objects.store(website, dashboard=dashboard)
    page = open_page(user=owner, locale="de-DE", viewport={"width": 320, "height": 640})
    page.goto("/new/")
    name = page.get_by_role("link", name="shop.example.com")
    assert name.evaluate("link => link.getClientRects().length") == 1
    assert page.locator(".table-card").evaluate("card => card.scrollWidth === card.clientWidth")
    expect(page.locator(".changed-site time:visible")).to_have_count(1)
