"""The documentation for people: anyone can ask for it, so a repetition costs little."""

import pytest

from dashboard_api.contract import openapi

pytestmark = [pytest.mark.django_db, pytest.mark.once]


def routes_in(page):
    return page.text.partition('<h2 id="siteDashboard">')[2].partition('<h2 id="sendReport">')[0]


def test_the_routes_are_rendered_once_and_are_the_same_in_every_language(client, monkeypatch):
    first = client.get("/v1/docs", HTTP_ACCEPT_LANGUAGE="de")
    assert "<code>portal_account_ref</code>" in routes_in(first)
    monkeypatch.setattr(openapi, "routes_for_people", lambda: pytest.fail("rendered again"))
    assert routes_in(client.get("/v1/docs", HTTP_ACCEPT_LANGUAGE="en")) == routes_in(first)
