"""Readiness: checks that end in time, are remembered, and name what fails."""

import threading

import pytest
from django.db import DatabaseError, connection

from foundation.operations import health
from foundation.operations.health import Readiness

pytestmark = pytest.mark.django_db


def fail():
    raise OSError("away")


def test_a_process_is_ready_when_all_checks_pass():
    assert Readiness({"one": lambda: None, "two": lambda: None}).failed() == ()


def test_failed_checks_are_named_and_their_reasons_logged_once(caplog, monkeypatch):
    monkeypatch.setattr(health, "REMEMBERED_SECONDS", 0)
    readiness = Readiness({"one": fail, "two": lambda: None})
    assert [readiness.failed() for _ in range(3)] == [("one",)] * 3
    assert caplog.messages == ["The check one fails: OSError: away"]


def test_a_result_is_remembered_and_then_checked_again(monkeypatch):
    calls = []
    readiness = Readiness({"one": lambda: calls.append(1)})
    readiness.failed()
    readiness.failed()
    assert len(calls) == 1
    monkeypatch.setattr(health, "REMEMBERED_SECONDS", 0)
    readiness.failed()
    assert len(calls) == 2


def test_a_check_that_hangs_fails_and_is_not_started_twice(monkeypatch):
    monkeypatch.setattr(health, "REMEMBERED_SECONDS", 0)
    monkeypatch.setattr(health, "LIMIT_SECONDS", 0.01)
    end, started = threading.Event(), []

    def hang():
        started.append(1)
        end.wait()

    readiness = Readiness({"quick": lambda: None, "slow": hang})
    assert readiness.failed() == ("slow",)
    assert readiness.failed() == ("slow",)
    assert started == [1]
    monkeypatch.setattr(health, "LIMIT_SECONDS", 10)
    end.set()
    assert readiness.failed() == ()


@pytest.mark.django_db(transaction=True)
def test_a_run_leaves_no_connection_open():
    used = []

    def ask():
        connection.ensure_connection()
        used.append(connection.connection)

    assert Readiness({"database": ask}).failed() == ()
    (own,) = used
    with pytest.raises(DatabaseError, match="closed"), connection.wrap_database_errors:
        own.cursor()
