"""Statements of an answer are told by the table that they read."""

import pytest

from benchmarks.statements import Statement
from dashboard_api.models import callers


@pytest.mark.parametrize(
    ("sql", "table"),
    [
        ('SELECT a FROM "dashboard_api_finding" WHERE b', "finding"),
        (
            "SELECT (SELECT tag FROM dashboard_api_revision WHERE (b = 1)) FROM dashboard_api_website",
            "website",
        ),
        ("WITH found (id) AS (SELECT id FROM dashboard_api_finding) SELECT id FROM found", "found"),
        ("SELECT id FROM (SELECT id FROM dashboard_api_finding) AS found", "finding"),
        ("SELECT set_config('a', 'b', true)", "none"),
        (callers._CLAIMED, "account"),
    ],
)
def test_a_statement_is_of_the_first_table_outside_of_others(sql, table):
    assert Statement(sql, ()).table == table
