"""Failures between two clicks: the region shows them with their status, and nothing is lost."""

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from portal.models import LastAnswer
from tests.browser.steps import PATH, chip, facet, findings, search_box, status
from tests.faults.server import closed_port

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def heading(page, text):
    return page.get_by_role("heading", name=text)


def test_a_suspended_plan_is_an_error_page_in_the_region(dashboard, link, watch):
    watch.expect("403 (Forbidden)")
    facet(dashboard, "High 12").click()
    expect(chip(dashboard, "Severity: High")).to_be_visible()
    link.account.entitlement.status = "suspended"
    link.account.entitlement.save()
    with dashboard.expect_response("**/*kind=suspected*") as answer:
        facet(dashboard, "Suspected 12").click()
    assert answer.value.status == 403
    expect(heading(dashboard, "Your plan does not cover this dashboard")).to_be_visible()
    expect(status(dashboard)).to_contain_text("Your plan does not cover this dashboard")
    expect(dashboard).to_have_url(f"{PATH}?severity=High&kind=suspected")
    expect(dashboard.get_by_role("link", name="Contact support")).to_be_visible()
    expect(dashboard.get_by_role("heading", level=1)).to_have_text("shop.example.com")

    link.account.entitlement.status = "active"
    link.account.entitlement.save()
    dashboard.reload()
    expect(findings(dashboard)).to_have_count(12)
    expect(chip(dashboard, "Confidence: Suspected")).to_be_visible()


def test_a_revoked_link_is_an_error_page_in_the_region(dashboard, link, watch):
    watch.expect("403 (Forbidden)")
    link.revoke(by="tests", reason="asked to", now=timezone.now())
    facet(dashboard, "High 12").click()
    expect(heading(dashboard, "This website was removed from your organization")).to_be_visible()


def test_a_retry_after_an_unreachable_service_keeps_the_filters(dashboard, settings, watch):
    watch.expect("502 (Bad Gateway)")
    works, settings.DASHBOARD_BASE_URL = settings.DASHBOARD_BASE_URL, f"http://127.0.0.1:{closed_port()}"
    search_box(dashboard).fill("scripting")
    for _ in "ting":
        search_box(dashboard).press("ArrowLeft")
    expect(heading(dashboard, "The service cannot be reached")).to_be_visible()
    expect(search_box(dashboard)).to_be_focused()
    expect(search_box(dashboard)).to_have_value("scripting")
    with dashboard.expect_response("**/*query=scripting") as answer:
        dashboard.get_by_role("link", name="Try again").click()
    assert answer.value.status == 502
    expect(dashboard.get_by_role("link", name="Try again")).to_be_focused()

    settings.DASHBOARD_BASE_URL = works
    dashboard.get_by_role("link", name="Try again").click()
    expect(findings(dashboard)).to_have_count(12)
    expect(dashboard).to_have_url(f"{PATH}?query=scripting")
    expect(search_box(dashboard)).to_have_value("scripting")
    expect(search_box(dashboard)).to_be_focused()
    dashboard.keyboard.type("!")
    expect(search_box(dashboard)).to_have_value("scrip!ting")


def test_focus_returns_to_a_filter_after_a_retry(dashboard, settings, watch):
    watch.expect("502 (Bad Gateway)")
    works, settings.DASHBOARD_BASE_URL = settings.DASHBOARD_BASE_URL, f"http://127.0.0.1:{closed_port()}"
    facet(dashboard, "High 12").click()
    expect(heading(dashboard, "The service cannot be reached")).to_be_visible()
    settings.DASHBOARD_BASE_URL = works
    dashboard.get_by_role("link", name="Try again").click()
    expect(findings(dashboard)).to_have_count(12)
    expect(facet(dashboard, "High 12")).to_be_focused()


def test_a_lost_connection_is_visible_wherever_the_page_is_and_retried_at_its_place(dashboard, watch):
    watch.expect("net::ERR_INTERNET_DISCONNECTED", "htmx:sendError", "htmx:afterRequest")
    dashboard.context.set_offline(True)
    facet(dashboard, "High 12").click()
    alert = dashboard.get_by_role("alert")
    expect(alert).to_contain_text("has not changed")
    expect(findings(dashboard)).to_have_count(20)
    dashboard.context.set_offline(False)
    alert.get_by_role("button", name="Try again").click()
    expect(findings(dashboard)).to_have_count(12)
    expect(dashboard).to_have_url(f"{PATH}?severity=High")
    expect(alert).to_be_hidden()
    dashboard.context.set_offline(True)
    last = findings(dashboard).last.get_by_role("link")
    last.scroll_into_view_if_needed()
    last.click()
    assert dashboard.evaluate("scrollY") > 500
    expect(dashboard.get_by_role("alert")).to_be_in_viewport(ratio=1)


def test_a_search_is_retried_from_its_field(dashboard, watch):
    watch.expect("net::ERR_INTERNET_DISCONNECTED", "htmx:sendError", "htmx:afterRequest")
    dashboard.context.set_offline(True)
    search_box(dashboard).fill("scripting")
    again = dashboard.get_by_role("alert").get_by_role("button", name="Try again")
    expect(again).to_be_visible()
    dashboard.context.set_offline(False)
    again.click()
    expect(search_box(dashboard)).to_be_focused()
    expect(dashboard).to_have_url(f"{PATH}?query=scripting")
    expect(search_box(dashboard)).to_be_focused()


def test_going_back_to_a_failed_page_shows_the_error(dashboard, settings, watch):
    watch.expect("502 (Bad Gateway)")
    facet(dashboard, "High 12").click()
    expect(findings(dashboard)).to_have_count(12)
    LastAnswer.objects.all().delete()
    works, settings.DASHBOARD_BASE_URL = settings.DASHBOARD_BASE_URL, f"http://127.0.0.1:{closed_port()}"
    dashboard.evaluate("history.back()")
    expect(heading(dashboard, "The service cannot be reached")).to_be_visible()
    expect(dashboard).to_have_url(PATH)
    settings.DASHBOARD_BASE_URL = works
    dashboard.get_by_role("link", name="Try again").click()
    expect(findings(dashboard)).to_have_count(20)


def test_a_retry_replaces_an_error_of_the_first_page(dashboard, settings, watch):
    watch.expect("502 (Bad Gateway)")
    works, settings.DASHBOARD_BASE_URL = settings.DASHBOARD_BASE_URL, f"http://127.0.0.1:{closed_port()}"
    dashboard.goto(f"{PATH}?severity=High")
    expect(heading(dashboard, "The service cannot be reached")).to_be_visible()
    settings.DASHBOARD_BASE_URL = works
    dashboard.get_by_role("link", name="Try again").click()
    expect(findings(dashboard)).to_have_count(12)


def test_an_old_answer_is_replaced_by_itself_once_the_service_is_back(
    dashboard, settings, watch, monkeypatch
):
    monkeypatch.setattr("portal.pages.view_models.outage.FIRST_WAIT_SECONDS", 1)
    monkeypatch.setattr("portal.pages.view_models.outage._LONGEST_WAIT_SECONDS", 1)
    works, settings.DASHBOARD_BASE_URL = settings.DASHBOARD_BASE_URL, f"http://127.0.0.1:{closed_port()}"
    dashboard.reload()
    notice = dashboard.get_by_text("Could not reach the service")
    expect(notice).to_be_visible()
    findings(dashboard).first.evaluate("element => element.dataset.test = 'kept'")
    search_box(dashboard).focus()
    for _ in range(2):
        with dashboard.expect_response(lambda answer: answer.request.headers.get("hx-trigger") == "outage-1"):
            pass  # it asks by itself
        expect(notice).to_be_visible()
    assert findings(dashboard).first.evaluate("element => element.dataset.test") == "kept"
    settings.DASHBOARD_BASE_URL = works
    expect(notice).to_be_hidden()
    expect(findings(dashboard)).to_have_count(20)
    expect(search_box(dashboard)).to_be_focused()
    expect(dashboard).to_have_url(PATH)


def test_a_foreign_website_reads_like_one_that_does_not_exist(dashboard, watch):
    watch.expect("404 (Not Found)")
    dashboard.goto("/sites/bakery.example.net/?severity=High")
    expect(heading(dashboard, "This website is not in your organization")).to_be_visible()
    expect(dashboard.get_by_role("link", name="Add a website")).to_be_visible()
