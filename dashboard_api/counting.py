"""Comparison of the counts with the findings that they count, and correction of wrong counts."""

# ruff: noqa: SLF001  # names of tables, from Django's public model API

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from django.db import models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from dashboard_api.engines import engine_of
from dashboard_api.models import BucketCount, DayCount, WeekCount

MODELS: list[type[models.Model]] = [BucketCount, WeekCount, DayCount]


def wrong_counts(connection: BaseDatabaseWrapper) -> dict[int, int]:
    """Return how many counts of a website differ from its findings, for each website with such counts."""
    wrong: dict[int, int] = defaultdict(int)
    with connection.cursor() as cursor:
        for model in MODELS:
            cursor.execute(_differences(connection, model))
            for website, cells in cursor.fetchall():
                wrong[website] += cells
    return dict(wrong)


def _differences(connection: BaseDatabaseWrapper, model: type[models.Model]) -> str:
    """Return one statement, so that it compares counts and findings of one moment."""
    table, columns = model._meta.db_table, _names(model._meta.concrete_fields)
    key = _names(model._meta.pk_fields)
    return f"""
        WITH stored AS (SELECT {columns} FROM {table}),
        computed ({columns}) AS ({_computed(connection, table)})
        SELECT website_id, COUNT(*) FROM (
            SELECT {key} FROM (SELECT * FROM stored EXCEPT SELECT * FROM computed) AS surplus
            UNION SELECT {key} FROM (SELECT * FROM computed EXCEPT SELECT * FROM stored) AS missing
        ) AS wrong GROUP BY website_id
    """


def recount(connection: BaseDatabaseWrapper, website_id: int) -> None:
    """Count the findings of one website again, while nobody changes any."""
    engine = engine_of(connection)
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        cursor.execute(engine.LOCK_FINDINGS)
        for model in MODELS:
            table = model._meta.db_table
            cursor.execute(f"DELETE FROM {table} WHERE website_id = %s", [website_id])
            cursor.execute(f"{_inserted(connection, model)} WHERE website_id = %s", [website_id])
        cursor.execute(engine.BUMP_WEBSITE, [website_id])


def recount_all(connection: BaseDatabaseWrapper) -> None:
    """Count all findings again; the caller's transaction has locked them."""
    with connection.cursor() as cursor:
        for model in MODELS:
            cursor.execute(f"DELETE FROM {model._meta.db_table}")
            cursor.execute(_inserted(connection, model))


def _inserted(connection: BaseDatabaseWrapper, model: type[models.Model]) -> str:
    """Return the statement that inserts all counts, to which a condition may be added."""
    table, columns = model._meta.db_table, _names(model._meta.concrete_fields)
    return f"""
        WITH computed ({columns}) AS ({_computed(connection, table)})
        INSERT INTO {table} ({columns}) SELECT {columns} FROM computed
    """  # names of ours


def _computed(connection: BaseDatabaseWrapper, table: str) -> str:
    engine = engine_of(connection)
    counts: str = engine.COUNTS[table].format(findings=engine.FINDINGS)
    return counts


def _names(fields: Iterable["models.Field[Any, Any]"]) -> str:
    return ", ".join(field.column for field in fields if field.column)
