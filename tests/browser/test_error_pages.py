"""Error pages, in every look."""

from itertools import chain

import pytest
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import HttpRequest
from playwright.sync_api import expect

from portal.answers import service
from portal.exports import as_pdf, files
from portal.files import places
from portal.pages.view_models import export_links
from signed_api.errors import CannotConnect, RateLimited, SignatureRefused, SlowRequest, TimedOut
from tests.browser.steps import PATH
from tests.faults.server import closed_port
from tests.structs import refused

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

NARROWED = f"{PATH}?severity=High&query=scripting"
TROUBLES = {
    "502": (CannotConnect("away"), refused(SignatureRefused, code="invalid_signature", request_id="x")),
    "503": (RateLimited(retry_after=30), SlowRequest(retry_after=30)),
    "504": (TimedOut("slow"),),
    "400": (SuspiciousOperation("odd"),),
    "403": (PermissionDenied(),),
    "500": (RuntimeError("a fault of ours"),),
}


@pytest.fixture
def fails(monkeypatch):
    """Let every request to the service fail with an error, or work again."""
    asked = service.get_dashboard

    def fail(error):
        def ask(website, question):
            if error:
                raise error
            return asked(website, question)

        monkeypatch.setattr(service, "get_dashboard", ask)

    return fail


def test_error_pages_of_a_website(tour, owner, fails, watch):
    watch.expect(*TROUBLES)
    page = tour.open(user=owner)
    for error in chain(*TROUBLES.values()):
        fails(error)
        page.goto(NARROWED)
        tour.look(page, error)


def test_pages_without_the_service(tour, owner, settings, watch):
    watch.expect("502")
    settings.DASHBOARD_BASE_URL = f"http://127.0.0.1:{closed_port()}"
    page = tour.open(user=owner)
    page.goto("/")
    expect(page.locator(".retry")).to_be_visible()
    tour.look(page, "cards")
    page.goto(f"{PATH}findings/1/?query=form")
    tour.look(page, "a finding")


def choose(page, facet):
    """Choose a filter; on a phone the list of filters opens first."""
    if page.locator(".filter-button").is_visible() and not page.locator(facet).is_visible():
        page.locator(".filter-button").click()
    page.locator(facet).click()


def test_error_pages_in_the_region(tour, owner, fails, watch):
    watch.expect("503", "net::ERR_INTERNET_DISCONNECTED", "htmx:sendError", "htmx:afterRequest")
    page = tour.open(user=owner)
    page.goto(NARROWED)
    fails(SlowRequest(retry_after=30))
    choose(page, "#facet-kind-suspected")
    expect(page.locator("#retry")).to_be_visible()
    tour.look(page, "slow question")
    fails(None)
    page.locator("#retry").click()
    page.locator("#facet-source-zap").wait_for(state="attached")
    page.context.set_offline(True)
    choose(page, "#facet-source-zap")
    expect(page.locator("#connection-error")).to_be_visible()
    page.evaluate("scrollTo(0, 0)")  # scrolled, the message is above what axe compares it with
    tour.look(page, "offline")
    page.context.set_offline(False)
    page.context.clear_cookies()
    page.locator("#connection-error button").click()
    expect(page.locator("[name=password]")).to_be_visible()
    assert "next=%2Fsites%2Fshop.example.com" in page.url
    tour.look(page, "session over")


def test_error_pages_of_exports(tour, owner, monkeypatch, watch):
    watch.expect("422", "503", "500", "404")
    page = tour.open(user=owner)
    with monkeypatch.context() as patch:
        patch.setattr(files, "MAX_ROWS", 10)
        tour.visit(page, f"{PATH}findings.csv?kind=confirmed")
    with monkeypatch.context() as patch:
        patch.setattr(as_pdf, "SECONDS", 0.001)
        tour.visit(page, f"{PATH}report.pdf?severity=High")
    with monkeypatch.context() as patch:
        patch.setattr(export_links, "pdf_available", lambda: False)
        patch.setattr("portal.exports.views.pdf_available", lambda: False)
        tour.visit(page, f"{PATH}report.pdf")
    others = [HttpRequest() for _ in range(places.MAX_CONCURRENT)]
    for account, request in enumerate(others):
        places.hold_place(request, -account)
    tour.visit(page, f"{PATH}findings.json")
    for request in others:
        request.close()


def test_a_form_that_is_out_of_date(tour, owner):
    page = tour.open()
    page.goto("/accounts/login/")
    page.context.clear_cookies()
    page.locator("[name=login]").fill(owner.username)
    page.locator("[name=password]").fill("correct horse battery")
    page.locator("main form .primary").click()
    tour.look(page, "a fresh form")
