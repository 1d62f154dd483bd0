"""Badges: who switches them, what they show, and when they end."""

import html
import re
from datetime import UTC, datetime
from xml.etree import ElementTree

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import translation

from portal.models import Badge, Website, WebsiteSummary
from portal.sharing import actions
from signed_api.errors import InactiveEntitlement, RevokedLink, TimedOut, UnknownLink
from tests.portal.dashboards import make_clean_dashboard, make_dashboard, make_page, make_summary
from tests.portal.sharing.conftest import OWNER, VIEWER
from tests.structs import refused

pytestmark = pytest.mark.django_db
PAGE = "/sites/shop.example.com/badge/"
IMAGE = re.compile(r"http://testserver(/badge/[\w-]{43}\.svg)")


@pytest.fixture(autouse=True)
def nothing_cached():
    cache.clear()


@pytest.fixture
def image(members, website, stub):
    """Return the path of a badge."""
    with translation.override("en"):
        badge = actions.switch_badge_on(website, by=members[OWNER].user)
    return f"/badge/{badge.token}.svg"


def texts(response):
    """Return the visible texts of the picture, which must be well-formed."""
    root = ElementTree.fromstring(response.content)
    return [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]


def test_an_owner_switches_a_badge_on_renews_it_and_switches_it_off(browser, stub, website):
    owner, stranger = browser(OWNER), Client()
    assert "Switch the badge on" in owner.get(PAGE).content.decode()
    page = owner.post(PAGE, {"action": "on"}, follow=True).content.decode()
    first = IMAGE.search(page)[1]
    assert stranger.get(first).status_code == 200
    assert f"![Security grade](http://testserver{first})" in html.unescape(page)
    assert f'<img src="http://testserver{first}" alt="Security grade" height="20">' in html.unescape(page)
    assert f'value="&lt;img src=&quot;http://testserver{first}&quot;' in page
    assert "shop.example.com" in owner.get("/shares/").content.decode()

    second = IMAGE.search(owner.post(PAGE, {"action": "on"}, follow=True).content.decode())[1]
    assert (stranger.get(first).status_code, stranger.get(second).status_code) == (404, 200)
    owner.post(PAGE, {"action": "off"})
    assert stranger.get(second).status_code == 404
    assert not Badge.objects.exists()


def test_a_badge_says_that_no_check_was_complete_yet(image, stub):
    stub.dashboard = make_dashboard(dashboard=make_page(grade="D", grade_provisional=True))
    assert texts(Client().get(image))[1].startswith("D so far")


def test_a_badge_shows_grade_and_day_and_nothing_else(image, stub, website):
    checked = datetime(2026, 11, 19, 22, 15, tzinfo=UTC)
    stub.dashboard = make_dashboard(
        dashboard=make_page(grade="D"), summary=make_summary(last_scan_at=checked)
    )
    response = Client().get(image)
    assert texts(response) == ["Security grade", "D · scanned on 19 Nov 2026"]
    body = response.content.decode()
    for never in (
        "shop.example.com",
        "Example Shops",
        "acct_0001",
        website.link_id,
        "Finding",
        "script",
        "style",
    ):
        assert never not in body
    assert response["Content-Type"] == "image/svg+xml"


def test_the_page_of_a_badge_says_that_it_shows_nothing(browser, image, website):
    assert image in browser(OWNER).get(PAGE).text
    WebsiteSummary.objects.store(website, refusal="inactive_entitlement")
    page = browser(OWNER).get(PAGE).text
    assert "Plan not active</span> When we last looked, it showed nothing." in page
    assert "Switch off" in page
    assert f'src="{image}"' not in page


def test_a_badge_can_be_cached_and_sets_no_cookie(image):
    response = Client(headers={"accept-language": "de"}).get(image)
    assert response["Cache-Control"] == "public, max-age=300"
    assert response["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert not response.cookies
    assert "Vary" not in response
    assert texts(response)[0] == "Security grade"


def test_a_badge_keeps_the_language_in_which_it_was_switched_on(browser, stub, website):
    owner = browser(OWNER)
    page = owner.post(PAGE, {"action": "on"}, follow=True, headers={"accept-language": "de"}).content.decode()
    assert texts(Client().get(IMAGE.search(page)[1]))[0] == "Sicherheitsbewertung"


def test_a_website_without_a_grade_has_a_badge_too(image, stub):
    stub.dashboard = make_clean_dashboard(
        dashboard=make_page(grade=None), summary=make_summary(last_scan_at=None)
    )
    assert texts(Client().get(image)) == ["Security grade", "not graded yet"]


def test_the_service_is_called_once_in_five_minutes_for_everyone(image, stub):
    for _ in range(3):
        assert Client().get(image).status_code == 200
    assert len(stub.requests) == 1


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (refused(InactiveEntitlement, plan="x", status="expired", ends_on=None), 404),
        (refused(RevokedLink, revoked_at=None), 404),
        (UnknownLink(), 404),
        (TimedOut(), 503),
    ],
)
def test_without_a_grade_from_the_service_there_is_no_badge(image, stub, error, status):
    stub.dashboard = error
    response = Client().get(image)
    assert (response.status_code, response.content, response["Cache-Control"]) == (status, b"", "no-store")
    stub.dashboard = AssertionError("a second call within the minute")
    assert Client().get(image).status_code == status


def test_unknown_and_ended_badges_are_the_same_404(image, website, stub):
    unknown = Client().get(f"/badge/{'x' * 43}.svg")
    website.link_id = "7a1f2f0e-8f7e-4f57-9a3b-0d4a5b6c7d8e"
    website.save()
    ended = Client().get(image)
    assert (unknown.status_code, unknown.content) == (ended.status_code, ended.content) == (404, b"")


def test_a_website_that_is_given_up_at_the_same_moment_gets_no_badge(browser, stub, website, monkeypatch):
    switch_on = actions.switch_badge_on

    def give_up(*args, **options):
        Website.objects.all().delete()
        return switch_on(*args, **options)

    monkeypatch.setattr(actions, "switch_badge_on", give_up)
    assert browser(OWNER).post(PAGE, {"action": "on"}).status_code == 404


def test_viewers_are_offered_no_badge(browser, stub, website):
    assert "/badge/" not in browser(VIEWER).get("/sites/shop.example.com/").content.decode()
    assert PAGE in browser(OWNER).get("/sites/shop.example.com/").content.decode()


def test_an_unknown_action_is_refused(browser, stub, website):
    assert browser(OWNER).post(PAGE, {"action": "?"}).status_code == 400
