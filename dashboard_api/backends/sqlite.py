"""SQLite: triggers see one row at a time, and stand aside for ``dashboard_api.importing.bulk_insert``."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain

from django.db.backends.sqlite3.base import FORMAT_QMARK_REGEX

from dashboard_api.backends.count_tables import (
    EVERY_SOURCE,
    FINDING,
    CountTable,
    changes_of,
    recounting,
    tables,
)
from dashboard_api.backends.data_version import EVERY_WEBSITE, OF_A_WEBSITE, OF_EVERY_WEBSITE, drawn
from dashboard_api.backends.trigger_set import Kept, named

LIST_TRIGGERS = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
DROP_TRIGGER = "DROP TRIGGER {name}"
LOCK_FINDINGS = "SELECT 1"  # who writes in a transaction is alone in it
AS_JSON = "json_group_array(json_array({}))"  # a list of rows
NUMBERS = "SELECT value FROM json_each(%s)"  # of a JSON list
UTC = " || 'Z'"  # moments are stored without their zone
ROW = "rowid"  # where a row lies


class _Named(dict[str, str]):
    """What stands for a parameter of each name."""

    def __missing__(self, name: str) -> str:
        return f":{name}"


@lru_cache(maxsize=512)
def for_driver(statement: str, *, named: bool) -> str:
    """With the driver's placeholders in place of Django's."""
    return statement % _Named() if named else FORMAT_QMARK_REGEX.sub("?", statement).replace("%%", "%")


_DAY = "substr({moment}, 1, 10)"  # date() would round the last microsecond into the next day
_WEEK = "date({day}, 'weekday 0', '-6 days')"
COUNT_TABLES = _BUCKETS, _WEEKS, _DAYS = tables(_WEEK)
CHANGES = changes_of(FINDING, day=_DAY, change="1")

_EACH_BY_ITSELF = "NOT EXISTS (SELECT 1 FROM dashboard_api_bulkload)"

Cell = tuple[CountTable, str, str]  # the table, the values of its key, what is added to its numbers


def _found(row: str, change: int) -> Iterator[Cell]:
    """Where a finding counts because it is there."""
    where = f"{row}.website_id, {row}.status"
    for source in (f"{row}.source_id", EVERY_SOURCE):
        yield _BUCKETS, f"{where}, {source}, {row}.severity, {row}.kind", f"{change}"
    yield from _weeks(row, "first_seen", f"{change}, 0")
    day = _DAY.format(moment=f"{row}.first_seen")
    yield _DAYS, f"{row}.website_id, {day}", f"{change}, 0, {change} * ({row}.status = 'open')"


def _fixed(row: str, change: int) -> Iterator[Cell]:
    """Where it counts because it was fixed."""
    yield from _weeks(row, "fixed_at", f"0, {change}")
    yield _DAYS, f"{row}.website_id, {_DAY.format(moment=f'{row}.fixed_at')}", f"0, {change}, 0"


def _weeks(row: str, moment: str, change: str) -> Iterator[Cell]:
    week = _WEEK.format(day=_DAY.format(moment=f"{row}.{moment}"))
    for source in (f"{row}.source_id", EVERY_SOURCE):
        yield _WEEKS, f"{row}.website_id, {source}, {week}, {row}.severity, {row}.kind", change


def _add(cells: Iterable[Cell]) -> str:
    return " ".join(
        f"INSERT INTO {table.name} ({table.columns()}) VALUES ({key}, {change}) "
        f"ON CONFLICT ({', '.join(table.key)}) DO UPDATE SET "
        f"{', '.join(f'{number} = {number} + excluded.{number}' for number in table.numbers)};"
        for table, key, change in cells
    )


def _subtract(cells: Iterable[Cell]) -> str:
    """Cells that count nothing any more are forgotten."""
    return " ".join(
        f"{_add([(table, key, change)])} "
        f"DELETE FROM {table.name} WHERE ({', '.join(table.key)}) = ({key}) "
        f"AND {' AND '.join(f'{number} = 0' for number in table.numbers)};"
        for table, key, change in cells
    )


_COUNTED = ("website_id", "status", "severity", "source_id", "kind", "first_seen", "fixed_at")
_CHANGED = " OR ".join(f"OLD.{column} IS NOT NEW.{column}" for column in _COUNTED)
_EVENTS = {
    "found": ("INSERT", _EACH_BY_ITSELF, _add(_found("NEW", 1))),
    "found_fixed": ("INSERT", f"NEW.fixed_at IS NOT NULL AND {_EACH_BY_ITSELF}", _add(_fixed("NEW", 1))),
    "gone": ("DELETE", "true", _subtract(_found("OLD", -1))),
    "gone_fixed": ("DELETE", "OLD.fixed_at IS NOT NULL", _subtract(_fixed("OLD", -1))),
    "changed": (
        f"UPDATE OF {', '.join(_COUNTED)}",
        _CHANGED,
        _subtract(_found("OLD", -1)) + _add(_found("NEW", 1)),
    ),
    "changed_unfixed": (
        f"UPDATE OF {', '.join(_COUNTED)}",
        f"OLD.fixed_at IS NOT NULL AND ({_CHANGED})",
        _subtract(_fixed("OLD", -1)),
    ),
    "changed_fixed": (
        f"UPDATE OF {', '.join(_COUNTED)}",
        f"NEW.fixed_at IS NOT NULL AND ({_CHANGED})",
        _add(_fixed("NEW", 1)),
    ),
}

COUNTS = Kept(
    prefix="dashboard_api_counts",
    triggers=dict(
        named(
            "dashboard_api_counts",
            event,
            [f"CREATE TRIGGER {{name}} AFTER {change} ON {FINDING} WHEN {when} BEGIN {body} END"],
        )
        for event, (change, when, body) in _EVENTS.items()
    ),
    refresh=list(recounting(COUNT_TABLES, CHANGES)),
)


# Of new findings that are not fixed, from a JSON array of arrays.
_TOLD = """
SELECT json_extract(value, '$[0]') AS website_id, json_extract(value, '$[1]') AS status,
json_extract(value, '$[2]') AS severity, json_extract(value, '$[3]') AS source_id,
json_extract(value, '$[4]') AS kind, json_extract(value, '$[5]') AS found_on,
NULL AS fixed_on, json_extract(value, '$[6]') AS change
FROM json_each(%s)
"""
ADD_CHANGES = [f"WITH changes AS ({_TOLD}) {table.added()}" for table in COUNT_TABLES]


def _draw(website: object, when: str = "true") -> str:
    return drawn(f"SELECT {website}, random() WHERE {when}") + ";"


def _revised(table: str, body: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """A trigger for each kind of change, with what it does."""
    for change, statements in body.items():
        when = _EACH_BY_ITSELF if (table, change) == (FINDING, "INSERT") else "true"
        yield named(
            "dashboard_api_revisions",
            f"{table.removeprefix('dashboard_api_')}_{change.lower()}",
            [f"CREATE TRIGGER {{name}} AFTER {change} ON {table} WHEN {when} BEGIN {statements} END"],
        )


_OF_A_WEBSITE = {
    "INSERT": _draw("NEW.website_id"),
    "UPDATE": _draw("NEW.website_id") + _draw("OLD.website_id", "OLD.website_id <> NEW.website_id"),
    "DELETE": _draw("OLD.website_id"),
}
DRAW_WEBSITE = _draw("%s")
_DRAW_EVERY_WEBSITE = _draw(EVERY_WEBSITE)

REVISIONS = Kept(
    prefix="dashboard_api_revisions",
    triggers=dict(
        chain(
            *(_revised(table, _OF_A_WEBSITE) for table in OF_A_WEBSITE),
            _revised(OF_EVERY_WEBSITE, dict.fromkeys(_OF_A_WEBSITE, _DRAW_EVERY_WEBSITE)),
        )
    ),
    refresh=[_DRAW_EVERY_WEBSITE],
)

KEPT = COUNTS, REVISIONS

REBUILD_SEARCH = [
    "INSERT INTO dashboard_api_search (dashboard_api_search) VALUES ('delete-all')",
    f"""
    INSERT INTO dashboard_api_search (rowid, entries) SELECT id, dashboard_api_search_entries(
        website_id, status, severity, source_id, kind,
        title, location, rule, cve, description, other_locations
    ) FROM {FINDING} ORDER BY id
    """,
    "INSERT INTO dashboard_api_search (dashboard_api_search) VALUES ('optimize')",
]

# The ids of findings by their fingerprints, a JSON list; then a website and a source.
KNOWN_FINDINGS = f"""
SELECT finding.id FROM json_each(%s) AS told CROSS JOIN {FINDING} AS finding
WHERE website_id = %s AND source_id = %s AND fingerprint = told.value
"""

# No indexed column is touched. A row at a time.
SEE_AGAIN = f"UPDATE {FINDING} SET last_seen = %s WHERE id = %s"
SEE_PLACES = """
UPDATE dashboard_api_occurrence
SET first_seen = %s, last_seen = %s, gone_at = %s, evidence = COALESCE(%s, evidence),
    category = COALESCE(%s, category)
WHERE id = %s
"""
