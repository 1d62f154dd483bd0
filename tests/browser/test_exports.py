"""Exports, which the browser saves by itself: complete files, failed downloads, and printed reports."""

import csv
import json
import re

import pytest
from django.core.servers import basehttp
from playwright.sync_api import expect

from portal.answers import service
from portal.exports import files
from signed_api.errors import Unreachable
from tests.browser.steps import PATH, facet, findings
from tests.factories import make_finding

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def export_link(page, name):
    if not page.get_by_role("link", name=name).is_visible():
        page.get_by_text("Export", exact=True).click()
    return page.get_by_role("link", name=name)


@pytest.fixture
def many(link):
    """Enough findings for a second page of a file."""
    for _ in range(100):
        make_finding(link.website)


class ChunkedHandler(basehttp.ServerHandler):
    """Sends streams in chunks, as gunicorn does: without the last chunk, a response is incomplete."""

    is_chunked = False

    def cleanup_headers(self):
        super().cleanup_headers()
        self.is_chunked = "Content-Length" not in self.headers
        if self.is_chunked:
            self.headers["Transfer-Encoding"] = "chunked"

    def write(self, data):
        if not self.headers_sent and not self.status:
            raise AssertionError("write() before start_response()")
        if not self.headers_sent:
            self.bytes_sent = len(data)
            self.send_headers()
        if data:
            self._write(b"%x\r\n%s\r\n" % (len(data), data) if self.is_chunked else data)
        self._flush()

    def finish_content(self):
        super().finish_content()
        if self.is_chunked:
            self._write(b"0\r\n\r\n")


@pytest.mark.parametrize(("name", "suffix"), [("CSV", "csv"), ("JSON", "json"), ("SARIF", "sarif")])
def test_a_file_of_the_filters_is_saved_and_the_page_stays(dashboard, many, name, suffix):
    facet(dashboard, "High 12").click()
    expect(findings(dashboard)).to_have_count(12)
    with dashboard.expect_download() as download:
        export_link(dashboard, name).click()
    assert re.fullmatch(
        rf"shop\.example\.com-findings-[\d-]{{10}}\.{suffix}", download.value.suggested_filename
    )
    text = download.value.path().read_text("utf-8-sig")
    assert text.count('Cross-site scripting in form 1"') == 1
    assert "SQL injection" not in text
    expect(dashboard).to_have_url(f"{PATH}?severity=High")


def test_a_file_of_several_pages_is_complete(dashboard, many, monkeypatch):
    monkeypatch.setattr(basehttp, "ServerHandler", ChunkedHandler)
    with dashboard.expect_download() as download:
        export_link(dashboard, "CSV").click()
    assert download.value.failure() is None
    with download.value.path().open(encoding="utf-8-sig", newline="") as file:
        assert len(list(csv.reader(file))) == 146


@pytest.mark.parametrize("name", ["CSV", "JSON", "SARIF"])
def test_an_interrupted_file_is_a_failed_download(dashboard, many, monkeypatch, name):
    def interrupted(website, request):
        if request.page == 2:
            raise Unreachable
        return get_dashboard(website, request)

    get_dashboard = service.get_dashboard
    monkeypatch.setattr(service, "get_dashboard", interrupted)
    monkeypatch.setattr(basehttp, "ServerHandler", ChunkedHandler)
    with dashboard.expect_download() as download:
        export_link(dashboard, name).click()
    assert download.value.failure()
    expect(findings(dashboard)).to_have_count(20)


def test_too_many_findings_are_an_error_page(dashboard, monkeypatch, watch):
    watch.expect("422")
    monkeypatch.setattr(files, "MAX_ROWS", 10)
    export_link(dashboard, "CSV").click()
    expect(dashboard.get_by_role("heading", name="Too many findings for one file")).to_be_visible()
    dashboard.get_by_role("link", name="Back to the findings").click()
    expect(dashboard).to_have_url(PATH)


def test_an_expired_session_leads_to_the_sign_in(dashboard):
    dashboard.context.clear_cookies()
    export_link(dashboard, "CSV").click()
    expect(dashboard.get_by_label("Password", exact=True)).to_be_visible()
    assert "findings.csv" in dashboard.url


def test_without_javascript_the_browser_saves_the_file(open_page, owner):
    page = open_page(user=owner, java_script_enabled=False)
    page.goto(f"{PATH}?severity=Critical")
    with page.expect_download() as download:
        export_link(page, "JSON").click()
    document = json.loads(download.value.path().read_text())
    assert (len(document["threats"]), document["complete"]) == (1, True)


def test_a_report_is_printed_without_navigation(dashboard):
    facet(dashboard, "High 12").click()
    expect(findings(dashboard)).to_have_count(12)
    export_link(dashboard, "Report to print").click()
    expect(dashboard).to_have_url(f"{PATH}report/?severity=High")
    expect(dashboard.get_by_role("heading", level=3)).to_have_count(12)
    dashboard.evaluate("window.print = () => document.title = 'printed'")
    dashboard.get_by_role("button", name="Print").click()
    expect(dashboard).to_have_title("printed")
    dashboard.emulate_media(media="print")
    expect(dashboard.get_by_role("heading", level=1)).to_have_text("Security report: shop.example.com")
    expect(dashboard.get_by_text("Severity: High")).to_be_visible()
    for gone in (dashboard.get_by_role("banner"), dashboard.get_by_role("link", name="Report as PDF")):
        expect(gone).to_be_hidden()


def test_a_pdf_is_saved_from_the_report(dashboard):
    dashboard.goto(f"{PATH}report/?severity=Critical")
    with dashboard.expect_download() as download:
        dashboard.get_by_role("link", name="Report as PDF").click()
    assert download.value.path().read_bytes().startswith(b"%PDF-")
