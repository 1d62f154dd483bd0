"""Statements go to the driver itself, and still behave as Django's do."""

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from dashboard_api.backends.statements import rows
from dashboard_api.models import Finding

pytestmark = pytest.mark.django_db

ASKED = [
    ("SELECT CAST(%s AS text), '100 %%'", ["50 %"], [("50 %", "100 %")]),
    ("SELECT CAST(%(told)s AS text), '100 %%'", {"told": "50 %"}, [("50 %", "100 %")]),
    ("SELECT 1 WHERE 1 = %s", [2], []),
]


@pytest.mark.parametrize(("statement", "parameters", "found"), ASKED)
def test_the_rows_are_the_same_whether_somebody_listens_or_not(statement, parameters, found):
    assert rows(Finding, statement, parameters) == found
    with CaptureQueriesContext(connection) as heard:
        assert rows(Finding, statement, parameters) == found
    assert len(heard) == 1


def test_whoever_stands_around_statements_stands_around_these():
    asked = []

    def listen(execute, sql, *others):
        asked.append(sql)
        return execute(sql, *others)

    with connection.execute_wrapper(listen):
        rows(Finding, "SELECT %s", [1])
    assert asked == ["SELECT %s"]


def test_what_the_database_refuses_is_an_error_of_djangos():
    with pytest.raises(DatabaseError, match="nowhere"), transaction.atomic():
        rows(Finding, "SELECT %s FROM nowhere", [1])


def test_nothing_is_asked_in_a_transaction_that_has_failed():
    with transaction.atomic():
        transaction.set_rollback(True)
        with pytest.raises(transaction.TransactionManagementError):
            rows(Finding, "SELECT %s", [1])
        transaction.set_rollback(False)


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_was_closed_is_opened_again():
    connection.close()
    assert rows(Finding, "SELECT 1 WHERE 1 = %s", [1]) == [(1,)]
