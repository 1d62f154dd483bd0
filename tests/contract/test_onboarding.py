"""A website is added in the portal, proven to the service, and seen on its dashboard."""

import html
from datetime import timedelta

import pytest
from django.core import mail
from django.core.management import call_command
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api.models import Entitlement, OwnershipClaim, ScanJob, SiteLink
from dashboard_api.ownership import claims
from dashboard_api.ownership.claims import Check, Verdict
from portal.answers.service import get_claims
from portal.models import Website, WebsiteSummary
from portal.onboarding import emails
from portal.onboarding.claim_states import note_ended_links
from tests.factories import (
    make_account,
    make_link,
    make_membership,
    make_portal_account,
    make_portal_website,
    make_user,
    make_website,
)
from tests.faults.server import FaultServer, answer
from tests.foundation.outbound.internet import PUBLIC, Internet

pytestmark = pytest.mark.django_db(transaction=True)
HOST = "shop.example.com"
PROOF = ("/accounts/reauthenticate/", {"password": "correct horse battery"})
DASHBOARD = f"/sites/{HOST}/"


@pytest.fixture
def service(request, service, settings):
    """The service in the same process, or called over HTTP."""
    if getattr(request, "param", "direct") == "direct":
        settings.DASHBOARD_BASE_URL = ""
    return service


@pytest.fixture
def internet(service, monkeypatch):
    internet = Internet(monkeypatch)
    internet.reach_ourselves(monkeypatch)
    internet.zone[f"{HOST}."] = [PUBLIC]
    return internet


@pytest.fixture
def account(internet):
    return make_account()


@pytest.fixture
def person(account):
    """The owner of the account in the portal, where it has no website."""
    return make_membership(make_user(), make_portal_account(account.ref))


@pytest.fixture
def owner(person, client):
    client.force_login(person.user)
    client.post(*PROOF)
    return client


def serving(internet, content, status=200):
    server = FaultServer(answer(status, content.encode()))
    internet.serve(server, port=80)
    return server


def add(client, host=HOST):
    """Add a website, and return the address of the claim's page."""
    response = client.post("/websites/add/", {"host": host, "account": "acct_0001"})
    assert response.status_code == 302, response.content.decode()
    return response["Location"]


def check(client, page):
    OwnershipClaim.objects.update(asked_at=None)
    return client.post(f"{page}check/")


def text_of(client, url):
    response = client.get(url, follow=True)
    assert response.status_code == 200
    return html.unescape(response.content.decode())


@pytest.mark.parametrize("service", ["http", "direct"], indirect=True)
def test_an_owner_adds_a_website_proves_it_and_sees_its_dashboard(owner, internet):
    page = add(owner, "https://Shop.Example.com/index.html")
    token = OwnershipClaim.objects.get(host=HOST).token
    for words in (token, f"https://{HOST}/.well-known/threat-dashboard-challenge.txt", "<meta name="):
        assert words in text_of(owner, page)
    with serving(internet, "no file", 404) as server:
        assert check(owner, page)["Location"] == page
        text = text_of(owner, page)
        assert "There is no file at this address" in text
        assert "did not find the token" in text
        assert f"({PUBLIC})" in text
        asked = server.connections
        owner.post(f"{page}check/")
        assert "A check was made a moment ago. Check again in 1" in text_of(owner, page)
        assert server.connections == asked
    assert not Website.objects.exists()
    with serving(internet, f"{token}\n"):
        assert check(owner, page)["Location"] == DASHBOARD
    assert f"{HOST} is yours now" in text_of(owner, DASHBOARD)
    link = SiteLink.objects.get()
    assert Website.objects.get().link_id == link.link_id
    assert "Keep the token in its place" in text_of(owner, page)


def polled(client, page, state="pending"):
    return client.get(page, {"state": state}, headers={"HX-Request": "true"})


def prove_elsewhere(internet):
    """Let the check by itself find the token; the portal does not hear of it."""
    OwnershipClaim.objects.update(asked_at=None, next_check_at=timezone.now())
    with serving(internet, OwnershipClaim.objects.get().token):
        call_command("check_claims", verbosity=0)
    assert not Website.objects.exists()


def test_the_page_of_a_proof_leads_to_the_scan_and_the_results_by_itself(owner, internet, settings):
    settings.CRAWLER_ENABLED = True
    page = add(owner)
    shown = text_of(owner, page)
    assert f'hx-get="{page}?state=pending" hx-trigger="every 5s"' in shown
    assert '<li aria-current="step">Prove</li>' in shown
    assert polled(owner, page).status_code == 204
    assert polled(owner, page, "contested")["HX-Refresh"] == "true"
    prove_elsewhere(internet)
    assert polled(owner, page)["HX-Redirect"] == f"{DASHBOARD}scans/"
    assert polled(owner, page)["HX-Redirect"] == f"{DASHBOARD}scans/"  # of another window
    assert '<li aria-current="step">Scan</li>' in text_of(owner, f"{DASHBOARD}scans/")
    now = timezone.now()
    ScanJob.objects.update(state="finished", outcome="complete", started_at=now, ended_at=now)
    assert '<li aria-current="step">Results</li>' in text_of(owner, f"{DASHBOARD}scans/")
    assert "hx-trigger" not in text_of(owner, page)


def test_who_asks_too_soon_for_a_proof_that_was_found_meanwhile_gets_the_results(owner, internet):
    page = add(owner)
    prove_elsewhere(internet)
    ScanJob.objects.all().delete()
    OwnershipClaim.objects.update(asked_at=timezone.now())
    assert owner.post(f"{page}check/")["Location"] == DASHBOARD
    shown = text_of(owner, DASHBOARD)
    assert "moment ago" not in shown
    assert "is yours now. Results appear here after the first scan." in shown


def test_a_website_that_was_scanned_already_promises_no_first_scan(owner, internet, settings):
    settings.CRAWLER_ENABLED = True
    page, now = add(owner), timezone.now()
    prove_elsewhere(internet)
    ScanJob.objects.update(state="finished", outcome="complete", started_at=now, ended_at=now)
    assert polled(owner, page)["HX-Redirect"] == DASHBOARD
    shown = text_of(owner, DASHBOARD)
    assert f"{HOST} is yours now." in shown
    assert "Results appear here" not in shown


def test_an_owner_who_gives_a_website_up_loses_its_link_and_its_page(owner, internet):
    page = add(owner)
    with serving(internet, OwnershipClaim.objects.get().token):
        check(owner, page)
    owner.post(f"{page}withdraw/", {"reason": "Sold"})
    assert not SiteLink.objects.not_revoked().exists()
    assert not Website.objects.exists()
    assert OwnershipClaim.objects.get().reason == "Sold"
    assert owner.get(DASHBOARD).status_code == 404
    text = text_of(owner, page)
    assert "Its proof has ended." in text
    assert "Check now" not in text
    assert "Add the website again" in text


def test_a_website_whose_claim_ended_elsewhere_is_added_again_and_then_leaves_the_list(owner, internet):
    page = add(owner)
    claim = OwnershipClaim.objects.get()
    with serving(internet, claim.token):
        check(owner, page)
    claims.withdraw(claim, by="our backend", reason="Sold", now=timezone.now())
    gone = owner.get(DASHBOARD)
    assert (gone.status_code, "Add the website again" in html.unescape(gone.text)) == (403, True)
    owner.post(f"{add(owner)}withdraw/", {"reason": "Sold"})
    assert not Website.objects.exists()


def test_a_website_that_was_verified_meanwhile_is_in_the_list_and_said_to_be(owner, internet):
    add(owner)
    OwnershipClaim.objects.update(next_check_at=timezone.now())
    with serving(internet, OwnershipClaim.objects.get().token):
        call_command("check_claims", verbosity=0)
    assert "1 verified website is new in your list" in text_of(owner, "/websites/add/")
    assert Website.objects.get().host == HOST
    assert "new in your list" not in text_of(owner, "/websites/add/")


def test_a_website_of_another_account_is_contested_and_not_shown(owner, internet):
    make_link(make_account("acct_0002", secrets=[]), make_website(HOST))
    page = add(owner)
    with serving(internet, OwnershipClaim.objects.get(account__ref="acct_0001").token):
        assert check(owner, page)["Location"] == page
    assert "another organization already owns this website" in text_of(owner, page)
    assert not Website.objects.exists()


def test_a_website_without_room_in_the_plan_says_so(owner, account, internet):
    Entitlement.objects.update(sites_limit=1)
    make_link(account, make_website("first.example.com"))
    page = add(owner)
    with serving(internet, OwnershipClaim.objects.get(host=HOST).token):
        check(owner, page)
    assert "Your plan has no room for another website" in text_of(owner, page)


@pytest.mark.parametrize(
    ("host", "words", "german"),
    [
        ("co.uk", "Anyone can register a name below co.uk", "Unter co.uk kann jeder"),
        ("router.lan", "router.lan is not a name on the internet", "router.lan ist kein Name im Internet"),
    ],
)
def test_a_refused_website_has_the_reason_next_to_its_field(owner, host, words, german):
    fields = {"host": host, "account": "acct_0001"}
    assert words in html.unescape(owner.post("/websites/add/", fields).content.decode())
    owner.cookies["language"] = "de"
    assert german in html.unescape(owner.post("/websites/add/", fields).content.decode())


def test_a_link_that_a_reading_of_the_claims_lacks_ended_only_if_the_service_confirms_it(link, website):
    account = website.account
    Entitlement.objects.update(sites_limit=2)
    read_before = get_claims(account)
    newer = make_link(link.account, make_website("newer.example.com"))
    added = make_portal_website(account, "newer.example.com", newer.link_id)
    note_ended_links(account, read_before)
    assert not WebsiteSummary.objects.exists()
    newer.revoke(by="kim", reason="Contract ended", now=timezone.now())
    note_ended_links(account, read_before)
    assert WebsiteSummary.objects.get(refusal="revoked_link").pk == added.pk


def test_what_the_service_cannot_confirm_is_not_noted(link, website, settings):
    settings.DASHBOARD_BASE_URL = "http://127.0.0.1:1"
    note_ended_links(website.account, [])
    assert not WebsiteSummary.objects.exists()


def test_the_claim_of_another_account_is_unknown(owner, person, account, internet):
    page = add(owner)
    stranger = make_membership(make_user("eve"), make_portal_account("acct_0002", secret="s" * 30))
    make_account("acct_0002", secrets=["s" * 30])
    owner.force_login(stranger.user)
    owner.post(*PROOF)
    theirs = page.replace(f"/{person.account_id}/", f"/{stranger.account_id}/")
    for address in (page, theirs):
        assert owner.get(address).status_code == 404
        assert owner.post(f"{address}check/").status_code == 404
        assert owner.post(f"{address}withdraw/", {"reason": "mine"}).status_code == 404
    assert OwnershipClaim.objects.get().state == "pending"


def test_every_change_is_on_record_with_the_person(owner, internet):
    page = add(owner)
    with serving(internet, OwnershipClaim.objects.get().token):
        check(owner, page)
    owner.post(f"{page}withdraw/", {"reason": "Sold"})
    events = AuditEvent.objects.filter(action__startswith="website.", actor_kind="person").order_by("pk")
    assert [(event.action, event.host, event.account) for event in events] == [
        ("website.claimed", HOST, "acct_0001"),
        ("website.claim_checked", HOST, "acct_0001"),
        ("website.added", HOST, "acct_0001"),
        ("website.claim_withdrawn", HOST, "acct_0001"),
    ]
    assert events.last().reason == "Sold"


FILE, DNS = Check(Verdict.FOUND, "file", "https"), Check(Verdict.FOUND, "dns", "dns")


def emails_about_claims():
    """Send what is due, and return the text of each e-mail."""
    mail.outbox.clear()
    emails.send_due()
    return [" ".join(f"{message.subject} {message.body}".split()) for message in mail.outbox]


def test_an_owner_reads_of_another_accounts_claim_and_of_its_takeover(owner, internet, settings):
    settings.EMAIL_URL, settings.PORTAL_BASE_URL = "consolemail://", "https://portal.example.com"
    now, hour = timezone.now(), timedelta(hours=1)
    page = add(owner)
    mine = claims.record_check(OwnershipClaim.objects.get(), FILE, now=now - 200 * hour)
    assert owner.get(page)["Location"] == DASHBOARD
    theirs = claims.add(make_account("acct_0002", secrets=()), HOST, by="eve", now=now - 100 * hour)
    claims.record_check(theirs, DNS, now=now - 100 * hour)
    (text,) = emails_about_claims()
    assert f"Another organization is verifying {HOST}" in text
    text = text_of(owner, page)
    assert theirs.token in text
    assert "acct_0002" not in text
    for ago in (50, 25, 1, 0):
        claims.record_check(mine, Check(Verdict.MISSING), now=now - ago * hour)
    claims.record_check(theirs, DNS, now=now)
    (text,) = emails_about_claims()
    assert f"Another organization now owns {HOST}" in text
    assert emails_about_claims() == []
    assert "another organization verified this website" in text_of(owner, "/")
    advice = "Another organization verified this website and owns it now."
    refused = owner.get(DASHBOARD)
    assert (refused.status_code, advice in html.unescape(refused.text)) == (403, True)
    assert advice in text_of(owner, page)
    assert add(owner) != page
    assert OwnershipClaim.objects.open().get(account__ref="acct_0001").state == "pending"


@pytest.mark.parametrize(
    ("state", "advice"),
    [
        ("verified", "It is verified, but our team removed it from your organization: contact support."),
        ("withdrawn", "Its proof has ended. Add the website again if it is yours."),
    ],
)
def test_the_page_of_a_revoked_website_and_that_of_its_proof_say_the_same(owner, internet, state, advice):
    page = add(owner)
    with serving(internet, OwnershipClaim.objects.get().token):
        check(owner, page)
    SiteLink.objects.get().revoke(by="tests", reason="asked to", now=timezone.now())
    if state != "verified":
        OwnershipClaim.objects.update(state="ended", ended_reason=state, ended_at=timezone.now())
    refused = owner.get(DASHBOARD)
    assert (refused.status_code, advice in html.unescape(refused.content.decode())) == (403, True)
    assert advice in text_of(owner, page)
