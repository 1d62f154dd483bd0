"""The list of many websites: its numbers are those of all of them, whichever rows were seen."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from dashboard_api.models import Severity, SiteLink
from portal.answers import service as portal_service
from portal.models import WebsiteSummary
from signed_api.findings import DASHBOARD
from tests.factories import (
    make_account,
    make_entitlement,
    make_finding,
    make_link,
    make_membership,
    make_portal_account,
    make_portal_website,
    make_source,
    make_user,
    make_website,
)
from tests.faults.server import free_port
from tests.portal.service_answers import answer_with

pytestmark = pytest.mark.django_db(transaction=True)

COUNT = 52  # more than a page


def text_of(response):
    return " ".join(re.sub(r"<[^>]*>", " ", response.content.decode()).split())


def first_host(response):
    return re.search(r'<th scope="row"><a [^>]*>([^<]*)<', response.content.decode())[1]


@pytest.fixture
def links(settings, monkeypatch):
    """The links of an account to many websites without findings, at the service in this process."""
    settings.DASHBOARD_BASE_URL = ""
    settings.DASHBOARD_APPLICATION = "config.web.in_process.application"
    monkeypatch.setattr(portal_service, "_PAGE_SECONDS", 60)
    make_source()
    account = make_account(entitled=False)
    make_entitlement(account, sites_limit=COUNT)
    return [make_link(account, make_website(f"shop{number:02}.example.com")) for number in range(COUNT)]


@pytest.fixture
def browser(links):
    account = make_portal_account(links[0].account.ref)
    for link in links:
        make_portal_website(account, link.website.host, link.link_id)
    owner = make_user()
    make_membership(owner, account)
    browser = Client()
    browser.force_login(owner)
    return browser


def test_the_worst_website_is_first_and_counted_at_first_sight(links, browser):
    for _ in range(3):
        make_finding(links[-1].website, severity=Severity.CRITICAL)
    page = browser.get("/")
    assert first_host(page) == links[-1].website.host
    text = text_of(page)
    assert f"{COUNT} websites 1 website needs attention 3 open findings 3 Critical" in text
    assert "Counted so far" not in text


def test_only_a_website_that_changed_is_read_again(links, browser, monkeypatch):
    browser.get("/")
    fetch, read = portal_service.call, []
    noting = lambda at, site, ask: read.append(site.host) or fetch(at, site, DASHBOARD, ask)  # noqa: E731
    answer_with(monkeypatch, DASHBOARD, noting)
    for number in (1, 2):
        make_finding(links[-number].website, severity=Severity.HIGH)
        assert f"{number} open finding" in text_of(browser.get("/"))
    assert read == [link.website.host for link in (links[-1], links[-2])]


def test_what_is_new_counts_websites_that_were_never_seen(links, browser):
    make_finding(links[-1].website, severity=Severity.CRITICAL)
    text = text_of(browser.get("/new/"))
    assert links[-1].website.host in text
    assert f"{COUNT - 1} websites without changes." in text


def test_the_numbers_of_yesterday_are_read_again(links, browser):
    browser.get("/")
    WebsiteSummary.objects.update(updated_at=timezone.now() - timedelta(days=1))
    browser.get("/")
    assert not WebsiteSummary.objects.filter(updated_at__lt=timezone.now() - timedelta(hours=1)).exists()


def test_a_revoked_or_paused_website_shows_no_numbers_and_comes_back(links, browser):
    for link in links[:2]:
        make_finding(link.website, severity=Severity.HIGH)
    assert "2 open findings" in text_of(browser.get("/"))
    SiteLink.objects.filter(pk=links[0].pk).update(revoked_at=timezone.now())
    SiteLink.objects.filter(pk=links[1].pk).update(paused_at=timezone.now())
    text = text_of(browser.get("/"))
    assert "0 open findings" in text
    assert "2 websites have no results now." in text
    SiteLink.objects.filter(pk=links[1].pk).update(paused_at=None)
    assert "1 open finding " in text_of(browser.get("/"))


def test_an_account_without_a_plan_shows_no_numbers_and_comes_back(links, browser):
    make_finding(links[0].website, severity=Severity.HIGH)
    entitlement = links[0].account.entitlement
    for status, expected in (("active", "1 open finding "), ("expired", "0 open findings")) * 2:
        entitlement.status = status
        entitlement.save()
        assert expected in text_of(browser.get("/"))


def test_a_list_without_the_service_shows_the_stored_numbers(links, browser, settings):
    make_finding(links[0].website, severity=Severity.HIGH)
    browser.get("/")
    settings.DASHBOARD_BASE_URL = f"http://127.0.0.1:{free_port()}"
    page = browser.get("/")
    assert (page.status_code, first_host(page)) == (200, links[0].website.host)
    assert "1 open finding " in text_of(page)
