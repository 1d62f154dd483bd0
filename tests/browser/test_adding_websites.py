"""Adding a website in a browser: from the empty list to the dashboard, with and without scripts."""

import pytest
from playwright.sync_api import expect

from dashboard_api.models import OwnershipClaim
from tests.browser.steps import eventually
from tests.factories import make_account, make_membership, make_portal_account, make_user
from tests.faults.server import FaultServer, answer
from tests.foundation.outbound.internet import PUBLIC, Internet

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
HOST = "shop.example.com"


@pytest.fixture
def internet(service, monkeypatch):
    internet = Internet(monkeypatch)
    internet.reach_ourselves(monkeypatch)
    internet.zone[f"{HOST}."] = [PUBLIC]
    return internet


@pytest.fixture
def newcomer(internet, settings):
    """The owner of an account without a website."""
    settings.LINK_URL = ""
    membership = make_membership(make_user(), make_portal_account(make_account().ref))
    return membership.user


def serving(internet, content, status=200):
    server = FaultServer(answer(status, content.encode()))
    internet.serve(server, port=80)
    return server


def button(page, name):
    return page.get_by_role("main").get_by_role("button", name=name, exact=True)


@pytest.mark.parametrize("javascript", [True, False], ids=["with scripts", "without scripts"])
def test_a_website_is_added_and_proven_from_the_empty_list(open_page, newcomer, internet, javascript):
    page = open_page(user=newcomer, java_script_enabled=javascript)
    page.goto("/")
    page.get_by_role("main").get_by_role("link", name="Add a website").click()
    page.get_by_label("Website", exact=True).fill("co.uk")
    button(page, "Add").click()
    expect(page.get_by_role("alert")).to_contain_text("Anyone can register a name below co.uk")
    page.get_by_label("Website", exact=True).fill(f"https://{HOST}/")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=HOST, level=1)).to_be_visible()
    address, token = page.url, page.get_by_label("Content of the file").input_value()
    with serving(internet, "nothing", 404):
        button(page, "Check now").click()
        expect(page.get_by_text("did not find the token")).to_be_visible()
    expect(page.get_by_text("There is no file at this address.")).to_be_visible()
    assert page.url == address
    OwnershipClaim.objects.update(asked_at=None)
    with serving(internet, token):
        button(page, "Check now").click()
        expect(page).to_have_url(f"/sites/{HOST}/")
    expect(page.get_by_text(f"{HOST} is yours now.")).to_be_visible()


def test_after_a_check_the_focus_is_at_the_message_and_the_button_works_again(open_page, newcomer, internet):
    page = open_page(user=newcomer)
    page.goto("/websites/add/")
    page.get_by_label("Website", exact=True).fill(HOST)
    page.keyboard.press("Enter")
    page.wait_for_url("**/claims/*/")  # with its scripts, which move the focus
    with serving(internet, "nothing", 404):
        button(page, "Check now").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_text("did not find the token")).to_be_visible()
        eventually(page, lambda: page.evaluate("document.activeElement.id") == "main")
        button(page, "Check now").click()
        expect(page.get_by_text("A check was made a moment ago.")).to_be_visible()


def test_the_token_can_be_copied(open_page, newcomer, internet):
    page = open_page(user=newcomer)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/websites/add/")
    page.get_by_label("Website", exact=True).fill(HOST)
    page.keyboard.press("Enter")
    button(page, "Copy content").click()
    expect(button(page, "Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == OwnershipClaim.objects.get().token
