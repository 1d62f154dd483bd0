"""Signing in, and the return to the requested page."""

import re

import pytest
from playwright.sync_api import expect

from config.models import Session
from tests.browser.steps import open_menu, reset_link, send, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NARROWED = "/sites/shop.example.com/?severity=High&query=form&page_size=50"


def test_sign_in_leads_to_the_websites_and_on_to_a_dashboard_also_after_a_wrong_password(page, owner):
    page.goto("/")
    page.get_by_role("main").get_by_role("link", name="Sign in").click()
    expect(page).to_have_title(re.compile("Sign in"))
    sign_in(page, owner.username, "wrong horse battery")
    expect(page.get_by_role("alert")).to_contain_text("not correct")
    expect(page.get_by_label("User name or e-mail address")).to_have_value(owner.username)
    sign_in(page, owner.username)
    expect(page).to_have_url("/")
    expect(page.get_by_role("heading", name="Websites", level=1)).to_be_visible()
    page.get_by_role("link", name="shop.example.com").click()
    expect(page.get_by_role("heading", name="shop.example.com", level=1)).to_be_visible()
    expect(page.get_by_text("45 findings", exact=True)).to_be_visible()


def test_sign_in_leads_back_to_the_requested_page(page, owner):
    page.goto(NARROWED)
    expect(page).to_have_url(re.compile("/accounts/login/"))
    sign_in(page, owner.username)
    expect(page).to_have_url(NARROWED)
    expect(page.get_by_text("12 of 45 findings")).to_be_visible()


def test_sign_in_never_leads_to_another_host(page, owner):
    page.goto("/accounts/login/?next=https://example.com/")
    sign_in(page, owner.username)
    expect(page).to_have_url("/")


def test_a_filter_that_is_clicked_after_the_session_ended_is_kept_by_the_sign_in(dashboard, owner):
    Session.objects.all().delete()
    dashboard.locator("#facet-severity-high").click()
    expect(dashboard).to_have_url(re.compile("/accounts/login/"))
    expect(dashboard.locator("[name=login]")).to_be_focused()
    sign_in(dashboard, owner.username)
    expect(dashboard).to_have_url(re.compile(r"/sites/shop\.example\.com/\?severity=High"))
    expect(dashboard.get_by_text("12 of 45 findings")).to_be_visible()


def test_a_forgotten_password_is_reset_by_email(page, owner, settings):
    settings.EMAIL_URL = "smtp://localhost"

    def press(name):
        page.get_by_role("main").get_by_role("button", name=name).click()

    page.goto("/accounts/login/")
    page.get_by_role("link", name="Forgot your password?").click()
    page.get_by_label("E-mail address").fill(owner.email)
    press("Send the link")
    expect(page.get_by_role("heading", name="Check your inbox")).to_be_visible()
    page.goto(reset_link(page))
    new = "another horse battery"
    page.get_by_label("New password", exact=True).fill(new)
    page.get_by_label("New password (again)").fill(new)
    press("Change the password")
    expect(page.get_by_role("heading", name="Your password is changed")).to_be_visible()
    page.get_by_role("link", name="Sign in").click()
    sign_in(page, owner.username, new)
    expect(page).to_have_url("/")


def test_after_signing_out_the_dashboard_needs_a_sign_in(dashboard):
    dashboard.evaluate("localStorage.left = sessionStorage.left = 'something'")
    open_menu(dashboard)
    dashboard.get_by_role("button", name="Sign out").click()
    expect(dashboard).to_have_url(re.compile("/accounts/login/"))
    assert dashboard.evaluate("[localStorage.length, sessionStorage.length]") == [0, 0]
    dashboard.go_back()
    expect(dashboard).to_have_url(re.compile("/accounts/login/"))
    expect(dashboard.get_by_text("findings")).to_have_count(0)


def test_the_sign_in_in_every_look(tour, owner, watch):
    page = tour.open()
    tour.visit(page, "/accounts/login/")
    send(page, login=owner.username, password="wrong horse battery")
    expect(page.locator("[role=alert]:visible")).to_be_visible()
    tour.look(page, "wrong password")
    watch.expect("429")
    for _ in range(5):
        send(page, login=owner.username, password="wrong horse battery")
    expect(page.locator("[name=login]")).to_have_count(0)
    tour.look(page, "too many attempts")


@pytest.mark.slow
def test_the_password_reset_in_every_look(tour, owner, settings):
    page = tour.open()
    settings.EMAIL_URL = ""
    tour.visit(page, "/accounts/password/reset/")
    settings.EMAIL_URL = "smtp://localhost"
    tour.visit(page, "/accounts/password/reset/")
    send(page, email=owner.email)
    tour.look(page, "letter sent")
    link = reset_link(page)
    page.goto(link)
    send(page, password1="short", password2="shorter")
    tour.look(page, "new password refused")
    send(page, password1="another horse battery", password2="another horse battery")
    tour.look(page, "new password kept")
    tour.visit(page, link)


@pytest.mark.slow
def test_the_account_page_in_every_look(tour, owner, website):
    page = tour.open(user=owner)
    tour.visit(
        page, "/accounts/", "/accounts/password/change/", "/accounts/logout/", "/accounts/reauthenticate/"
    )
    page.goto("/accounts/password/change/")
    send(page, oldpassword="wrong", password1="short", password2="shorter")
    tour.look(page, "change refused")
    page.goto("/accounts/")
    open_menu(page)
    page.locator(".themes button").last.click()
    tour.look(page, "a theme of one's own")


@pytest.mark.slow
@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_a_person_signs_out_everywhere_else(open_page, owner, scripts):
    here, there = open_page(user=owner, java_script_enabled=scripts), open_page(user=owner)
    here.goto("/accounts/")
    expect(here.get_by_role("region", name="Signed in").get_by_role("listitem")).to_have_count(2)
    here.get_by_role("button", name="Sign out everywhere else").click()
    send(here, password="correct horse battery")
    expect(here.get_by_role("status")).to_have_text("You are signed out everywhere else.")
    there.goto("/accounts/")
    expect(there.get_by_role("heading", name="Sign in")).to_be_visible()
