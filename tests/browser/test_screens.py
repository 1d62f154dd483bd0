"""Every screen: light and dark, without a sideways scroll on the narrowest phone, open to everybody."""

from datetime import timedelta

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone
from playwright.sync_api import expect

from tests.browser.steps import PATH
from tests.factories import (
    make_account,
    make_coverage,
    make_entitlement,
    make_link,
    make_membership,
    make_occurrence,
    make_portal_account,
    make_portal_website,
    make_source,
    make_website,
)
from tests.faults.server import free_port

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SIGNED_OUT = ("/accounts/login/", "/accounts/password/reset/", "/nowhere/", "/v1/docs")
SIGNED_IN = (
    "/",
    PATH,
    f"{PATH}?severity=High&kind=suspected&source=zap&query=scripting&page_size=50",
    f"{PATH}?query=nothingatall",
    f"{PATH}?page=9",
    f"{PATH}?status=fixed",
    f"{PATH}findings/1000000000/",
    f"{PATH}report/?severity=High",
    "/sites/new.example.com/report/",
    "/sites/clean.example.com/",
    "/sites/new.example.com/",
    "/sites/revoked.example.com/",
    "/sites/expired.example.com/",
    "/sites/unknown.example.com/",
    "/accounts/password/change/",
    "/accounts/logout/",
    "/accounts/",
    "/news/",
    f"{PATH}news/?since=0.0.0.&floor=High",
    "/accounts/reauthenticate/",
)
OPEN_THE_FIRST = "for (const it of document.querySelectorAll('details:first-of-type')) it.open = true"
EVERY_RULE = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RULES_OF_LOOKS = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"]


@pytest.fixture
def everything(owner, website, link):
    """One more website for each state of a dashboard."""
    clean, new, revoked = (
        make_link(link.account, make_website(f"{name}.example.com")) for name in ("clean", "new", "revoked")
    )
    for source in ("nuclei", "zap"):
        make_coverage(clean.website, source=make_source(source))
    revoked.revoke(by="tests", reason="asked to", now=timezone.now())
    yesterday = timezone.now().date() - timedelta(days=1)
    late = make_account("acct_0002", entitled=False)
    make_entitlement(late, ends_on=yesterday)
    expired = make_link(late, make_website("expired.example.com"))
    for other in (clean, new, revoked):
        make_portal_website(website.account, other.website.host, other.link_id)
    account = make_portal_account(expired.account.ref)
    make_portal_website(account, expired.website.host, expired.link_id)
    make_membership(owner, account)
    return owner


@pytest.fixture
def finding(link):
    """The address of one that has everything: places, catalogue entries, long words."""
    finding = link.website.findings.worst_first()[0]
    finding.cwe, finding.cve, finding.rule = [89], ["CVE-2024-12345"], "x" * 200
    finding.title, finding.evidence = "A title that is as long as a line " * 5, "GET /" + "y" * 2_000
    finding.locations_count = 150
    finding.save()
    for number in range(3):
        place = f"https://shop.example.com/{'z' * 300}/{number}"
        make_occurrence(finding, place, evidence=f"{number}: {'w' * 500}")
    return f"{PATH}findings/{finding.pk}/"


def barriers(page, rules):
    """What axe finds, and what it cannot decide: the contrast of words drawn in a chart, which it cannot see.

    They wear the colours of the words around them, so their contrast is known.
    """
    options = {"runOnly": rules, "resultTypes": ["violations", "incomplete"]}
    found = Axe().run(page, options=options).response
    return [
        (rule["id"], node["html"], node["failureSummary"])
        for rule in found["violations"] + found["incomplete"]
        for node in rule["nodes"]
        if rule["id"] != "color-contrast" or not node["html"].startswith("<text ")
    ]


@pytest.mark.parametrize(
    ("scheme", "width", "rules"),
    [("light", 1280, EVERY_RULE), ("dark", 320, RULES_OF_LOOKS)],
    ids=["light", "dark"],
)
def test_screens_fit_a_narrow_phone_and_have_no_barriers(
    open_page, everything, finding, watch, scheme, width, rules
):
    watch.expect("403 (Forbidden)", "404 (Not Found)")
    faults = {}
    for user, addresses in ((None, SIGNED_OUT), (everything, (*SIGNED_IN, finding))):
        page = open_page(user=user, color_scheme=scheme)
        for address in addresses:
            page.set_viewport_size({"width": 320, "height": 640})
            page.goto(address, wait_until="networkidle" if address == "/" else "load")
            page.evaluate(OPEN_THE_FIRST)
            if overlap := page.evaluate("document.documentElement.scrollWidth - innerWidth"):
                faults[address, "pixels wider than 320"] = overlap
            page.set_viewport_size({"width": width, "height": 800})
            if found := barriers(page, rules):
                faults[address, "axe"] = found
    assert faults == {}


@pytest.mark.parametrize(
    ("scheme", "rules"), [("light", EVERY_RULE), ("dark", RULES_OF_LOOKS)], ids=["light", "dark"]
)
def test_screens_without_the_service_fit_and_have_no_barriers(
    open_page, owner, settings, watch, scheme, rules
):
    watch.expect("502 (Bad Gateway)")
    settings.DASHBOARD_BASE_URL = f"http://127.0.0.1:{free_port()}"
    page = open_page(user=owner, color_scheme=scheme, viewport={"width": 320, "height": 640})
    faults = {}
    for address in ("/", PATH, f"{PATH}findings/1/?query=form"):
        page.goto(address, wait_until="networkidle")
        expect(page.get_by_text("Try again", exact=True).locator("visible=true")).to_be_visible()
        if overlap := page.evaluate("document.documentElement.scrollWidth - innerWidth"):
            faults[address, "pixels wider than 320"] = overlap
        if found := barriers(page, rules):
            faults[address, "axe"] = found
    assert faults == {}


def test_screens_follow_the_scheme_of_the_system(open_page, service):
    def canvas(scheme):
        page = open_page(color_scheme=scheme)
        page.goto(SIGNED_OUT[0])
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    assert canvas("light") != canvas("dark")
