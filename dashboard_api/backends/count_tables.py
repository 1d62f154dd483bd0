"""What is counted beside the findings, in SQL that both engines speak; models/counts.py has the tables.

Every count is a sum of changes: a finding that is there is one change of +1, and a trigger sees changes of
-1 and +1. ``changes`` is a relation with the columns that the counts are made of.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

FINDING = "dashboard_api_finding"
EVERY_SOURCE = 0  # stands for all engines together


@dataclass(frozen=True, slots=True, kw_only=True)
class CountTable:
    """One table of counts: its key, its numbers, and what they are when computed from ``changes``."""

    name: str
    key: tuple[str, ...]
    numbers: tuple[str, ...]
    counted: str

    def computed(self) -> str:
        """SELECT of every cell that counts something, in the order of its key."""
        columns = ", ".join(self.key)
        sums = ", ".join(f"SUM({number}) AS {number}" for number in self.numbers)
        some = " OR ".join(f"SUM({number}) <> 0" for number in self.numbers)
        return (
            f"SELECT {columns}, {sums} FROM ({self.counted}) AS counted "
            f"GROUP BY {columns} HAVING {some} ORDER BY {columns}"
        )

    def added(self) -> str:
        """INSERT that adds them to what is there; in the order of the key, so that no two deadlock."""
        sums = ", ".join(f"{number} = {self.name}.{number} + excluded.{number}" for number in self.numbers)
        return (
            f"INSERT INTO {self.name} ({self.columns()}) {self.computed()} "
            f"ON CONFLICT ({', '.join(self.key)}) DO UPDATE SET {sums}"
        )

    def columns(self) -> str:
        """All of them, the key first."""
        return ", ".join(self.key + self.numbers)


def tables(week: str) -> tuple[CountTable, ...]:
    """Return the three count tables; ``week`` is the engine's expression for the Monday of ``{day}``."""
    found, fixed = week.format(day="found_on"), week.format(day="fixed_on")
    return (
        CountTable(
            name="dashboard_api_bucketcount",
            key=("website_id", "status", "source_id", "severity", "kind"),
            numbers=("findings",),
            counted=" UNION ALL ".join(
                f"SELECT website_id, status, {source} AS source_id, severity, kind, change AS findings "
                "FROM changes"
                for source in ("source_id", EVERY_SOURCE)
            ),
        ),
        CountTable(
            name="dashboard_api_weekcount",
            key=("website_id", "source_id", "week", "severity", "kind"),
            numbers=("found", "fixed"),
            counted=" UNION ALL ".join(
                f"SELECT website_id, {source} AS source_id, {event} FROM changes{when}"
                for source in ("source_id", EVERY_SOURCE)
                for event, when in (
                    (f"{found} AS week, severity, kind, change AS found, 0 AS fixed", ""),
                    (f"{fixed}, severity, kind, 0, change", " WHERE fixed_on IS NOT NULL"),
                )
            ),
        ),
        CountTable(
            name="dashboard_api_daycount",
            key=("website_id", "day"),
            numbers=("found", "fixed", "still_open"),
            counted="SELECT website_id, found_on AS day, change AS found, 0 AS fixed, "
            "CASE status WHEN 'open' THEN change ELSE 0 END AS still_open FROM changes "
            "UNION ALL SELECT website_id, fixed_on, 0, change, 0 FROM changes WHERE fixed_on IS NOT NULL",
        ),
    )


def changes_of(rows: str, *, day: str, change: str) -> str:
    """SELECT of ``changes`` from ``rows`` of findings; ``day`` is the engine's for that of ``{moment}``."""
    return (
        "SELECT website_id, status, severity, source_id, kind, "
        f"{day.format(moment='first_seen')} AS found_on, {day.format(moment='fixed_at')} AS fixed_on, "
        f"{change} AS change FROM {rows}"
    )


def recounting(tables: Iterable[CountTable], changes: str, *, only: str = "") -> Iterator[str]:
    """Statements that count everything anew from ``changes``, or what the condition ``only`` lets through."""
    for table in tables:
        yield f"DELETE FROM {table.name}{only}"
        insert = f"INSERT INTO {table.name} ({table.columns()}) {table.computed()}"
        yield f"WITH changes AS ({changes}{only}) {insert}"
