"""Steps of people on the pages, by visible texts."""

import re
import time

from django.core import mail
from playwright.sync_api import expect

PATH = "/sites/shop.example.com/"
PATIENCE = 30_000  # milliseconds; only a failure takes that long


def eventually(page, condition):
    """Wait until ``condition()`` is true; events of the page reach the test meanwhile."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not condition():
        assert time.monotonic() < deadline, "what the test waits for did not happen"
        page.wait_for_timeout(20)


class Held:
    """The requests of a page to ``address``, which wait until the test continues them."""

    def __init__(self, page, address, **options):
        self._page, self._routes = page, []
        page.route(address, lambda route: self._routes.append(route), **options)

    def request(self):
        """Wait for the first one, and return it."""
        eventually(self._page, lambda: self._routes)
        return self._routes[0]

    def __len__(self):
        return len(self._routes)


def newest_mail(page):
    """Return the last e-mail."""
    eventually(page, lambda: mail.outbox)
    return mail.outbox[-1]


def reset_link(page):
    """Return the link to a new password, which is sent a moment after the response."""
    found = re.compile(r"http://\S+/password/reset/key/\S+")

    def links():
        return [link for message in mail.outbox for link in found.findall(message.body)]

    eventually(page, links)
    return links()[-1]


def expect_same_place(locator, top):
    """Expect the element at ``top``, as it was before; a page that scrolls needs a moment."""
    eventually(locator.page, lambda: abs(locator.bounding_box()["y"] - top) < 2)


def expect_image(picture):
    """Expect a picture that the browser could read."""
    expect(picture).to_be_visible()
    eventually(picture.page, lambda: picture.evaluate("it => it.complete && it.naturalWidth > 0"))


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
