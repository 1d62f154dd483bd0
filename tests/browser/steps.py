"""Steps of people on the pages, by visible texts."""

import time

from django.core import mail

PATH = "/sites/shop.example.com/"


def newest_mail():
    """Return the last e-mail; a reset link is sent a moment after the response."""
    deadline = time.monotonic() + 20
    while not mail.outbox:
        assert time.monotonic() < deadline, "no e-mail was sent"
        time.sleep(0.1)
    return mail.outbox[-1]


def sign_in(page, name, password="correct horse battery"):
    page.get_by_label("User name or e-mail address").fill(name)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("main").get_by_role("button", name="Sign in", exact=True).click()


def open_menu(page):
    """Open the menu with name, language, theme and sign-out."""
    page.locator("[popovertarget=account-menu]").click()


def send(page, **fields):
    """Fill in the first form of the page by the names of its fields, send it, and wait for the next page."""
    for name, value in fields.items():
        page.locator(f"main [name={name}]").fill(value)
    with page.expect_navigation(wait_until="load"):
        page.locator("main form .primary").first.click()


def facet(page, name):
    """Return a value in the list of filters, by its label and count."""
    return page.get_by_role("navigation", name="Filters").get_by_role("link", name=name, exact=True)


def chip(page, text):
    """Return an active filter."""
    return page.get_by_role("link", name=f"Remove filter {text}", exact=True)


def search_box(page):
    return page.get_by_role("searchbox", name="Search findings")


def status(page):
    """Return the live region for announcements."""
    return page.get_by_role("status")


def findings(page):
    """Return the rows of the list."""
    return page.get_by_role("list", name="Findings", exact=True).get_by_role("listitem")


def the_finding(page):
    """Return the open finding."""
    return page.get_by_role("article").filter(has=page.locator("#the-finding"))


def pages(page):
    return page.get_by_role("navigation", name="Pages")
