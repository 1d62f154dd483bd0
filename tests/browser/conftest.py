"""Chromium, and a portal and a service on one live server.

Without Chromium the tests are skipped with a reason, unless it is required.
"""

import os
import threading

import pytest
from django.core.signals import request_finished, request_started
from django.db import transaction
from django.test import Client
from playwright.sync_api import expect

from dashboard_api.models import Coverage, Kind, Severity
from tests.browser.chromium import chromium_path, running_chromium
from tests.browser.looks import STAFF_WAYS, WAYS, Tour
from tests.browser.steps import PATIENCE
from tests.browser.watch import Watch
from tests.factories import (
    make_account,
    make_coverage,
    make_finding,
    make_link,
    make_membership,
    make_note,
    make_portal_account,
    make_portal_website,
    make_source,
    make_user,
)

# 45 findings, the same on every page of every test: none is Info, and three pages hold them.
FOUND = (
    (1, Severity.CRITICAL, Kind.CONFIRMED, "nuclei", "SQL injection in the list of orders"),
    (12, Severity.HIGH, Kind.SUSPECTED, "zap", "Cross-site scripting in form"),
    (20, Severity.MEDIUM, Kind.CONFIRMED, "nuclei", "Outdated library"),
    (12, Severity.LOW, Kind.CONFIRMED, "nuclei", "Cookie without a flag"),
)


class Unanswered:
    """Counts unfinished requests: one that the page cancelled still reads the database."""

    def __enter__(self):
        self._count, self._changed = 0, threading.Condition()
        request_started.connect(self._begin)
        request_finished.connect(self._end)
        return self

    def __exit__(self, *_):
        request_started.disconnect(self._begin)
        request_finished.disconnect(self._end)

    def _begin(self, **_):
        self._add(1)

    def _end(self, **_):
        self._add(-1)

    def _add(self, change):
        with self._changed:
            self._count += change
            self._changed.notify_all()

    def wait(self):
        with self._changed:
            self._changed.wait_for(lambda: self._count <= 0, timeout=PATIENCE / 1000)


def pytest_runtest_setup(item):
    """Skip; with REQUIRE_BROWSER=1 (continuous integration) fail instead."""
    if chromium_path() is None:
        without = pytest.fail if os.environ.get("REQUIRE_BROWSER") == "1" else pytest.skip
        without("Chromium is not installed (Debian: apt install chromium)")


@pytest.fixture(scope="package")
def chromium():
    """Return one browser for all tests of this folder."""
    expect.set_options(timeout=PATIENCE)
    with pytest.MonkeyPatch.context() as patch:
        # Playwright keeps an event loop running in this thread, which Django takes for asynchronous code.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        with running_chromium() as browser:
            yield browser


@pytest.fixture
def service(live_server, settings):
    """Serve portal and service at one address, and wait for all requests at the end."""
    settings.DASHBOARD_BASE_URL = live_server.url
    with Unanswered() as unanswered:
        yield live_server
        unanswered.wait()


@pytest.fixture
def watch(service):
    """Watch every page of the test, and fail the test at its end for violations."""
    watch = Watch(service.url)
    yield watch
    watch.check()


@pytest.fixture
def open_page(chromium, service, watch):
    """Return a function that opens a page in a new browser profile, with ``user`` signed in."""
    contexts = []

    def open_page(*, user=None, **options):
        context = chromium.new_context(**{"base_url": service.url, "locale": "en-GB"} | options)
        context.set_default_timeout(PATIENCE)
        watch.over(context)
        contexts.append(context)
        if user:
            client = Client()
            client.force_login(user)
            context.add_cookies(
                [
                    {"name": name, "value": morsel.value, "url": service.url}
                    for name, morsel in client.cookies.items()
                ]
            )
        return context.new_page()

    yield open_page
    for context in contexts:
        for page in context.pages:
            page.locator("html").wait_for()  # what it had to say was said before it answers
        context.close()


@pytest.fixture(params=WAYS, ids=str)
def tour(request, open_page):
    """Return a tour that inspects pages, and fail the test at its end for problems."""
    tour = Tour(open_page, request.param)
    yield tour
    assert tour.faults == {}


@pytest.fixture(params=STAFF_WAYS, ids=str)
def staff_tour(request, open_page):
    """Return a tour of pages for staff."""
    tour = Tour(open_page, request.param)
    yield tour
    assert tour.faults == {}


@pytest.fixture
def page(open_page):
    """Return a visitor's page, in the size of a laptop."""
    return open_page()


@pytest.fixture
def link(service):
    """Return the link of a website with findings, notes and coverage."""
    with transaction.atomic():
        link = make_link(make_account())
        for count, severity, kind, source, title in FOUND:
            for number in range(1, count + 1):
                finding = make_finding(
                    link.website,
                    severity=severity,
                    kind=kind,
                    source=make_source(source),
                    title=f"{title} {number}" if count > 1 else title,
                    description=f"About {title.lower()}.",
                    remediation="Change it.",
                    evidence="<script>alert(1)</script>",
                    references=["https://example.com/advice"],
                )
        make_note(link.website, body="Begin with the **worst**.")
        make_note(link.website, finding=_the_worst(link.website), body="Seen **by hand**, too.")
        make_note(link.website, finding=finding, body="Only for us.", is_internal=True)
        make_coverage(link.website, source=make_source("nuclei"), urls_checked=1234, version="3.4")
        make_coverage(link.website, source=make_source("zap"), state=Coverage.State.PARTIAL)
    return link


def _the_worst(website):
    return website.findings.get(severity=Severity.CRITICAL)


@pytest.fixture
def website(link):
    """Return the website of the portal."""
    return make_portal_website(make_portal_account(link.account.ref), link.website.host, link.link_id)


@pytest.fixture
def owner(website):
    """Return the owner of the website."""
    user = make_user()
    make_membership(user, website.account)
    return user


@pytest.fixture
def dashboard(open_page, owner):
    """Return the dashboard of the website, in its owner's browser."""
    page = open_page(user=owner)
    page.goto("/sites/shop.example.com/", wait_until="domcontentloaded")
    return page
