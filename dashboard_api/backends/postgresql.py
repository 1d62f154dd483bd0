"""PostgreSQL: triggers see a whole statement, so that a thousand rows cost little more than one."""

from collections.abc import Iterable

from dashboard_api.backends.count_tables import FINDING, CountTable, changes_of, recounting, tables
from dashboard_api.backends.data_version import EVERY_WEBSITE, OF_A_WEBSITE, OF_EVERY_WEBSITE, drawn
from dashboard_api.backends.trigger_set import Kept, named

LIST_TRIGGERS = "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
DROP_TRIGGER = "DROP FUNCTION {name}() CASCADE"
LOCK_FINDINGS = f"LOCK TABLE {FINDING} IN SHARE ROW EXCLUSIVE MODE"
AS_JSON = "COALESCE(json_agg(json_build_array({})), '[]')::text"  # a list of rows
NUMBERS = "SELECT value::bigint FROM json_array_elements_text(%s)"  # of a JSON list
UTC = ""  # moments are written with their zone
ROW = "ctid"  # where a row lies


def for_driver(statement: str, *, named: bool) -> str:  # noqa: ARG001  # it takes both
    """The driver's placeholders are Django's."""
    return statement


_DAY = "({moment} AT TIME ZONE 'UTC')::date"
_WEEK = "date_trunc('week', {day}::timestamp)::date"
COUNT_TABLES = tables(_WEEK)
CHANGES = changes_of(FINDING, day=_DAY, change="1")

_CHANGE_KEY = "website_id, status, severity, source_id, kind, found_on, fixed_on"


def _trigger(event: str, change: str, relations: dict[str, int]) -> tuple[str, list[str]]:
    """After ``change``, count each row of the transition tables ``relations`` as often as they say."""
    return named(
        "dashboard_api_counts",
        event,
        [
            # FOUND is a variable of every function, and a column of ours.
            _function(f"#variable_conflict use_column\nDECLARE shrunk boolean; BEGIN {_counting(relations)}"),
            _after(change, relations),
        ],
    )


def _function(body: str, *, options: str = "") -> str:
    made = f"CREATE FUNCTION {{name}}() RETURNS trigger LANGUAGE plpgsql {options}"
    return f"{made}AS $$ {body} RETURN NULL; END $$"


def _after(change: str, relations: Iterable[str] = (), table: str = FINDING) -> str:
    transitions = " ".join(f"{relation[:3]} TABLE AS {relation}" for relation in relations)
    referencing = f" REFERENCING {transitions}" if transitions else ""
    return (
        f"CREATE TRIGGER {{name}} AFTER {change} ON {table}{referencing} "
        "FOR EACH STATEMENT EXECUTE FUNCTION {name}()"
    )


def _counting(relations: dict[str, int]) -> str:
    """Rows that a statement left as they were, where it counts, cancel out."""
    rows = " UNION ALL ".join(
        changes_of(relation, day=_DAY, change=f"{change}") for relation, change in relations.items()
    )
    added = ", ".join(f"{table.name}_added AS ({table.added()})" for table in COUNT_TABLES)
    emptied = "".join(f"{_forget(table)}; " for table in COUNT_TABLES)
    return (
        f"WITH changes AS MATERIALIZED (SELECT {_CHANGE_KEY}, SUM(change)::integer AS change "
        f"FROM ({rows}) AS rows GROUP BY {_CHANGE_KEY} HAVING SUM(change) <> 0), {added} "
        "SELECT EXISTS (SELECT FROM changes WHERE change < 0) INTO shrunk; "
    ) + (f"IF shrunk THEN {emptied}END IF;" if "old_rows" in relations else "")


def _forget(table: CountTable) -> str:
    """Cells that count nothing any more; only those where the old rows counted can be such."""
    key = ", ".join(table.key)
    return (
        f"WITH changes AS ({changes_of('old_rows', day=_DAY, change='1')}) "
        f"DELETE FROM {table.name} WHERE ({key}) IN (SELECT {key} FROM ({table.counted}) AS counted) "
        f"AND {' AND '.join(f'{number} = 0' for number in table.numbers)}"
    )


def _truncated() -> tuple[str, list[str]]:
    emptied = " ".join(f"DELETE FROM {table.name};" for table in COUNT_TABLES)
    return named(
        "dashboard_api_counts",
        "truncated",
        [
            _function(f"BEGIN {emptied}"),
            _after("TRUNCATE"),
        ],
    )


COUNTS = Kept(
    prefix="dashboard_api_counts",
    triggers=dict(
        [
            _trigger("found", "INSERT", {"new_rows": 1}),
            _trigger("changed", "UPDATE", {"old_rows": -1, "new_rows": 1}),
            _trigger("gone", "DELETE", {"old_rows": -1}),
            _truncated(),
        ]
    ),
    refresh=list(recounting(COUNT_TABLES, CHANGES)),
)


_TAG = "(random() * 9007199254740991)::bigint"  # as many bits as a double has
DRAW_WEBSITE = drawn(f"SELECT %s, {_TAG}")
_DRAW_EVERY_WEBSITE = drawn(f"SELECT {EVERY_WEBSITE}, {_TAG}")
_TRANSITIONS = {"INSERT": ["new_rows"], "UPDATE": ["old_rows", "new_rows"], "DELETE": ["old_rows"]}


def _revised(table: str, change: str, statement: str, relations: Iterable[str] = ()) -> tuple[str, list[str]]:
    return named(
        "dashboard_api_revisions",
        f"{table.removeprefix('dashboard_api_')}_{change.lower()}",
        [
            _function(f"BEGIN {statement};"),
            _after(change, relations, table),
        ],
    )


def _draw_of(relations: Iterable[str]) -> str:
    """In the order of the websites, so that two statements never wait for each other."""
    websites = " UNION ".join(f"SELECT website_id FROM {relation}" for relation in relations)
    return drawn(
        f"SELECT website_id, {_TAG} FROM ({websites}) AS changed GROUP BY website_id ORDER BY website_id"
    )


REVISIONS = Kept(
    prefix="dashboard_api_revisions",
    triggers=dict(
        [
            *(
                _revised(table, change, _draw_of(relations), relations)
                for table in OF_A_WEBSITE
                for change, relations in _TRANSITIONS.items()
            ),
            *(_revised(OF_EVERY_WEBSITE, change, _DRAW_EVERY_WEBSITE) for change in _TRANSITIONS),
            *(
                _revised(table, "TRUNCATE", _DRAW_EVERY_WEBSITE)
                for table in (*OF_A_WEBSITE, OF_EVERY_WEBSITE)
            ),
        ]
    ),
    refresh=[_DRAW_EVERY_WEBSITE],
)


# GIN puts new entries into a list at first. A search would read all of it, several times.
_INDEX = "dashboard_api_finding_search"


def _merged(change: str) -> tuple[str, list[str]]:
    """Only the index's owner may, and who writes may be somebody else: nothing of theirs is called."""
    merge = f"gin_clean_pending_list(format('%I.{_INDEX}', tg_table_schema)::regclass)"
    return named(
        "dashboard_api_search_merged",
        change.lower(),
        [
            _function(
                f"BEGIN PERFORM {merge};",
                options="SECURITY DEFINER SET search_path = pg_catalog, pg_temp ",
            ),
            _after(change),
        ],
    )


ENTRIES = Kept(
    prefix="dashboard_api_search_merged",
    triggers=dict(map(_merged, ("INSERT", "UPDATE"))),
    refresh=[f"SELECT gin_clean_pending_list('{_INDEX}'::regclass)"],
)

KEPT = COUNTS, REVISIONS, ENTRIES

REBUILD_SEARCH = [f"REINDEX INDEX {_INDEX}"]

# The ids of findings by their fingerprints, a JSON list; then a website and a source. What comes next is
# sought in the order of the unique index, which no other index has. Asked for what is equal, PostgreSQL would
# read all findings of a website that it has not counted yet, for each thousand reported.
KNOWN_FINDINGS = f"""
SELECT next.id FROM json_array_elements_text(%s) AS reported (fingerprint),
    (SELECT %s::bigint AS website_id, %s::bigint AS source_id) AS whose,
    LATERAL (
        SELECT * FROM {FINDING} AS finding
        WHERE (finding.website_id, finding.source_id, finding.fingerprint)
            >= (whose.website_id, whose.source_id, reported.fingerprint)
        ORDER BY finding.website_id, finding.source_id, finding.fingerprint LIMIT 1
    ) AS next
WHERE next.website_id = whose.website_id AND next.source_id = whose.source_id
    AND next.fingerprint = reported.fingerprint
"""

# No indexed column is touched. Rows by column, as arrays.
SEE_AGAIN = f"""
UPDATE {FINDING} AS finding SET last_seen = reported.last_seen
FROM unnest(%s::timestamptz[], %s::bigint[]) AS reported (last_seen, id) WHERE finding.id = reported.id
"""
SEE_PLACES = """
UPDATE dashboard_api_occurrence AS place
SET first_seen = reported.first_seen, last_seen = reported.last_seen, gone_at = reported.gone_at,
    evidence = COALESCE(reported.evidence, place.evidence),
    category = COALESCE(reported.category, place.category)
FROM unnest(%s::timestamptz[], %s::timestamptz[], %s::timestamptz[], %s::text[], %s::text[], %s::bigint[])
    AS reported (first_seen, last_seen, gone_at, evidence, category, id)
WHERE place.id = reported.id
"""
