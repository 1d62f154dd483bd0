"""Files and reports as a browser gets them."""

import csv
import gzip
import io
import json
import re
import zlib
from contextlib import contextmanager

import pytest
from django.contrib.sessions.backends.base import UpdateError
from django.http import HttpRequest

from config.identity.sessions import SessionStore
from foundation.operations.places import NoPlace
from portal.exports import files
from portal.exports.files import MAX_ROWS, ExportInterrupted
from portal.files import places
from portal.gateway.errors import TooManyCalls
from portal.pages.urls import Address
from portal.pages.view_models import export_links
from signed_api.errors import RateLimited, TimedOut, UnknownLink
from tests.factories import make_membership, make_portal_account, make_portal_website
from tests.portal.dashboards import make_note, make_threat

pytestmark = [pytest.mark.django_db, pytest.mark.once]

PATH = "/sites/shop.example.com/"
NAMES = ("findings.csv", "findings.json", "findings.sarif", "report/", "report.pdf")
FILES = NAMES[:3]


def text_of(response):
    """Return the text of a page without tags."""
    return " ".join(re.sub(r"<[^>]*>", " ", response.content.decode()).split())


def body_of(response):
    return b"".join(response.streaming_content).decode()


def rows_of(response):
    return list(csv.reader(io.StringIO(body_of(response).removeprefix("\ufeff"), newline="")))


@contextmanager
def all_places_held(number=places.MAX_CONCURRENT):
    """Hold the places for other accounts; fail if some are taken."""
    requests = [HttpRequest() for _ in range(number)]
    for account, request in enumerate(requests):
        places.hold_place(request, -account)
    yield
    for request in requests:
        request.close()


@pytest.fixture(autouse=True)
def _all_places_are_free():
    """Fail a test that leaves a place taken."""
    yield
    with all_places_held():
        pass


# Files


@pytest.mark.parametrize(
    ("name", "content_type"),
    [
        ("findings.csv", "text/csv; charset=utf-8; header=present"),
        ("findings.json", "application/json"),
        ("findings.sarif", "application/sarif+json"),
    ],
)
def test_a_file_has_a_type_and_a_name_and_is_never_cached(browser, stub, name, content_type):
    stub.total = 250
    response = browser.get(f"{PATH}{name}")
    suffix = name.rpartition(".")[2]
    assert response.status_code == 200
    assert response["Content-Type"] == content_type
    assert response["Content-Disposition"] == (
        f'attachment; filename="shop.example.com-findings-2026-11-20.{suffix}"'
    )
    assert response["X-Content-Type-Options"] == "nosniff"
    assert "no-store" in response["Cache-Control"]
    body_of(response)


@pytest.mark.parametrize("name", [*FILES, "report.pdf", "report/"])
@pytest.mark.parametrize("other", ["cross-site", "same-site"])
def test_another_website_that_opens_a_file_gets_the_page_like_for_a_website_that_does_not_exist(
    browser, stub, name, other
):
    for path in (PATH, "/sites/unknown.example.com/"):
        response = browser.get(f"{path}{name}", {"severity": "High"}, headers={"Sec-Fetch-Site": other})
        assert (response.status_code, response["Location"]) == (302, f"{path}?severity=High")
    assert not stub.requests


@pytest.mark.parametrize("asked_by", ["same-origin", "none"])
def test_a_file_is_sent_to_who_follows_our_link_or_types_its_address(browser, stub, asked_by):
    response = browser.get(f"{PATH}findings.csv", headers={"Sec-Fetch-Site": asked_by})
    assert "attachment" in response["Content-Disposition"]
    body_of(response)


def test_a_file_holds_everything_that_the_filters_find(browser, stub):
    stub.total = 250
    response = browser.get(
        f"{PATH}findings.csv",
        {"severity": "high", "status": "all", "query": "log in", "page": "2", "page_size": "50", "kind": "x"},
    )
    assert len(rows_of(response)) == 251
    assert [request.page for request in stub.requests] == [1, 2, 3]
    for request in stub.requests:
        assert (request.severity, request.status, request.query, request.page_size, request.kind) == (
            "High", "all", "log in", 100, "",
        )  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_an_export_with_the_address_of_the_list_of_problems_has_its_findings(browser, stub, name):
    query = {"view": "problems", "sort": "locations", "severity": "High", "page": "2"}
    response = browser.get(f"{PATH}{name}", query)
    assert response.status_code == 200
    if response.streaming:
        body_of(response)
    (request,) = stub.requests
    assert (request.group_by, request.sort, request.severity, request.page) == ("", "priority", "High", 1)


def test_a_file_has_absolute_urls_of_its_list_and_of_each_finding(browser, stub):
    document = json.loads(body_of(browser.get(f"{PATH}findings.json", {"severity": "High", "page": "2"})))
    assert document["link"] == f"http://testserver{PATH}?severity=High"
    assert document["threats"][0]["link"] == f"http://testserver{PATH}findings/0/"


def test_the_first_page_is_requested_before_the_response_and_the_others_during_it(browser, stub):
    stub.total = 250
    response = browser.get(f"{PATH}findings.csv")
    assert len(stub.requests) == 1
    list(response.streaming_content)
    assert len(stub.requests) == 3


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_file_with_the_maximum_of_findings_is_sent(browser, stub, name):
    stub.total = MAX_ROWS
    body_of(browser.get(f"{PATH}{name}"))
    assert len(stub.requests) == MAX_ROWS // 100


@pytest.mark.parametrize("name", FILES)
def test_too_many_findings_are_refused_with_advice(browser, stub, name):
    stub.total = MAX_ROWS + 1
    response = browser.get(f"{PATH}{name}", {"severity": "High"})
    assert response.status_code == 422
    page = text_of(response)
    assert "Your filters match more than 10,000 findings, the limit for one file." in page
    assert "Filter the findings" in page
    assert f'href="{PATH}?severity=High">Back to the findings' in response.content.decode()


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("total", [1, 999, 1000, 1001, 1100, 2345, MAX_ROWS - 1, MAX_ROWS])
def test_a_file_holds_every_match_of_a_search(browser, stub, name, total):
    stub.total = total
    response = browser.get(f"{PATH}{name}", {"query": "a"})
    body = body_of(response)
    assert len(set(re.findall(r"/findings/(\d+)/", body))) == total


def test_a_file_has_the_exact_total_of_a_large_search(browser, stub):
    stub.total = 1234
    document = json.loads(body_of(browser.get(f"{PATH}findings.json", {"query": "a"})))
    assert (document["dashboard"]["total"], len(document["threats"])) == (1234, 1234)


@pytest.mark.parametrize("name", FILES)
def test_a_search_with_too_many_matches_is_refused_first(browser, stub, name):
    stub.total = MAX_ROWS + 1
    response = browser.get(f"{PATH}{name}", {"query": "a"})
    assert response.status_code == 422
    assert "Your filters match more than 10,000 findings" in text_of(response)


# Interrupted files


@pytest.mark.parametrize("name", FILES)
def test_a_failure_in_the_middle_interrupts_the_response(browser, stub, name, caplog):
    stub.total, stub.failures = 250, {2: TimedOut("secret words")}
    with pytest.raises(ExportInterrupted):
        body_of(browser.get(f"{PATH}{name}"))
    assert "shop.example.com: an export was interrupted: TimedOut" in caplog.text


@pytest.mark.parametrize("busy", [TooManyCalls(), RateLimited(retry_after=2)])
def test_a_started_file_waits_for_a_free_call(browser, stub, monkeypatch, busy):
    stub.total, stub.failures = 250, {2: busy}
    monkeypatch.setattr(files.time, "sleep", lambda _: stub.failures.clear())
    assert len(rows_of(browser.get(f"{PATH}findings.csv"))) == 251
    stub.failures = {1: busy}
    assert browser.get(f"{PATH}findings.csv").status_code == 503


def part_of(response):
    """Return the part of the response before the interruption."""
    received = []
    with pytest.raises(ExportInterrupted):
        received.extend(response.streaming_content)
    return b"".join(received).decode()


def test_an_incomplete_table_says_so_in_its_last_line(browser, stub):
    stub.total, stub.failures = 101, {2: TimedOut()}
    response = browser.get(f"{PATH}findings.csv")
    text = part_of(response)
    rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    assert len(rows) == 1 + 100 + 1
    assert rows[-1][0].startswith("INCOMPLETE")


@pytest.mark.parametrize("name", ["findings.json", "findings.sarif"])
def test_an_incomplete_document_is_invalid(browser, stub, name):
    stub.total, stub.failures = 101, {2: TimedOut()}
    with pytest.raises(json.JSONDecodeError):
        json.loads(part_of(browser.get(f"{PATH}{name}")))


def test_an_incomplete_compressed_table_says_so_too(browser, stub):
    stub.total, stub.failures = 101, {2: TimedOut()}
    response = browser.get(f"{PATH}findings.csv", headers={"Accept-Encoding": "br, gzip"})
    assert response["Content-Encoding"] == "gzip"
    received = []
    with pytest.raises(ExportInterrupted):
        received.extend(response.streaming_content)
    assert b'"INCOMPLETE' in zlib.decompressobj(wbits=31).decompress(b"".join(received))


def test_a_file_is_compressed_if_the_browser_accepts_it(browser, stub):
    plain = browser.get(f"{PATH}findings.sarif")
    content = body_of(plain)
    packed = browser.get(f"{PATH}findings.sarif", headers={"Accept-Encoding": "gzip"})
    assert gzip.decompress(b"".join(packed.streaming_content)).decode() == content
    assert not plain.has_header("Content-Encoding")
    assert "Accept-Encoding" in plain["Vary"]


# Access and limits


def test_a_file_whose_session_ends_before_it_is_sent_leaves_its_place(browser, stub, monkeypatch):
    def ended(*_args, **_kwargs):
        raise UpdateError

    with monkeypatch.context() as patched:
        patched.setattr(SessionStore, "save", ended)
        response = browser.get(f"{PATH}findings.csv", headers={"Accept-Language": "de"})
    assert (response.status_code, len(stub.requests)) == (400, 1)
    assert body_of(browser.get(f"{PATH}findings.csv"))


def test_the_account_selects_one_of_two_websites_with_the_same_host(browser, website, stub):
    second = make_portal_account("acct_0003")
    make_portal_website(second, "shop.example.com")
    make_membership(website.account.memberships.get().user, second)
    document = json.loads(body_of(browser.get(f"{PATH}findings.json", {"account": "acct_0003"})))
    assert document["link"] == f"http://testserver{PATH}?account=acct_0003"
    assert document["threats"][0]["link"].endswith("/findings/0/?account=acct_0003")


@pytest.mark.parametrize("name", ["findings.csv", "findings.sarif", "report.pdf"])
def test_more_exports_than_places_get_a_retry_after(browser, stub, name):
    with all_places_held():
        response = browser.get(f"{PATH}{name}")
    assert response.status_code == 503
    assert response["Retry-After"] == "5"
    assert "Other exports are being created" in text_of(response)
    assert f'href="{PATH}{name}">Try again' in response.content.decode()
    assert stub.requests == []


def test_a_file_holds_its_place_until_it_is_read_and_leaves_one_for_other_accounts(browser, stub):
    response = browser.get(f"{PATH}findings.csv")
    assert browser.get(f"{PATH}findings.csv").status_code == 503
    with all_places_held(1):
        pass
    body_of(response)
    assert browser.get(f"{PATH}report.pdf").status_code == 200


def test_the_end_of_a_request_releases_its_place_and_no_other():
    first, second = HttpRequest(), HttpRequest()
    places.hold_place(first, 1)
    first.close()
    places.hold_place(second, 1)
    first.close()
    with pytest.raises(NoPlace):
        places.hold_place(first, 1)
    second.close()


# Errors of the service


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("error", "status"), [(UnknownLink(), 404), (RateLimited(retry_after=9), 503), (TimedOut(), 504)]
)
def test_an_error_before_the_file_starts_is_a_page_with_its_status(browser, stub, name, error, status):
    stub.failures = {1: error}
    response = browser.get(f"{PATH}{name}", {"severity": "High"})
    assert response.status_code == status
    assert not response.has_header("Content-Disposition")
    assert f'href="{PATH}?severity=High">Back to the findings' in response.content.decode()
    if status > 500:
        assert f'href="{PATH}{name}?severity=High">Try again' in response.content.decode()


# Reports


def test_a_report_starts_with_filters_time_and_coverage(browser, stub):
    response = browser.get(f"{PATH}report/", {"severity": "High", "query": "log in"})
    page = text_of(response)
    for words in (
        "Security report: shop.example.com", "Organization Example Shops", "As of 20 Nov 2026, 09:30 UTC",
        "Severity: High Search: “log in”", "Scans Scanned by 1 scanner", "3 of 2 findings", "Finding 2",
    ):  # fmt: skip
        assert words in page


def test_a_report_takes_one_request_and_names_its_limit(browser, stub):
    stub.total = 250
    page = text_of(browser.get(f"{PATH}report/", {"page": "3"}))
    assert [(request.page, request.page_size) for request in stub.requests] == [(1, 100)]
    assert "This report has the worst 100. Files (CSV, JSON, SARIF) hold up to 10,000 findings." in page


def test_findings_with_one_problem_are_one_part_of_the_report(browser, stub):
    same = [make_threat(number, problem="sql-injection", description="Why.") for number in (1, 2)]
    same[1] = make_threat(2, problem="sql-injection", severity="Medium", description="Not shown.")
    stub.fields = {
        "threats": [same[0], make_threat(3, description="Alone."), same[1]],
        "analyst_notes": [make_note(finding_id="2", body="Look here.")],
    }
    response = browser.get(f"{PATH}report/")
    page = text_of(response)
    assert re.findall(r"<h3><a[^>]*>([^<]*)</a>\s*</h3>", response.text) == ["SQL injection", "Finding 3"]
    assert "2 findings SQL injection https://shop.example.com/page/1" in page
    assert "Other findings with this cause https://shop.example.com/page/2 Medium · Confirmed" in page
    assert "Look here." in page
    assert (page.count("Why."), page.count("Not shown."), page.count("Alone.")) == (1, 0, 1)
    assert f'href="http://testserver{PATH}findings/2/"' in response.text


def test_a_report_of_a_large_search_says_how_many_it_has(browser, stub):
    stub.total = 1234
    page = text_of(browser.get(f"{PATH}report/", {"query": "a"}))
    assert "1,234 of" in page
    assert "This report has the worst 100." in page


def test_a_pdf_is_a_file(browser, stub):
    response = browser.get(f"{PATH}report.pdf", {"severity": "High"})
    assert response["Content-Type"] == "application/pdf"
    assert response["Content-Disposition"].endswith('filename="shop.example.com-report-2026-11-20.pdf"')
    assert response.content.startswith(b"%PDF-")


def test_without_the_typesetter_pdfs_are_not_offered(browser, stub, monkeypatch):
    monkeypatch.setattr(export_links, "find_spec", lambda _: None)
    export_links.pdf_available.cache_clear()
    try:
        response = browser.get(f"{PATH}report.pdf")
        report = browser.get(f"{PATH}report/")
        offered = [link.url for link in export_links.export_links(Address(path=PATH))]
    finally:
        export_links.pdf_available.cache_clear()
    assert response.status_code == 404
    assert "PDF reports are not available here" in text_of(response)
    assert "report.pdf" not in report.content.decode()
    assert f"{PATH}report.pdf" not in offered
