"""The page for those who call the API, and its test call."""

import pytest
from playwright.sync_api import expect

from tests.browser.steps import eventually

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


LANGUAGES = {
    "Shell": "x-service-signature: $signature",
    "Python": "hashlib.sha256(body)",
    "JavaScript": "process.env.SITE_API_SECRET",
    "PHP": "<?php",
    "Go": "&http.Client",
    "Ruby": "OpenSSL::HMAC",
}
SCRIPTS = pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])


@SCRIPTS
def test_an_owner_reads_a_snippet_and_makes_a_test_call(open_page, owner, website, scripts):
    page = open_page(user=owner, java_script_enabled=scripts)
    page.goto("/")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="API").click()
    expect(page.get_by_role("heading", name="Call for shop.example.com")).to_be_visible()
    page.locator("label").filter(has_text="Python").click()
    expect(page.get_by_text(f'"link_id": "{website.link_id}"').locator("visible=true")).to_have_count(1)
    page.get_by_role("button", name="Test call for shop.example.com").click()
    expect(page.get_by_role("status").first).to_contain_text("Open findings: 45")
    expect(page).to_have_url("/api/")


@SCRIPTS
@pytest.mark.parametrize("path", ["/api/", "/v1/docs"])
def test_each_language_has_a_tab_that_the_keyboard_reaches(open_page, owner, path, scripts):
    page = open_page(user=owner, java_script_enabled=scripts)
    page.goto(path)
    tabs = page.locator(".tabs").first
    tabs.get_by_role("radio", name="Shell").focus()
    for number, (language, text) in enumerate(LANGUAGES.items()):
        if number:
            page.keyboard.press("ArrowRight")
        expect(tabs.get_by_role("radio", name=language, exact=True)).to_be_checked()
        expect(tabs.locator(".panel:visible")).to_have_count(1)
        expect(tabs.locator(".panel:visible")).to_contain_text(text)


def test_a_snippet_is_copied(open_page, owner, website):
    page = open_page(user=owner)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/api/")
    page.locator("label").filter(has_text="PHP").click()
    page.get_by_role("button", name="Copy").locator("visible=true").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("<?php")
    assert website.link_id in copied
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(); }")
    page.get_by_role("button", name="Copied").click()
    eventually(page, lambda: page.evaluate("getSelection().toString()").startswith("<?php"))
