"""Health for clients: the status and the clock, and no detail."""

import time
from datetime import timedelta

import pytest
from django.utils import timezone
from jsonschema import Draft202012Validator

from config.models import Run
from config.operations import client_health, health
from dashboard_api import limits
from dashboard_api.contract import openapi
from dashboard_api.models import Nonce
from foundation.operations.health import Readiness
from tests.dashboard_api.calls import ask, fields_for
from tests.factories import make_link

pytestmark = pytest.mark.django_db
PATH = "/v1/health"


def away():
    raise OSError("postgres://user:word@host is away")


@pytest.fixture(autouse=True)
def _checked_in_this_thread(monkeypatch):
    """Run the checks with the test's connection and its rows."""
    monkeypatch.setattr(Readiness, "failed", failed)


def failed(checks):
    names = []
    for name, check in checks._checks.items():
        try:
            check()
        except Exception:  # noqa: BLE001
            names.append(name)
    return tuple(names)


@pytest.fixture
def checks(monkeypatch):
    return lambda **replaced: monkeypatch.setattr(health, "READINESS", Readiness(replaced))


def test_a_service_without_problems_is_ok_and_tells_the_time(client, checks):
    checks()
    response = client.get(PATH)
    body = response.json()
    assert abs(body.pop("server_time") - time.time()) < 30
    assert body == {
        "ok": True,
        "status": "ok",
        "window_seconds": limits.TIMESTAMP_WINDOW_SECONDS,
        "retry_after": None,
    }
    assert (response.status_code, response["Cache-Control"]) == (200, "no-store")


def test_a_service_that_cannot_serve_says_when_to_come_back_and_no_reason(client, checks):
    checks(database=away)
    response = client.get(PATH)
    assert (response.status_code, response["Retry-After"]) == (503, str(limits.RETRY_AFTER_SECONDS))
    body = response.json()
    assert (body["ok"], body["status"], body["retry_after"]) == (
        False,
        "degraded",
        limits.RETRY_AFTER_SECONDS,
    )
    assert "database" not in response.text
    assert "away" not in response.text


def test_while_calls_are_refused_after_a_restore_health_says_for_how_long(client, checks):
    checks()
    Nonce.objects.raise_fence(timezone.now())
    refused = ask(client, fields_for(make_link()))
    response = client.get(PATH)
    body = response.json()
    assert (refused.status_code, response.status_code) == (503, 503)
    assert (body["ok"], body["status"]) == (False, "degraded")
    assert 0 <= int(refused["Retry-After"]) - body["retry_after"] <= 5
    assert response["Retry-After"] == str(body["retry_after"])
    Nonce.objects.raise_fence(timezone.now() - timedelta(seconds=limits.TIMESTAMP_WINDOW_SECONDS + 2))
    assert client.get(PATH).json()["retry_after"] is None


def test_a_service_that_is_also_down_says_the_longer_time(client, checks):
    checks(database=away)
    Nonce.objects.raise_fence(timezone.now() - timedelta(seconds=limits.TIMESTAMP_WINDOW_SECONDS - 2))
    assert client.get(PATH).json()["retry_after"] == limits.RETRY_AFTER_SECONDS


def test_a_late_command_degrades_without_its_name(client, checks):
    checks()
    ended = timezone.now() - timedelta(hours=3)
    Run.objects.create(command="prune", interval=timedelta(hours=1), began=ended, ended=ended, ok=True)
    response = client.get(PATH)
    assert (response.status_code, response.json()["status"]) == (200, "degraded")
    assert "prune" not in response.text


def test_the_response_is_that_of_the_document(client, checks):
    document = openapi.document("https://api.example.com")
    described = document["paths"][PATH]["get"]["responses"]
    for status, arguments in (("200", {}), ("503", {"database": away})):
        checks(**arguments)
        schema = described[status]["content"]["application/json"]["schema"] | {
            "components": document["components"]
        }
        Draft202012Validator(schema).validate(client.get(PATH).json())


def test_other_methods_are_refused(client, checks):
    checks()
    assert client.post(PATH).json()["error"]["code"] == "method_not_allowed"
    assert client_health.CHECKS._checks.keys() == {"commands", "fence"}
