"""Do the counts beside the findings say what the findings say? Proven here, and made anew where not."""

from collections import defaultdict

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper

from dashboard_api.engines import engine_of
from dashboard_api.engines.counts import CountTable


def keep_counts(connection: BaseDatabaseWrapper) -> None:
    """Have the database count from now on; where it did not so far, count what is there."""
    engine = engine_of(connection)
    wanted = engine.COUNTS.triggers
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        present = _triggers(cursor, connection)
        if present == wanted.keys():
            return
        _drop(cursor, connection, present)
        cursor.execute(engine.LOCK_FINDINGS)
        for statements in wanted.values():
            for statement in statements:
                cursor.execute(statement)
        _recount(cursor, connection)


def stop_counting(connection: BaseDatabaseWrapper) -> None:
    """Before the tables of counts go."""
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        _drop(cursor, connection, _triggers(cursor, connection))


def _triggers(cursor: CursorWrapper, connection: BaseDatabaseWrapper) -> set[str]:
    engine = engine_of(connection)
    cursor.execute(engine.LIST_TRIGGERS)
    return {name for (name,) in cursor.fetchall() if name.startswith(engine.COUNTS.prefix)}


def _drop(cursor: CursorWrapper, connection: BaseDatabaseWrapper, triggers: set[str]) -> None:
    for name in triggers:
        cursor.execute(engine_of(connection).DROP_TRIGGER.format(name=name))


def wrong_counts(connection: BaseDatabaseWrapper) -> dict[int, int]:
    """How many counts of each website are not what its findings say; nothing for those that are right."""
    engine = engine_of(connection)
    wrong: dict[int, int] = defaultdict(int)
    with connection.cursor() as cursor:
        for table in engine.COUNT_TABLES:
            cursor.execute(_differences(table, engine.CHANGES))
            for website, cells in cursor.fetchall():
                wrong[website] += cells
    return dict(wrong)


def _differences(table: CountTable, changes: str) -> str:
    """One statement, so that both sides are of one moment."""
    key, columns = ", ".join(table.key), table.columns()
    stored, computed = f"SELECT {columns} FROM {table.name}", f"SELECT {columns} FROM computed"
    return (
        f"WITH changes AS ({changes}), computed AS ({table.computed()}) "
        f"SELECT website_id, COUNT(*) FROM (SELECT {key} FROM ({stored} EXCEPT {computed}) AS more "
        f"UNION SELECT {key} FROM ({computed} EXCEPT {stored}) AS less) AS wrong GROUP BY website_id"
    )


def recount(connection: BaseDatabaseWrapper, website_id: int) -> None:
    """Count the findings of one website anew; nobody changes any meanwhile."""
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        cursor.execute(engine_of(connection).LOCK_FINDINGS)
        _recount(cursor, connection, website_id)


def _recount(cursor: CursorWrapper, connection: BaseDatabaseWrapper, website_id: int | None = None) -> None:
    engine = engine_of(connection)
    only, parameters = ("", []) if website_id is None else (" WHERE website_id = %s", [website_id])
    for table in engine.COUNT_TABLES:
        cursor.execute(f"DELETE FROM {table.name}{only}", parameters)
        cursor.execute(
            f"WITH changes AS ({engine.CHANGES}{only}) "
            f"INSERT INTO {table.name} ({table.columns()}) {table.computed()}",
            parameters,
        )
