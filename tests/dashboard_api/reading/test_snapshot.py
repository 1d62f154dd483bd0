"""A response is read from one snapshot and within a time limit, on the database of the tests."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.db import OperationalError, connection, connections, router, transaction

from dashboard_api import limits
from dashboard_api.api import response_cache
from dashboard_api.backends.statements import select
from dashboard_api.models import Finding, Nonce
from dashboard_api.reading import dashboard
from dashboard_api.reading.snapshot import snapshot
from tests.dashboard_api.calls import ask, error_of, fields_for
from tests.factories import make_finding, make_link

pytestmark = pytest.mark.django_db(transaction=True)

ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT COUNT(*) FROM n"
LONG = ENDLESS.replace("SELECT i FROM n", "SELECT i + 1 FROM n WHERE i < 1000000")


@pytest.fixture
def link():
    link = make_link()
    make_finding(link.website)
    return link


@pytest.fixture
def hurried(monkeypatch):
    """Set the time limit of production, but shorter."""
    monkeypatch.setattr(limits, "STATEMENT_SECONDS", 0.05)
    monkeypatch.setattr(limits, "LOCK_SECONDS", 0.02)


def read_endlessly(*_):
    return select(Finding, ENDLESS, [])


@contextmanager
def elsewhere():
    """A thread with connections of its own."""
    with ThreadPoolExecutor(1) as thread:
        yield lambda function, *arguments: thread.submit(function, *arguments).result()
        thread.submit(connections.close_all).result()


def test_a_question_without_an_end_is_503_and_says_what_to_narrow(client, link, hurried, monkeypatch):
    monkeypatch.setattr(response_cache, "build_dashboard", read_endlessly)
    response = ask(client, fields_for(link))
    assert response.status_code == 503
    error = error_of(response)
    assert (error["code"], error["reason"], error["limit_seconds"]) == ("unavailable", "slow_question", 0.05)
    assert "Narrow the request by severity" in error["message"]
    assert response["Retry-After"] == "30"


def test_a_question_that_was_cut_spoils_nothing_for_the_next(client, link, hurried, monkeypatch):
    monkeypatch.setattr(response_cache, "build_dashboard", read_endlessly)
    before = connection.connection
    assert ask(client, fields_for(link)).status_code == 503
    monkeypatch.undo()
    assert ask(client, fields_for(link)).json()["dashboard"]["total"] == 1
    assert connection.connection is before
    make_finding(link.website)
    assert Finding.objects.count() == 2


def test_only_answers_are_cut(client, link, hurried):
    assert ask(client, fields_for(link)).status_code == 200
    assert select(Finding, LONG, []) == [(1_000_000,)]


def test_a_failure_of_another_kind_is_not_taken_for_a_slow_question(link):
    with pytest.raises(OperationalError), snapshot():
        raise OperationalError("no such host")


def test_a_refusal_ends_the_snapshot(client, link):
    assert ask(client, fields_for(link, host="other.example.com")).status_code == 404
    with snapshot():
        pass
    make_finding(link.website)


def test_within_a_transaction_its_own_moment_is_read(link, hurried):
    with transaction.atomic():
        make_finding(link.website)
        with snapshot():
            assert Finding.objects.count() == 2
            assert select(Finding, LONG, []) == [(1_000_000,)]
    assert Finding.objects.count() == 2


def test_an_answer_is_of_one_moment_whatever_is_committed_meanwhile(client, link, monkeypatch):
    read_website = dashboard.read_website
    with elsewhere() as run:

        def read_and_delete_all(*arguments):
            read = read_website(*arguments)
            run(lambda: Finding.objects.all().delete())
            return read

        monkeypatch.setattr(dashboard, "read_website", read_and_delete_all)
        answer = ask(client, fields_for(link)).json()
    assert not Finding.objects.exists()
    assert answer["dashboard"]["total"] == len(answer["threats"]) == answer["summary"]["open"] == 1


@pytest.fixture
def writing():
    """Another writer who holds what ``statement`` takes, until the block ends."""

    @contextmanager
    def hold(model, statement):
        alias = router.db_for_write(model)
        with elsewhere() as run:
            run(transaction.set_autocommit, False, alias)
            try:
                run(lambda: connections[alias].cursor().execute(statement))
                yield
            finally:
                run(transaction.rollback, alias)

    return hold


def test_an_uncommitted_import_keeps_no_reader_waiting(client, link, writing):
    with writing(Finding, "UPDATE dashboard_api_finding SET title = 'changed'"):
        answer = ask(client, fields_for(link)).json()
    assert answer["threats"][0]["title"] != "changed"


@pytest.mark.skipif(connection.vendor != "postgresql", reason="readers on SQLite wait for nobody")
def test_findings_that_stay_locked_are_503_with_a_time(client, link, hurried, writing):
    with writing(Finding, "LOCK TABLE dashboard_api_finding"):
        response = ask(client, fields_for(link))
    assert (response.status_code, error_of(response)["code"]) == (503, "unavailable")
    assert "reason" not in error_of(response)
    assert response["Retry-After"] == "5"
    assert ask(client, fields_for(link)).status_code == 200


@pytest.fixture
def impatient():
    """Set the lock limit of production, but shorter."""
    alias = router.db_for_write(Nonce)
    short, usual = {
        "sqlite": ("PRAGMA busy_timeout = 20", "PRAGMA busy_timeout = 5000"),
        "postgresql": ("SET lock_timeout = 20", "SET lock_timeout = 5000"),
    }[connection.vendor]
    connections[alias].cursor().execute(short)
    yield
    connections[alias].cursor().execute(usual)


def test_a_nonce_that_cannot_be_written_is_503_with_a_time(client, link, impatient, writing):
    statements = {"sqlite": "BEGIN IMMEDIATE", "postgresql": "LOCK TABLE dashboard_api_nonce"}
    with writing(Nonce, statements[connection.vendor]):
        response = ask(client, fields_for(link))
    assert (response.status_code, error_of(response)["code"]) == (503, "unavailable")
    assert response["Retry-After"] == "5"
    assert ask(client, fields_for(link)).status_code == 200
