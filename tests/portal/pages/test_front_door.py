"""The pages for strangers, with a stub of the service: the sample is one website, and no other is reached."""

import re

import pytest

from portal.answers import service
from portal.models import WebsiteSummary
from signed_api.errors import RevokedLink, TimedOut, UnknownFinding
from signed_api.findings import DASHBOARD, DashboardRequest
from tests.factories import make_membership, make_portal_account, make_portal_website, make_user
from tests.portal.dashboards import make_coverage, make_dashboard, make_finding_response, make_note
from tests.portal.service_answers import answer_with
from tests.structs import refused

pytestmark = [pytest.mark.django_db, pytest.mark.once]

HOST = "sample.example.com"
SAMPLE = "/sample/"
FINDING = "/sample/findings/1/"


class StubService:
    """Returns or raises ``response``, and records the websites and requests."""

    def __init__(self):
        self.response = make_dashboard()
        self.requests = []

    def get(self, website, request):
        self.requests.append((website.account.ref, website.host, request))
        if isinstance(self.response, Exception):
            raise self.response
        return self.response

    def fetch_dashboard(self, _, website, request):
        return self.get(website, request)

    def get_finding(self, website, finding_id):
        self.get(website, finding_id)
        return make_finding_response()


@pytest.fixture
def stub(monkeypatch):
    stub = StubService()
    monkeypatch.setattr(service, "signer_of_website", lambda website: website)
    answer_with(monkeypatch, DASHBOARD, stub.fetch_dashboard)
    monkeypatch.setattr(service, "get_finding", stub.get_finding)
    return stub


@pytest.fixture
def sample(settings):
    settings.SAMPLE_WEBSITE = f"acct_demo/{HOST}"
    return make_portal_website(make_portal_account("acct_demo"), HOST)


@pytest.fixture
def others(sample):
    """Add websites of other accounts, one of them with the sample's host."""
    other = make_portal_account("acct_0002", name="Someone else")
    return [make_portal_website(other, host) for host in (HOST, "other.example.com")]


# The start page


def test_a_stranger_reads_what_the_service_does_and_signs_in(client, stub, sample):
    page = client.get("/")
    assert page.status_code == 200
    assert "what to fix first" in page.text
    assert "What we check" in page.text
    assert 'href="/accounts/login/"' in page.text
    assert f'href="{SAMPLE}"' in page.text
    assert stub.requests == []


def test_the_start_page_shows_the_numbers_of_the_sample_alone(client, sample, others):
    for website in others:
        WebsiteSummary.objects.store(website, dashboard=make_dashboard())
    assert HOST not in client.get("/").text
    WebsiteSummary.objects.store(sample, dashboard=make_dashboard())
    page = client.get("/")
    assert HOST in page.text
    assert "other.example.com" not in page.text


@pytest.mark.parametrize(
    "setting", ["", "acct_demo", "acct_demo/", f"/{HOST}", f"acct_nobody/{HOST}", "acct_demo/x.example.com"]
)
def test_without_a_sample_there_is_none(client, settings, stub, sample, setting):
    settings.SAMPLE_WEBSITE = setting
    assert SAMPLE not in client.get("/").text
    assert client.get(SAMPLE).status_code == 404
    assert client.get(FINDING).status_code == 404
    assert stub.requests == []


def test_a_sample_that_the_service_refuses_is_not_offered(client, sample):
    WebsiteSummary.objects.store(sample, refusal="revoked_link")
    assert SAMPLE not in client.get("/").text


def test_members_see_their_websites_and_a_lost_session_leads_to_the_sign_in(client, sample):
    assert client.get("/", headers={"HX-Request": "true"})["HX-Redirect"].startswith("/accounts/login/")
    make_membership(user := make_user(), sample.account)
    client.force_login(user)
    assert "What we check" not in client.get("/").text


def test_the_start_page_only_answers_reading(client):
    assert client.post("/").status_code == 405


# The sample dashboard


def test_anyone_may_read_the_sample(client, stub, sample):
    page = client.get(SAMPLE)
    assert page.status_code == 200
    assert "Finding 1" in page.text
    assert f'href="{FINDING}"' in page.text
    finding = client.get(FINDING)
    assert "All findings" in finding.text


def test_no_request_reaches_another_website(client, stub, sample, others):
    make_membership(user := make_user(), others[0].account)
    for visitor in ("stranger", "member"):
        if visitor == "member":
            client.force_login(user)
        for query in (
            "",
            "?account=acct_0002",
            "?host=other.example.com",
            "?account=acct_0002&host=other.example.com",
        ):
            client.get(SAMPLE + query)
            client.get(FINDING + query)
    assert {(ref, host) for ref, host, _ in stub.requests} == {("acct_demo", HOST)}


def test_a_stranger_may_filter_and_not_search(client, stub, sample):
    client.get(f"{SAMPLE}?severity=High&page=2&query=expensive")
    assert stub.requests[0][2] == DashboardRequest(severity="High", sort="priority", page=2)
    assert 'role="search"' not in client.get(SAMPLE).text


@pytest.mark.parametrize(("mode", "is_offered"), [("open", True), ("invite", False), ("off", False)])
def test_the_sample_leads_to_the_sign_up_if_that_is_open(client, stub, sample, settings, mode, is_offered):
    settings.SIGN_UP = mode
    page = client.get("/sample/").content.decode()
    assert ('href="/sign-up/"' in page) == is_offered
    assert 'href="/accounts/login/"' in page


def test_the_sample_has_no_plan_and_no_link_to_pages_of_members(client, stub, sample):
    stub.response = make_dashboard(analyst_notes=[make_note()], coverage=[make_coverage("failed")])
    page = client.get(SAMPLE).text
    assert "Your plan" not in page
    assert "Export" not in page
    links = re.findall(r'href="(/[^"]*)"', page[page.index("<main") : page.index("</main")])
    for_visitors = (SAMPLE, "/accounts/login/", "/how-we-grade/")
    assert [link for link in links if not link.startswith(for_visitors)] == []


@pytest.mark.parametrize(
    ("error", "status"),
    [(refused(RevokedLink, revoked_at=None), 404), (UnknownFinding(), 404), (TimedOut(), 503)],
)
def test_an_error_tells_strangers_nothing_about_the_account(client, stub, sample, settings, error, status):
    stub.response = error
    for path in (SAMPLE, FINDING):
        page = client.get(path)
        assert page.status_code == status
        assert settings.RENEW_URL not in page.text
        assert HOST not in page.text


@pytest.mark.parametrize("finding_id", ["-1", "a b", "x" * 200])
def test_an_id_that_no_finding_has_sends_no_request(client, stub, sample, finding_id):
    assert client.get(f"/sample/findings/{finding_id}/").status_code == 404
    assert stub.requests == []


def test_visits_write_the_summary_only_when_it_is_old(client, stub, sample):
    client.get(SAMPLE)
    first = WebsiteSummary.objects.get()
    client.get(SAMPLE)
    assert WebsiteSummary.objects.get().updated_at == first.updated_at


def test_too_many_visits_from_one_address_wait(client, stub, sample, settings):
    settings.ACCOUNT_RATE_LIMITS = {"sample": "3/m/ip"}
    statuses = [client.get(SAMPLE).status_code for _ in range(4)]
    assert statuses == [200, 200, 200, 429]
    assert len(stub.requests) == 3
