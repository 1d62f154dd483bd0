"""The list of websites: cards that refresh themselves, a few at a time, and fail separately."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from dashboard_api.models import Severity, SiteLink
from portal import service
from portal.gateway import DashboardRequest
from portal.models import Account, Website
from tests.browser.steps import findings, status
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

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ABREAST = 3  # cards.js
WEBSITES = 40
WRONG_SECRET = "another-secret-0123456789"


def card(page, host):
    return page.get_by_role("listitem").filter(has=page.get_by_role("link", name=host, exact=True))


def boxes(page):
    return [item.bounding_box() for item in page.locator(".site").all()]


def hosts(page):
    return page.get_by_role("heading", level=2).all_inner_texts()


def expect_all_told(page):
    expect(status(page)).to_have_text("All websites are up to date.")


@pytest.fixture
def bakery(link, owner):
    """Return a second website of the owner, in another account."""
    other = make_link(make_account("acct_0002"), make_website("bakery.example.net"))
    make_finding(other.website, title="Outdated oven")
    account = make_portal_account(other.account.ref)
    make_membership(owner, account)
    return make_portal_website(account, other.website.host, other.link_id)


@pytest.fixture
def forty(service):
    """Return the owner of forty websites, half of them with long names."""
    account = make_account(entitled=False)
    make_entitlement(account, sites_limit=WEBSITES, ends_on=timezone.now().date() + timedelta(days=5))
    portal_account = make_portal_account(account.ref, name="An account with many websites")
    for number in range(WEBSITES):
        host = f"{'a-host-name-that-is-as-long-as-some-are.' * (number % 2)}shop{number:02}.example.com"
        link = make_link(account, make_website(host))
        make_portal_website(portal_account, host, link.link_id)
    user = make_user()
    make_membership(user, portal_account)
    return user


def test_cards_refresh_themselves_with_one_announcement(open_page, owner, bakery):
    page = open_page(user=owner)
    page.goto("/")
    expect_all_told(page)
    expect(card(page, "shop.example.com").get_by_role("list", name="Open findings")).to_contain_text(
        "1 Critical"
    )
    expect(card(page, "bakery.example.net")).to_contain_text("Linked")
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)


def test_new_cards_are_sorted_after_the_last_response(open_page, owner, website, bakery):
    page, held = open_page(user=owner), []
    page.route(f"**/{website.host}/card/", lambda route: held.append(route))
    with page.expect_response(f"**/{bakery.host}/card/"):
        page.goto("/")
    expect(card(page, bakery.host)).to_contain_text("1 Medium")
    assert hosts(page) == [bakery.host, website.host]
    held[0].continue_()
    expect_all_told(page)
    assert hosts(page) == [website.host, bakery.host]


def test_the_list_keeps_its_order_while_it_has_focus(open_page, owner, website, bakery):
    page, held = open_page(user=owner), []
    page.route(f"**/{website.host}/card/", lambda route: held.append(route))
    with page.expect_request(f"**/{website.host}/card/"):
        page.goto("/")
    page.get_by_role("link", name=bakery.host).focus()
    held[0].continue_()
    expect_all_told(page)
    assert hosts(page) == [bakery.host, website.host]
    page.reload()
    assert hosts(page) == [website.host, bakery.host]


def test_a_stored_order_stays_until_the_next_visit(open_page, owner, website, bakery):
    service.get_dashboard(website, DashboardRequest())
    service.get_dashboard(bakery, DashboardRequest())
    worse = SiteLink.objects.get(website__host=bakery.host).website
    make_coverage(worse)
    for _ in range(2):
        make_finding(worse, severity=Severity.CRITICAL)
    page = open_page(user=owner)
    page.goto("/")
    expect_all_told(page)
    expect(card(page, bakery.host)).to_contain_text("2 Critical")
    assert hosts(page) == [website.host, bakery.host]
    page.reload()
    assert hosts(page) == [bakery.host, website.host]


def test_a_card_fails_and_is_retried_alone(open_page, owner, bakery, watch):
    watch.expect("502 (Bad Gateway)")
    service.get_dashboard(bakery, DashboardRequest())
    account = Account.objects.get(ref="acct_0002")
    account.set_secret(WRONG_SECRET)
    account.save()
    page = open_page(user=owner)
    page.goto("/")
    expect(status(page)).to_have_text("Some websites could not be refreshed.")
    failed = card(page, "bakery.example.net")
    expect(failed).to_contain_text("Not refreshed since")
    expect(failed).to_contain_text("1 Medium")
    expect(card(page, "shop.example.com").get_by_role("button")).to_have_count(0)

    again = failed.get_by_role("button", name="Try again")
    with page.expect_response("**/card/"):
        again.dblclick()
    expect(page.locator(".htmx-request")).to_have_count(0)
    expect(again).to_be_focused()

    account.set_secret(SECRET)
    account.save()
    again.press("Enter")
    expect_all_told(page)
    expect(failed).not_to_contain_text("Not refreshed since")
    expect(page.get_by_role("link", name="bakery.example.net")).to_be_focused()


def test_a_card_is_retried_after_a_lost_connection_and_keeps_focus(open_page, owner, watch):
    watch.expect("net::ERR_FAILED", "htmx:sendError", "htmx:afterRequest")
    page = open_page(user=owner)
    page.route("**/card/", lambda route: route.abort(), times=1)
    page.goto("/")
    expect(status(page)).to_have_text("Some websites could not be refreshed.")
    only = card(page, "shop.example.com")
    expect(only).to_contain_text("The results could not be loaded")
    only.get_by_role("button", name="Try again").click()
    expect(only).to_contain_text("12 High")
    expect(page.get_by_role("link", name="shop.example.com")).to_be_focused()


def test_only_a_few_cards_refresh_at_a_time(open_page, forty):
    page, held = open_page(user=forty), []
    page.route("**/card/", lambda route: held.append(route))
    page.goto("/")
    expect(page.locator(".htmx-request")).to_have_count(ABREAST)
    for number in range(WEBSITES):
        assert len(held) <= number + ABREAST
        is_last = number >= WEBSITES - ABREAST
        with page.expect_response("**/card/") if is_last else page.expect_request("**/card/"):
            held[number].continue_()
    expect_all_told(page)


@pytest.mark.parametrize("width", [320, 1280])
def test_refreshed_cards_move_nothing(open_page, owner_of_everything, width):
    page, held = open_page(user=owner_of_everything, viewport={"width": width, "height": 800}), []
    page.route("**/card/", lambda route: held.append(route) if held is not None else route.continue_())
    page.goto("/")
    expect(page.locator(".htmx-request")).to_have_count(ABREAST)
    page.get_by_role("link", name="shop00").focus()
    before, waiting, held = boxes(page), held, None
    for route in waiting:
        route.continue_()
    expect_all_told(page)
    assert boxes(page) == before
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.fixture
def owner_of_everything(forty):
    """Include a refused website, an old partial check with findings, and many unchecked ones."""
    refused = Website.objects.get(host="shop02.example.com")
    refused.link_id = "00000000-0000-4000-8000-000000000000"
    refused.save()
    found = SiteLink.objects.get(website__host="shop04.example.com").website
    make_finding(found)
    make_coverage(found, last_run_at=timezone.now() - timedelta(days=20))
    make_coverage(found, source=make_source("zap"), state="failed", completed_at=None)
    return forty


def test_without_javascript_the_list_shows_stored_summaries(open_page, owner, website, bakery):
    service.get_dashboard(website, DashboardRequest())
    page = open_page(user=owner, java_script_enabled=False)
    page.goto("/")
    assert hosts(page) == ["shop.example.com", "bakery.example.net"]
    known = card(page, "shop.example.com")
    expect(known).to_contain_text("12 High")
    expect(known.get_by_text("As of")).to_contain_text("UTC")
    expect(card(page, "bakery.example.net").get_by_text("There are no results yet.")).to_be_visible()
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    page.get_by_role("link", name="bakery.example.net").click()
    expect(findings(page).get_by_role("heading", name="Outdated oven")).to_be_visible()
    page.get_by_role("link", name="Websites").click()
    expect(card(page, "bakery.example.net")).to_contain_text("1 Medium")


def test_the_whole_card_links_to_the_website(open_page, owner):
    page = open_page(user=owner)
    page.goto("/")
    expect_all_told(page)
    card(page, "shop.example.com").get_by_text("Coverage").click(force=True)
    expect(page).to_have_url("/sites/shop.example.com/")
