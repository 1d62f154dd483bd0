"""The routes of published documents, as a stranger uses them."""

import json
from datetime import timedelta
from unittest.mock import patch

import pytest
from django.core.management import call_command
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api.api import public_views
from dashboard_api.models import Published
from dashboard_api.public import publishing
from tests.dashboard_api.public.crowds import make_crowd, make_found
from tests.factories import make_user

pytestmark = pytest.mark.django_db
NEWEST = "/v1/public/statistics"


@pytest.fixture
def published():
    make_crowd(20)
    call_command("publish_telemetry", verbosity=0)
    return Published.objects.get(kind="statistics")


def test_before_the_first_run_nothing_is_published(client):
    for path in (NEWEST, "/v1/public/feed"):
        response = client.get(path)
        assert (response.status_code, response.json()["error"]["code"]) == (404, "not_published")


def test_the_statistics_are_the_stored_bytes_until_the_next_week(client, published):
    response = client.get(NEWEST)
    assert response.content.decode() == published.body
    assert response.json()["websites"] == 20
    make_crowd(20, suffix="at")
    for weeks, websites in ((0, 20), (1, 40)):
        at = timezone.now() + timedelta(weeks=weeks)
        with patch("django.utils.timezone.now", return_value=at):
            call_command("publish_telemetry", verbosity=0)
        public_views.newest.cache.clear()
        assert client.get(NEWEST).json()["websites"] == websites


def test_a_document_is_open_to_other_origins_and_any_cache_may_keep_it(
    client, published, django_assert_num_queries
):
    client.force_login(make_user())
    for path in (NEWEST, "/v1/public/feed"):
        response = client.get(path)
        with django_assert_num_queries(0):
            again = client.get(path, headers={"If-None-Match": response["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
        for each in (response, again):
            assert each["Cache-Control"] == public_views.CACHE_CONTROL
            assert each["Access-Control-Allow-Origin"] == "*"
            assert "Vary" not in each
            assert not each.cookies


def test_other_routes_are_not_open_to_other_origins(client, published):
    for path in ("/v1/openapi.json", "/v1/docs", "/"):
        assert "Access-Control-Allow-Origin" not in client.get(path)


def test_a_query_and_other_methods_are_refused(client, published):
    response = client.get(f"{NEWEST}?x=1")
    assert (response.status_code, response.json()["error"]["code"]) == (400, "unexpected_query")
    response = client.post(NEWEST)
    assert (response.status_code, response["Allow"]) == (405, "GET")
    assert client.head(NEWEST).status_code == 200


def test_a_switched_off_document_is_gone(client, published, settings):
    settings.PUBLIC_TELEMETRY = False
    response = client.get(NEWEST)
    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")


def test_a_failed_run_changes_nothing_published(published, monkeypatch):
    before = list(Published.objects.values())
    monkeypatch.setattr(publishing, "feed_entries", lambda *_: 1 / 0)
    later = timezone.now() + timedelta(weeks=1)
    with patch("django.utils.timezone.now", return_value=later), pytest.raises(ZeroDivisionError):
        call_command("publish_telemetry", verbosity=0)
    assert list(Published.objects.values()) == before


def test_a_dry_run_shows_what_would_be_published_and_whose_entries_the_feed_has(capsys):
    websites = make_crowd(20, shown=True)
    make_found(websites[0], days_ago=4)
    call_command("publish_telemetry", dry_run=True, as_json=True)
    result = json.loads(capsys.readouterr().out)
    assert result["statistics"]["websites"] == 20
    assert [entry["host"] for entry in result["feed"]] == [websites[0].host]
    assert not Published.objects.exists()


def test_a_run_is_on_record(published):
    assert AuditEvent.objects.get(action="command.publish_telemetry").after["websites"] == 20
