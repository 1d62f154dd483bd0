"""Comparison of the counts with the findings that they count, and correction of wrong counts."""

from collections import defaultdict

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from dashboard_api.backends import backend_of
from dashboard_api.backends.count_tables import COUNT_TABLES, CountTable


def wrong_counts(connection: BaseDatabaseWrapper) -> dict[int, int]:
    """Return how many counts of a website differ from its findings, for each website with such counts."""
    wrong: dict[int, int] = defaultdict(int)
    with connection.cursor() as cursor:
        for table in COUNT_TABLES:
            cursor.execute(_differences(connection, table))
            for website, counts in cursor.fetchall():
                wrong[website] += counts
    return dict(wrong)


def _differences(connection: BaseDatabaseWrapper, table: CountTable) -> str:
    """Return one statement, so that it compares counts and findings of one moment."""
    return f"""
        WITH stored AS (SELECT {table.columns} FROM {table.name}),
        computed ({table.columns}) AS ({_computed(connection, table)})
        SELECT website_id, COUNT(*) FROM (
            SELECT {table.key} FROM (SELECT * FROM stored EXCEPT SELECT * FROM computed) AS surplus
            UNION SELECT {table.key} FROM (SELECT * FROM computed EXCEPT SELECT * FROM stored) AS missing
        ) AS wrong GROUP BY website_id
    """


def recount(connection: BaseDatabaseWrapper, website_id: int) -> None:
    """Count the findings of one website again, while nobody changes any."""
    backend = backend_of(connection)
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        cursor.execute(backend.LOCK_FINDINGS)
        for table in COUNT_TABLES:
            cursor.execute(f"DELETE FROM {table.name} WHERE website_id = %s", [website_id])
            cursor.execute(f"{_insert(connection, table)} WHERE website_id = %s", [website_id])
        cursor.execute(backend.RECORD_OPEN.format(condition=" WHERE id = %s"), [website_id])
        cursor.execute(backend.BUMP_WEBSITE, [website_id])


def recount_all(connection: BaseDatabaseWrapper) -> None:
    """Count all findings again; the caller's transaction keeps writers away."""
    with connection.cursor() as cursor:
        for table in COUNT_TABLES:
            cursor.execute(f"DELETE FROM {table.name}")
            cursor.execute(_insert(connection, table))
        cursor.execute(backend_of(connection).RECORD_OPEN.format(condition=""))


def _insert(connection: BaseDatabaseWrapper, table: CountTable) -> str:
    """Return the statement that inserts all counts, to which a condition may be added."""
    return f"""
        WITH computed ({table.columns}) AS ({_computed(connection, table)})
        INSERT INTO {table.name} ({table.columns}) SELECT {table.columns} FROM computed
    """


def _computed(connection: BaseDatabaseWrapper, table: CountTable) -> str:
    backend = backend_of(connection)
    counts: str = backend.COUNTS[table.name].format(findings=backend.FINDINGS)
    return counts
