"""The routes of published documents, as a stranger uses them."""

import gzip
import json
import os
import subprocess
import sys
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api.api import public_views
from dashboard_api.models import Published
from dashboard_api.public import publishing
from tests.dashboard_api.public.crowds import make_crowd
from tests.factories import make_user

pytestmark = pytest.mark.django_db
NEWEST = "/v1/public/statistics"


@pytest.fixture
def published():
    make_crowd(20)
    call_command("publish_telemetry", verbosity=0)
    return Published.objects.get(kind="statistics")


def test_before_the_first_run_nothing_is_published(client):
    for path in (NEWEST, "/v1/public/feed", f"{NEWEST}/2026-11-21"):
        response = client.get(path)
        assert (response.status_code, response.json()["error"]["code"]) == (404, "not_published")
    assert client.get(f"{NEWEST}/2026-13-45").json()["error"]["code"] == "not_found"


def test_the_statistics_are_the_stored_bytes_and_stay_so(client, published):
    response = client.get(NEWEST)
    assert response.content == bytes(published.body)
    assert json.loads(response.content)["websites"] in (20, 30)
    assert client.get(f"{NEWEST}/{published.day}").content == response.content
    make_crowd(20, suffix="at")
    call_command("publish_telemetry", verbosity=0)
    assert bytes(Published.objects.get(kind="statistics").body) == response.content


def test_a_document_is_cached_by_everyone_packed_and_open_to_other_origins(client, published):
    plain = client.get(NEWEST)
    packed = client.get(NEWEST, headers={"Accept-Encoding": "br, gzip"})
    assert gzip.decompress(packed.content) == plain.content
    assert packed["ETag"] != plain["ETag"]
    assert packed["Content-Encoding"] == "gzip"
    assert client.get(NEWEST, headers={"Accept-Encoding": "gzip;q=0"}).content == plain.content
    for response in (plain, packed):
        assert response["Cache-Control"] == "public, max-age=300, stale-while-revalidate=86400"
        assert (response["Access-Control-Allow-Origin"], response["Vary"]) == ("*", "Accept-Encoding")
        assert not response.cookies
        for header in ({"If-None-Match": response["ETag"]}, {"If-Modified-Since": response["Last-Modified"]}):
            accepted = {"Accept-Encoding": response.get("Content-Encoding", "identity")}
            again = client.get(NEWEST, headers=header | accepted)
            assert (again.status_code, again.content) == (304, b"")
            assert again["ETag"] == response["ETag"]


def test_a_person_who_is_signed_in_gets_documents_that_any_cache_may_keep(
    client, published, django_assert_num_queries
):
    client.force_login(make_user())
    for path in (NEWEST, f"{NEWEST}/{published.day}", "/v1/public/feed"):
        client.get(path)
        with django_assert_num_queries(0):
            response = client.get(path)
        assert response["Cache-Control"] == public_views.CACHE_CONTROL
        assert response["Vary"] == "Accept-Encoding"
        assert not response.cookies


def test_other_routes_are_not_open_to_other_origins(client, published):
    for path in ("/v1/openapi.json", "/v1/docs", "/"):
        assert "Access-Control-Allow-Origin" not in client.get(path)


def test_a_query_and_other_methods_are_refused(client, published):
    response = client.get(f"{NEWEST}?x=1")
    assert (response.status_code, response.json()["error"]["code"]) == (400, "unexpected_query")
    response = client.post(NEWEST)
    assert (response.status_code, response["Allow"]) == (405, "GET")
    assert client.head(NEWEST).status_code == 200


def test_a_kept_document_needs_no_query_and_a_switched_off_one_is_gone(
    client, published, settings, django_assert_num_queries
):
    client.get(NEWEST)
    with django_assert_num_queries(0):
        assert client.get(NEWEST).status_code == 200
    settings.PUBLIC_TELEMETRY = False
    response = client.get(NEWEST)
    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")


def test_an_old_document_says_that_it_is_stale(client, published):
    fresh = client.get(NEWEST)
    Published.objects.update(made_at=timezone.now() - timedelta(hours=27))
    public_views.newest.cache.clear()
    response = client.get(NEWEST)
    assert response.json() == fresh.json() | {"stale": True}
    assert response["ETag"] != fresh["ETag"]
    assert client.get(f"{NEWEST}/{published.day}").json()["stale"] is False


def test_a_failed_run_changes_nothing_published(published, monkeypatch):
    before = bytes(published.body)
    Published.objects.filter(kind="statistics").update(
        day=publishing.last_day(timezone.now()) - timedelta(days=1)
    )
    monkeypatch.setattr(publishing, "counted_websites", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        call_command("publish_telemetry", verbosity=0)
    assert [bytes(row.body) for row in Published.objects.filter(kind="statistics")] == [before]


def test_a_dry_run_shows_what_would_be_published_and_what_is_left_out(capsys):
    make_crowd(20)
    call_command("publish_telemetry", dry_run=True, as_json=True)
    result = json.loads(capsys.readouterr().out)
    assert result["statistics"]["websites"] in (20, 30)
    assert {"cell": "open High", "websites": 0, "reason": "few_websites"} in result["left_out"]
    assert not Published.objects.exists()


# Sets and dictionaries are in another order in each process.
PUBLISHED = """
import sys
from datetime import UTC, date, datetime

import django

django.setup()

from dashboard_api.public import feed, publishing
from dashboard_api.public.sample import sample_websites
from dashboard_api.public.statistics import statistics

websites, now = sample_websites(), datetime(2026, 11, 23, 3, tzinfo=UTC)
document, _ = statistics(websites, day=date(2026, 11, 22), made_at=now, key=b"key", weeks=[])
for part in (document, {"entries": feed.made_up_entries(websites, now)}):
    body = publishing.encode(part)
    sys.stdout.buffer.write(body + publishing._gzipped(body))
"""


@pytest.mark.once
def test_two_processes_make_the_same_bytes():
    def published(seed):
        environment = os.environ | {"PYTHONHASHSEED": seed, "DJANGO_SETTINGS_MODULE": "tests.settings"}
        return subprocess.check_output([sys.executable, "-c", PUBLISHED], env=environment)

    first, second = map(published, "12")
    assert first == second
    assert first.startswith(b'{"day":"2026-11-22"')


def test_a_run_is_on_record(published):
    assert AuditEvent.objects.get(action="command.publish_telemetry").after["websites"] == 20
