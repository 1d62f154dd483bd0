"""The documentation for people: anyone can ask for it, so a repetition costs little."""

import html

import pytest

from dashboard_api.contract import openapi
from dashboard_api.contract.changelog import VERSIONS

pytestmark = [pytest.mark.django_db, pytest.mark.once]


def routes_in(page):
    return page.text.partition('<h2 id="siteDashboard">')[2].partition('<h2 id="sendReport">')[0]


def test_the_routes_are_rendered_once_and_are_the_same_in_every_language(client, monkeypatch):
    first = client.get("/v1/docs", HTTP_ACCEPT_LANGUAGE="de")
    assert "<code>portal_account_ref</code>" in routes_in(first)
    monkeypatch.setattr(openapi, "routes_for_people", lambda: pytest.fail("rendered again"))
    assert routes_in(client.get("/v1/docs", HTTP_ACCEPT_LANGUAGE="en")) == routes_in(first)


def test_the_numbers_of_the_rate_limit_are_those_of_this_service(client, settings):
    settings.CALLS_PER_SECOND, settings.CALLS_BURST = 17, 71
    page = " ".join(client.get("/v1/docs").text.split())
    assert "An account may make 17 calls a second. After a pause, up to 71 may come at once" in page
    assert "more than 20 websites has two for each of them" in page


def test_the_changelog_begins_with_this_version(client):
    assert VERSIONS[0][0] == openapi.VERSION
    page = html.unescape(client.get("/v1/docs").text)
    for version, day, changes in VERSIONS:
        assert f"<code>{version}</code><br>{day}" in page
        assert all(change in page for change in changes)


def test_the_page_says_what_may_change_and_how_an_end_is_announced(client):
    section = client.get("/v1/docs").text.partition('<h2 id="changes">')[2].partition("<h2")[0]
    for word in ("accept words that they do not know", "at least twelve months", "Deprecation", "Sunset"):
        assert word in " ".join(section.split())


def test_each_error_has_its_further_members(client):
    row = client.get("/v1/docs").text.partition('id="error-unknown_link"')[2].partition("</tr>")[0]
    assert "<code>host</code>" in row
