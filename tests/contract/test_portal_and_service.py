"""The portal with the real endpoint: the portal reads every field that the service sends."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard_api import limits
from dashboard_api.api import response_cache
from dashboard_api.backends.statements import select
from dashboard_api.models import Finding, Nonce
from portal.answers import service as portal_service
from portal.models import WebsiteSummary
from signed_api.errors import InactiveEntitlement, Refused, RevokedLink, SignatureRefused, UnknownLink
from signed_api.findings import DashboardRequest
from tests.factories import make_finding, make_note, make_occurrence, make_website

ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT COUNT(*) FROM n"

pytestmark = pytest.mark.django_db(transaction=True)

PATH = "/sites/shop.example.com/"


@pytest.fixture(params=["http", "direct"])
def service(request, service, settings):
    """The service, called over HTTP and then in the same process."""
    if request.param == "direct":
        settings.DASHBOARD_BASE_URL = ""
    return service


def test_the_portal_shows_a_dashboard_of_the_service(owner):
    page = owner.get(PATH)
    text = page.content.decode()
    assert page.status_code == 200
    assert "Café login" in text
    assert "<strong>soon</strong>" in text
    assert "Only for us." not in text


def test_the_portal_shows_a_finding_of_the_service(owner, link):
    finding = link.website.findings.get(title="Café login")
    make_occurrence(finding, "https://shop.example.com/login")
    make_note(link.website, finding=finding, body="By **hand**.")
    make_note(link.website, finding=finding, body="Only for us, too.", is_internal=True)
    page = owner.get(f"{PATH}findings/{finding.pk}/")
    text = page.content.decode()
    assert page.status_code == 200
    for words in ("Café login", "CVE-2024-12345", "CWE-89", "https://shop.example.com/login", "<strong>hand"):
        assert words in text
    assert "Only for us" not in text


def test_a_finding_of_another_website_reads_like_one_that_does_not_exist(owner, link):
    theirs = make_finding(make_website("other.example.com"), title="Of others")

    def page(finding_id):
        response = owner.get(f"{PATH}findings/{finding_id}/")
        text = response.content.decode().replace(f"findings/{finding_id}/", "")
        return response.status_code, re.sub(r"<code>\w+</code>|value=\"\w{64}\"", "", text)

    assert page(theirs.pk) == page(10**12)
    assert page(theirs.pk)[0] == 404


def test_filters_of_the_url_narrow_the_real_list(owner, website):
    everything = portal_service.get_dashboard(website, DashboardRequest())
    high = portal_service.get_dashboard(website, DashboardRequest(severity="High", page_size=100))
    assert everything.dashboard.total == 31
    assert high.dashboard.total == len(high.threats) == 7
    page = owner.get(PATH, {"severity": "High", "query": "cafe"})
    assert "<mark>Café</mark> login" in page.content.decode()


@pytest.mark.parametrize(
    "question",
    [
        DashboardRequest(severity="Critical"),
        DashboardRequest(source="nuclei", kind="confirmed"),
        DashboardRequest(query="cafe"),
        DashboardRequest(status="all", page=2, page_size=20),
        DashboardRequest(page=500),
        DashboardRequest(query='"; DROP TABLE'),
    ],
)
def test_every_request_of_the_portal_is_accepted(website, question):
    assert portal_service.get_dashboard(website, question).host == "shop.example.com"


def test_a_request_that_the_service_refuses_is_a_rejection(website):
    with pytest.raises(Refused) as refusal:
        portal_service.get_dashboard(website, DashboardRequest(page_size=101))
    assert (refusal.value.status, refusal.value.code) == (400, "invalid_request")


def test_an_inactive_entitlement_reaches_the_owner_as_403(owner, link, website):
    link.account.entitlement.status = "expired"
    link.account.entitlement.save()
    with pytest.raises(InactiveEntitlement) as refusal:
        portal_service.get_dashboard(website, DashboardRequest())
    assert refusal.value.detail.ends_on == link.account.entitlement.ends_on
    assert refusal.value.request_id
    assert owner.get(PATH).status_code == 403


def test_a_plan_that_begins_later_reaches_the_owner_with_its_first_day(owner, link, website):
    link.account.entitlement.starts_on = timezone.now().date() + timedelta(days=1)
    link.account.entitlement.save()
    with pytest.raises(InactiveEntitlement) as refusal:
        portal_service.get_dashboard(website, DashboardRequest())
    assert refusal.value.detail.starts_on == link.account.entitlement.starts_on
    page = owner.get(PATH)
    assert (page.status_code, "has not started yet" in page.content.decode()) == (403, True)
    assert WebsiteSummary.objects.get().refusal == "plan_not_started"


def test_a_revoked_link_reaches_the_owner_as_403(owner, link, website):
    link.revoke(by="tests", reason="asked to", now=timezone.now())
    with pytest.raises(RevokedLink) as refusal:
        portal_service.get_dashboard(website, DashboardRequest())
    assert refusal.value.detail.revoked_at is not None
    assert owner.get(PATH).status_code == 403


def test_a_link_that_does_not_pair_reaches_the_owner_as_404(owner, website):
    website.link_id = "00000000-0000-4000-8000-000000000000"
    website.save()
    with pytest.raises(UnknownLink):
        portal_service.get_dashboard(website, DashboardRequest())
    assert owner.get(PATH).status_code == 404


def test_a_wrong_secret_reaches_the_owner_as_502_without_a_code(owner, website):
    website.account.set_secret("another-secret-0001")
    website.account.save()
    with pytest.raises(SignatureRefused):
        portal_service.get_dashboard(website, DashboardRequest())
    page = owner.get(PATH)
    assert page.status_code == 502
    assert "invalid_signature" not in page.content.decode()


def test_a_service_that_is_down_reaches_the_owner_as_502(owner, settings):
    settings.DASHBOARD_BASE_URL = "http://127.0.0.1:9"
    assert owner.get(PATH).status_code == 502


def test_every_page_spends_one_nonce(owner):
    for _ in range(3):
        owner.get(PATH)
    assert Nonce.objects.count() == 3


def test_a_slow_request_has_its_own_error_page_with_a_retry(owner, monkeypatch):
    monkeypatch.setattr(limits, "STATEMENT_SECONDS", 0.05)
    monkeypatch.setattr(response_cache, "build_dashboard", lambda *_: select(Finding, ENDLESS, []))
    page = owner.get(PATH, {"severity": "High", "query": "log"})
    text = page.content.decode()
    assert (page.status_code, page["Retry-After"]) == (503, "30")
    assert "This request takes too long" in text
    assert f'href="{PATH}?severity=High&amp;query=log"' in text
