"""Every page of the portal, in every look: nothing overflows, everything is accessible."""

import re
from datetime import timedelta
from unittest.mock import Mock

import pytest
from django.core.management import call_command
from django.utils import timezone
from playwright.sync_api import expect

from config.onboarding import sign_up
from dashboard_api.api import public_views
from dashboard_api.models import Entitlement, OwnershipClaim, ScanJob, ScanSchedule, Secret
from dashboard_api.ownership import claims
from portal.answers import service as portal_service
from portal.models import Account, ClaimState, Website
from portal.sharing import actions
from signed_api.errors import TimedOut
from signed_api.inventory import INVENTORY, LAST_DAYS
from tests.browser.steps import PATH
from tests.factories import (
    make_account,
    make_coverage,
    make_finding,
    make_link,
    make_membership,
    make_note,
    make_occurrence,
    make_portal_account,
    make_portal_website,
    make_source,
    make_user,
    make_website,
)
from tests.portal.inventory.inventories import (
    make_certificate,
    make_domain,
    make_inventory,
    make_last_day,
    make_last_days,
    make_library,
    make_script,
)
from tests.portal.service_answers import answer_with

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SIGNED_OUT = ("/nowhere/", "/v1/docs", "/v1/public")
OVERVIEW = (
    "/",
    "/new/",
    "/help/",
    "/how-we-grade/",
    "/api/",
    "/notifications/",
    "/activity/",
    "/api/calls/",
    "/plan/",
    f"{PATH}scans/",
    f"{PATH}new/?since=0.0.0.&min_severity=High",
)
DASHBOARDS = (
    PATH,
    f"{PATH}?severity=High&kind=suspected&source=zap&query=scripting&page_size=50",
    f"{PATH}?view=problems",
    f"{PATH}?problem=cookie-without-secure",
    f"{PATH}?severity=Critical,High&since=30&view=problems",
    f"{PATH}?query=nothingatall",
    f"{PATH}?page=9",
    f"{PATH}?status=fixed",
    "/sites/clean.example.com/",
    "/sites/new.example.com/",
    "/sites/late.example.com/",
    "/sites/revoked.example.com/",
    "/sites/expired.example.com/",
    "/sites/unknown.example.com/",
)
FINDINGS = (
    f"{PATH}findings/1000000000/",
    f"{PATH}report/?severity=High",
    "/sites/new.example.com/report/",
    "/sites/late.example.com/report/",
)


@pytest.fixture
def everything(owner, website, link):
    """Add a website for each state of a dashboard."""
    today = timezone.now().date()
    make_finding(link.website, source=make_source("zap"), rule="10011", title="Cookie without Secure")
    clean, new, revoked = (
        make_link(link.account, make_website(f"{name}.example.com")) for name in ("clean", "new", "revoked")
    )
    for source in ("nuclei", "zap"):
        make_coverage(clean.website, source=make_source(source))
    revoked.revoke(by="tests", reason="asked to", now=timezone.now())
    for other in (clean, new, revoked):
        make_portal_website(website.account, other.website.host, other.link_id)
    for number, (name, terms) in enumerate(
        {
            "expired": {"ends_on": today - timedelta(days=1)},
            "late": {"status": "past_due", "past_due_since": today},
        }.items()
    ):
        account = make_account(f"acct_000{number + 2}")
        other = make_link(account, make_website(f"{name}.example.com"))
        Entitlement.objects.filter(account=account).update(**terms)
        _check_long_ago(other.website)
        known = make_portal_account(account.ref, name=f"An account whose name is rather long {number}")
        make_portal_website(known, other.website.host, other.link_id)
        make_membership(owner, known)
    return owner


def _check_long_ago(website):
    for state, source in (("ok", "nuclei"), ("failed", "zap"), ("partial", "nikto")):
        long_ago = timezone.now() - timedelta(days=40)
        make_coverage(website, source=make_source(source), state=state, last_run_at=long_ago)
    make_finding(website, title="Schwachstellenmanagementverantwortlichkeit" * 4, location="x" * 400)
    make_note(website, body="# Heading\n\n1. one\n2. two\n\n```\n" + "long " * 60 + "\n```\n\n" + "w" * 300)


@pytest.fixture
def finding(link):
    """Return the path of a finding with locations, weaknesses and long words."""
    finding = link.website.findings.worst_first()[0]
    finding.cwe, finding.cve, finding.rule = [89], ["CVE-2024-12345"], "x" * 200
    finding.title = "A title that is as long as a line " * 5
    finding.description = "CVSS: CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"
    finding.evidence = "Proof:\nyyyyy\n\nRequest:\nGET /" + "y" * 2_000 + "\n\nResponse:\nHTTP/1.1 200 OK"
    finding.locations_count = 150
    finding.save()
    for number in range(3):
        place = f"https://shop.example.com/{'z' * 300}/{number}"
        make_occurrence(finding, place, evidence=f"{number}: {'w' * 500}")
    return f"{PATH}findings/{finding.pk}/"


@pytest.fixture
def public_statistics(settings, service):
    """Publish the statistics and the feed of made-up websites."""
    settings.PUBLIC_DEMO = True
    public_views.newest.cache.clear()
    call_command("publish_telemetry", verbosity=0)
    yield
    public_views.newest.cache.clear()


@pytest.mark.slow
def test_pages_for_visitors(tour, public_statistics, watch):
    watch.expect("404 (Not Found)")
    page = tour.open()
    tour.visit(page, *SIGNED_OUT)
    expect(page.get_by_role("listitem").filter(has_text="•••••")).not_to_have_count(0)


def test_pages_of_sign_up_and_of_the_scanner(tour, service, settings):
    settings.SIGN_UP, settings.EMAIL_URL = "open", "consolemail://"
    settings.CRAWLER_ENABLED, settings.CRAWLER_ADDRESSES = True, ["192.0.2.7", "2001:db8::7"]
    page = tour.open()
    tour.visit(page, "/sign-up/", "/sign-up/sent/", sign_up.new_link("ada@example.com"), "/scanner")
    expect(page.get_by_role("main")).to_contain_text("192.0.2.7")


def test_pages_behind_secret_links(tour, website, owner, link, finding, watch, monkeypatch):
    watch.expect("404 (Not Found)", "503 (Service Unavailable)")
    now = timezone.now()
    claim = claims.add(link.account, "pending.example.com", by="tests", now=now)
    helper = website.account.helper_links.create(
        claim_id=claim.pk, host=claim.host, expires_at=now + timedelta(days=1)
    )
    worst = link.website.findings.worst_first()[0]
    subject = actions.Subject(title=worst.title, finding_id=str(worst.pk), includes_evidence=True)
    _, token = actions.create(website, subject, by=owner, days=7)
    page = tour.open()
    tour.visit(page, f"/prove/{helper.token}/", "/prove/unknown/", "/s/unknown/", f"/s/{token}/")
    expect(page.locator("h1")).to_contain_text("A title")

    monkeypatch.setattr(portal_service, "get_finding", Mock(side_effect=TimedOut))
    tour.visit(page, f"/s/{token}/")
    expect(page.locator("h1")).to_contain_text(re.compile("Please try again|Bitte versuchen"))


def test_lists_of_websites_and_of_new_findings(tour, everything, website):
    Secret.objects.update(for_portal=True)  # so that the page of keys shows them
    page = tour.open(user=everything)
    own = website.account_id
    tour.visit(page, *OVERVIEW, f"/api/{own}/secrets/", f"/team/{own}/publicity/", f"/team/{own}/rules/")
    tour.visit(tour.open(user=make_user("nobody")), "/", "/notifications/")


def test_certificates_and_scripts(tour, owner, website, monkeypatch):
    long_name = f"{'w' * 60}.{website.host}"
    certificates = [
        make_certificate(60, names=[f"{number}.{website.host}" for number in range(30)]),
        make_certificate(-3, host=long_name, fingerprint="b2" * 32, problem="not_trusted", issuer="W" * 120),
        make_certificate(5, fingerprint="c3" * 32, current=False),
    ]
    scripts = [
        make_script(f"/{'x' * 300}.js", host=long_name, new=True, libraries=[make_library("w" * 60)]),
        make_script("/pinned.js", pinned=True, pinned_sha256="0" * 64, changed_at=timezone.now()),
        make_script("/gone.js", current=False),
    ]
    found = make_inventory(
        certificates=certificates, scripts=scripts, domain=make_domain(20, registrar="W" * 90)
    )
    last_days = make_last_days(
        make_last_day(-3, name=long_name, port=8443), make_last_day(9, issuer="W" * 120), total=120
    )
    answer_with(monkeypatch, INVENTORY, lambda *_: found)
    answer_with(monkeypatch, LAST_DAYS, lambda *_: last_days)
    page = tour.open(user=owner)
    tour.visit(page, "/websites/certificates/", f"{PATH}inventory/")
    expect(page.locator("form[action$='/script/']")).to_have_count(3)


def test_claims_in_every_state(tour, everything, link, watch):
    watch.expect("404 (Not Found)")
    now = timezone.now()
    found = {"at": f"{now:%Y-%m-%dT%H:%M:%SZ}", "expected": "tdv1-" + "x" * 32, "advice": "", "asked": []}
    asked = [f"https://pending.example.com/{'y' * 180} (192.0.2.1)"]
    checks = [
        found
        | {
            "method": "file",
            "outcome": "html_instead",
            "found": ["W" * 100, "200 " + "x " * 48],
            "asked": asked,
        },
        found | {"method": "meta", "outcome": "found", "found": []},
        found | {"method": "dns", "outcome": "wrong_place", "found": ["long-" * 50], "asked": asked},
    ]
    pages = ["/websites/add/"]
    portal_account = Account.objects.get(ref=link.account.ref)
    for state in ("pending", "contested", "verified", "ended", "failing"):
        claim = claims.add(link.account, f"{state}.{'long-' * 9}name.example.com", by="tests", now=now)
        claim.state, claim.checks = state, checks
        if state != "pending":
            claim.method, claim.strength = "file", "http"
            claim.verified_at = claim.contested_at = claim.missed_at = now
        if state == "ended":
            claim.ended_reason, claim.ended_at = "taken_over", now
        claim.link_problem = "It is archived." if state == "verified" else ""
        claim.save()
        if state == "failing":
            make_link(link.account, make_website(claim.host))
            other = claims.add(make_account("acct_0009"), claim.host, by="tests", now=now)
            other.state, other.method, other.strength = "contested", "dns", "dns"
            other.verified_at = other.contested_at = now
            other.save()
        pages.append(f"/websites/{portal_account.pk}/claims/{claim.pk}/")
    page = tour.open(user=everything)
    tour.visit(page, "/websites/9/claims/9/", *pages)
    expect(page.get_by_text(other.token)).to_be_visible()
    expect(page.locator("#dns-name")).to_be_visible()


def test_scans_with_a_paused_schedule_and_tests_of_a_finding(tour, everything, link, settings):
    settings.CRAWLER_ENABLED, settings.CRAWLER_ADDRESSES = True, ["192.0.2.7", "2001:db8::7"]
    Entitlement.objects.update(features=["deep_scans", "scans_daily"], scans_per_month=30)
    now = timezone.now()
    finding = make_finding(link.website, source=make_source("essentials"))
    ended = {"website": link.website, "by": "tests", "state": "finished", "ended_at": now, "started_at": now}
    ScanJob.objects.create(**ended, outcome="blocked", reason="blocked", trigger="schedule")
    ScanJob.objects.create(**ended, outcome="still_there", trigger="retest", finding=finding)
    ScanSchedule.objects.create(
        link=link, frequency="daily", anchor=now.date(), time_zone="Europe/Berlin", pause_reason="blocked"
    )
    page = tour.open(user=everything)
    check = f"{PATH}findings/{finding.pk}/check/"
    tour.visit(page, f"{PATH}scans/", f"{PATH}findings/{finding.pk}/", check)
    ScanSchedule.objects.update(pause_reason="", next_at=now)
    ScanJob.objects.create(website=link.website, by="tests")
    tour.visit(page, f"{PATH}scans/")


def test_consent_to_deep_scans_is_asked_by_schedule_while_they_are_chosen(open_page, owner, link, settings):
    settings.CRAWLER_ENABLED = True
    Entitlement.objects.update(features=["deep_scans"], scans_per_month=30)
    OwnershipClaim.objects.update(method="dns", strength="dns")
    page = open_page(user=owner)
    page.goto(f"{PATH}scans/")
    schedule = page.get_by_role("region", name="Scans by schedule")
    consent = schedule.get_by_role("checkbox")
    expect(consent).to_be_hidden()
    schedule.get_by_label("Scan", exact=True).select_option("deep")
    expect(consent).to_be_visible()


def test_an_error_of_the_schedule_lifts_no_field_above_the_others(open_page, owner, link, settings):
    settings.CRAWLER_ENABLED = True
    Entitlement.objects.update(scans_per_month=30)
    page = open_page(user=owner)
    page.goto(f"{PATH}scans/")
    page.get_by_label("Time zone").fill("Nowhere")
    page.get_by_role("button", name="Save the schedule").click()
    expect(page.get_by_text("Choose a time zone from the list")).to_be_visible()
    tops = {label: page.get_by_label(label).bounding_box()["y"] for label in ("Time zone", "Within (hours)")}
    assert tops["Time zone"] == pytest.approx(tops["Within (hours)"], abs=1), tops


def _note_claims(website):
    """Add a notice of each kind about a proof; each is on the page of its website."""
    soon = timezone.now() + timedelta(days=3)
    for host, fields in {
        website.host: {"state": "taken_over"},
        "new.example.com": {"state": "failing", "lapses_at": soon},
        "revoked.example.com": {"state": "lapsed"},
    }.items():
        ClaimState.objects.create(website=Website.objects.get(host=host), claim_id=1, **fields)


def test_a_choice_of_websites_and_one_that_is_paused(tour, everything, website, link, watch):
    Entitlement.objects.filter(account=link.account).update(sites_limit=1)
    link.account.links.filter(website__host="clean.example.com").update(paused_at=timezone.now())
    watch.expect("403 (Forbidden)")
    page = tour.open(user=everything)
    tour.visit(page, f"/plan/{website.account_id}/websites/", "/sites/clean.example.com/")
    page.goto("/sites/clean.example.com/")
    expect(page.get_by_role("main")).to_contain_text(re.compile("paused|pausiert"))
    page.goto(f"/plan/{website.account_id}/websites/")
    expect(page.get_by_role("checkbox")).to_have_count(3)


@pytest.mark.slow
def test_dashboards_in_every_state(tour, everything, website, watch):
    _note_claims(website)
    watch.expect("403 (Forbidden)", "404 (Not Found)")
    tour.visit(tour.open(user=everything), *DASHBOARDS)


def test_findings_and_reports(tour, everything, finding, watch):
    watch.expect("404 (Not Found)")
    page = tour.open(user=everything)
    tour.visit(page, *FINDINGS, finding)
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(); }")
    page.locator("[data-field=finding-link]").click()
    expect(page.locator("#finding-link")).to_be_focused()
    tour.look(page, "a link that cannot be copied")


def test_pages_follow_the_colour_scheme_of_the_system(open_page, service):
    def canvas(scheme):
        page = open_page(color_scheme=scheme)
        page.goto("/accounts/login/")
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    assert canvas("light") != canvas("dark")
