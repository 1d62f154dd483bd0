"""Do the counts beside the findings say what the findings say? Proven here, and made anew where not."""

from collections import defaultdict

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from dashboard_api.backends import engine_of
from dashboard_api.backends.count_tables import CountTable, recounting


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
    engine = engine_of(connection)
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        cursor.execute(engine.LOCK_FINDINGS)
        for statement in recounting(engine.COUNT_TABLES, engine.CHANGES, only=" WHERE website_id = %s"):
            cursor.execute(statement, [website_id])
        cursor.execute(engine.DRAW_WEBSITE, [website_id])
