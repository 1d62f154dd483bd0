"""The page of statistics, the feed as a fragment, and the places that show it."""

from datetime import timedelta
from unittest.mock import patch

import pytest
from django.core.management import call_command
from django.utils import timezone

from dashboard_api.api import public_views
from tests.factories import make_user

pytestmark = pytest.mark.django_db
PAGE, FRAGMENT = "/v1/public", "/v1/public/feed.html"


@pytest.fixture
def made_up(settings):
    settings.PUBLIC_DEMO = True
    call_command("publish_telemetry", verbosity=0)


def test_before_the_first_run_the_page_says_that_there_are_not_enough_websites(client):
    page = client.get(PAGE)
    assert (page.status_code, page["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "Not enough websites yet" in page.content.decode()
    assert "Not enough websites yet" in client.get(FRAGMENT).content.decode()


def test_the_page_shows_numbers_feed_and_method_without_a_query_or_a_cookie(
    client, made_up, django_assert_num_queries
):
    client.get(PAGE)
    with django_assert_num_queries(0):
        response = client.get(PAGE)
    page = response.content.decode()
    for words in ("These websites are made up.", "Cross-site scripting", "•••••", "Germany", "At least 4"):
        assert words in page
    assert not response.cookies
    assert "Access-Control-Allow-Origin" not in response


def test_page_and_fragment_are_in_the_language_of_the_browser(client, made_up):
    german = {"Accept-Language": "de"}
    page = client.get(PAGE, headers=german)
    assert "Statistik aller Websites" in page.content.decode()
    assert "Deutschland" in client.get(FRAGMENT, headers=german).content.decode()
    assert "Accept-Language" in page["Vary"]


def test_the_feed_alone_may_be_framed_by_pages_of_any_origin(client, made_up):
    response = client.get(FRAGMENT)
    assert "frame-ancestors *" in response["Content-Security-Policy"].split("; ")
    assert "X-Frame-Options" not in response
    assert response["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert "<form" not in response.text
    assert "<a " not in response.text


def test_the_page_and_other_documents_may_not_be_framed(client, made_up):
    for path in (PAGE, "/v1/public/feed", "/v1/docs"):
        response = client.get(path)
        assert "frame-ancestors 'none'" in response["Content-Security-Policy"], path
        assert response["X-Frame-Options"] == "DENY", path


def test_the_feed_alone_is_the_same_for_everyone_of_a_language(client, made_up, settings):
    stranger = client.get(FRAGMENT)
    client.force_login(make_user())
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = "de"
    member = client.get(FRAGMENT)
    assert member.content == stranger.content
    assert (member["Cache-Control"], member["Vary"]) == (public_views.CACHE_CONTROL, "Accept-Language")


def test_the_page_is_kept_by_the_readers_own_browser_only(client, made_up):
    page = client.get(PAGE)
    assert page["Cache-Control"] == "private, no-cache"
    assert "Cookie" in page["Vary"]
    client.force_login(make_user())
    assert "no-store" in client.get(PAGE)["Cache-Control"]


def test_an_old_page_says_so(client, made_up):
    assert "out of date" not in client.get(PAGE).content.decode()
    later = timezone.now() + timedelta(hours=27)
    with patch("django.utils.timezone.now", return_value=later):
        assert "This page is out of date" in client.get(PAGE).content.decode()


def test_the_feed_is_on_the_start_page_and_in_the_documentation(client, made_up):
    for path in ("/", "/v1/docs"):
        assert client.get(path).content.decode().count("•••••") == 5


def test_switched_off_it_is_nowhere(client, made_up, settings):
    settings.PUBLIC_TELEMETRY = False
    assert client.get(PAGE).status_code == client.get(FRAGMENT).status_code == 404
    for path in ("/", "/v1/docs"):
        assert "•••••" not in client.get(path).content.decode()
