"""The way of a stranger to a first finding, by what the pages show."""

import re

from playwright.sync_api import expect

HOST = "demo-shop.localhost"
PROOF = ".well-known/threat-dashboard-challenge.txt"
LINK = re.compile(r"https?://\S+/sign-up/\S+")
_FINDING = "Browsers do not trust the certificate"


def ask_for_an_account(page):
    page.goto("/")
    page.get_by_role("link", name="Check your website").click()
    page.get_by_label("E-mail address").fill("ada@example.com")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Check your inbox")).to_be_visible()


def create_the_account(page, link):
    page.goto(link)
    page.get_by_label("Name of your company").fill("Demo Shop")
    for field in ("New password", "New password (again)"):
        page.get_by_label(field, exact=True).fill("correct horse battery")
    page.get_by_role("button", name="Create the account").click()


def prove_the_website(page, folder):
    """Add the website whose files are in ``folder``; its first scan is queued then."""
    page.get_by_label("Website", exact=True).fill(HOST)
    page.keyboard.press("Enter")
    line = page.get_by_label("Content of the file").input_value()
    (folder / PROOF).write_text(line)
    page.get_by_role("button", name="Check now").click()
    expect(page.get_by_role("heading", name="Earlier scans")).to_be_visible()


def read_the_first_finding(page):
    page.get_by_role("link", name="See what to do first").click()  # the page notices the end itself
    page.get_by_role("link", name=_FINDING).first.click()
    expect(page.locator("#status")).to_have_text("1 of 16 findings")  # all with this cause
    page.get_by_role("link", name=_FINDING, exact=True).click()
    finding = page.get_by_role("article", name=_FINDING)
    expect(
        finding.get_by_role("paragraph").filter(has_text="Use a certificate of a public authority")
    ).to_be_visible()


def ask_to_check_it_again(page):
    page.get_by_role("button", name="Retest").click()
    expect(page.get_by_role("button", name="Retest")).to_be_hidden()


def read_that_it_is_still_there(page):
    expect(page.get_by_text("The problem is still there")).to_be_visible()
