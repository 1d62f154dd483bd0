"""Joining and leaving a team, in the browsers of the people involved."""

import re

import pytest
from django.core import mail
from playwright.sync_api import expect

from portal.models.members import Membership
from tests.browser.steps import send, sign_in
from tests.factories import make_membership, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASSWORD = "correct horse battery"


def button(page, name):
    return page.get_by_role("main").get_by_role("button", name=name, exact=True)


def invite(page, email, role):
    page.get_by_label("E-mail address").fill(email)
    page.get_by_label("Role", exact=True).select_option(role)
    button(page, "Invite").click()


def prove(page):
    expect(page.get_by_role("heading", name="Confirm that it is you")).to_be_visible()
    page.get_by_label("Password").fill(PASSWORD)
    button(page, "Continue").click()


def sign_up(page, link, name):
    page.goto(link)
    page.get_by_label("User name").fill(name)
    page.get_by_label("New password", exact=True).fill(PASSWORD)
    page.get_by_label("New password (again)").fill(PASSWORD)
    button(page, "Join").click()
    expect(page.get_by_role("link", name="shop.example.com")).to_be_visible()


def emailed_link():
    return re.search(r"http://\S+/invitations/\S+", mail.outbox[-1].body)[0]


@pytest.mark.parametrize("javascript", [True, False], ids=["with scripts", "without scripts"])
def test_an_owner_invites_promotes_and_removes_a_member(open_page, owner, settings, watch, javascript):
    settings.EMAIL_URL = "smtp://localhost"
    ours = open_page(user=owner, java_script_enabled=javascript)
    theirs = open_page(java_script_enabled=javascript)
    ours.goto("/accounts/")
    ours.get_by_role("main").get_by_role("link", name="Team").click()
    invite(ours, "new@example.com", "Viewer")
    prove(ours)
    expect(ours.get_by_role("status")).to_have_text("new@example.com is invited as Viewer.")
    sign_up(theirs, emailed_link(), "newcomer")
    theirs.goto("/team/")
    expect(theirs.get_by_role("heading", name="Only owners and managers see the team")).to_be_visible()

    ours.goto("/team/")
    ours.get_by_label("Role of newcomer").select_option("Manager")
    button(ours, "Change the role of newcomer").click()
    expect(ours.get_by_label("Role of newcomer")).to_have_value("manager")
    theirs.reload()
    expect(theirs.get_by_text("The only owner")).to_be_visible()
    expect(theirs.get_by_label("E-mail address")).to_have_count(0)

    ours.get_by_text("Remove newcomer", exact=True).click()
    button(ours, "Remove newcomer now").click()
    expect(ours).to_have_url(re.compile("/team/$"))
    expect(ours.get_by_role("status")).to_contain_text("newcomer is no longer a member")
    theirs.goto("/")
    expect(theirs.get_by_role("heading", name="No websites yet")).to_be_visible()
    ours.get_by_text("Recent changes").click()
    expect(ours.get_by_text("owner made newcomer Manager")).to_be_visible()
    watch.expect("404")
    theirs.goto("/sites/shop.example.com/")


def test_an_invitation_link_is_shown_once_and_works_for_an_existing_user(open_page, owner, settings):
    settings.EMAIL_URL = ""
    ours = open_page(user=owner)
    ours.goto("/team/")
    invite(ours, "colleague@example.com", "Owner")
    prove(ours)
    expect(ours.get_by_role("heading", name="Share this link")).to_be_visible()
    link = ours.get_by_text("/invitations/").text_content()
    ours.get_by_role("link", name="Back to the team").click()
    expect(ours.get_by_text("/invitations/")).to_have_count(0)

    make_user("colleague")
    theirs = open_page()
    theirs.goto(link)
    theirs.get_by_role("link", name="I already have a user name").click()
    sign_in(theirs, "colleague")
    expect(theirs).to_have_url(link)
    button(theirs, "Join").click()
    expect(theirs.get_by_role("link", name="shop.example.com")).to_be_visible()
    assert Membership.objects.get(user__username="colleague").is_owner

    ours.goto("/accounts/")
    ours.get_by_text(re.compile("^Leave")).first.click()
    button(ours, re.compile("Leave .* now")).click()
    expect(ours.get_by_role("status")).to_contain_text("You are no longer a member")


def test_an_error_is_next_to_its_field_and_keeps_the_input(open_page, owner):
    page = open_page(user=owner)
    page.goto("/team/")
    invite(page, "owner@example.com", "Manager")
    expect(page.get_by_role("alert")).to_contain_text("This person is already a member.")
    expect(page.get_by_label("E-mail address")).to_have_value("owner@example.com")
    expect(page.get_by_label("Role", exact=True)).to_have_value("manager")


@pytest.mark.slow
def test_these_pages_in_every_look(tour, owner, website, settings, watch):
    settings.EMAIL_URL = ""
    for number, role in enumerate(Membership.Role.values):
        email = f"somebody.with.a.rather.long.address{number}@example.com"
        make_membership(make_user(f"person{number}", email=email), website.account, role)
    ours, theirs = tour.open(user=owner), tour.open()
    tour.visit(ours, "/team/")
    send(ours, email="owner@example.com")
    expect(ours.locator("[role=alert]:visible").first).to_be_visible()
    tour.look(ours, "invitation refused")
    send(ours, email="nobody@example.com")
    send(ours, password=PASSWORD)
    expect(ours.locator("main")).to_contain_text("/invitations/")
    tour.look(ours, "invited")
    link = ours.get_by_text("/invitations/").text_content()
    tour.visit(ours, link, "/team/")
    theirs.goto(link)
    theirs.locator("main form .primary").click()
    tour.look(theirs, "invitation")
    watch.expect("404")
    tour.visit(theirs, f"{link}x/")
    for role in ("manager", "viewer"):
        user = Membership.objects.filter(role=role).first().user
        tour.visit(tour.open(user=user), "/team/")
