"""SQL for PostgreSQL: triggers see a whole statement, so that a thousand rows cost little more than one."""

from collections.abc import Iterator

from dashboard_api.backends.open_history import record_open
from dashboard_api.backends.trigger_set import TriggerSet

LIST_TRIGGERS = "SELECT tgname, tgrelid::regclass FROM pg_trigger WHERE NOT tgisinternal"
DROP_TRIGGER = "DROP TRIGGER {name} ON {table}"
LOCK_FINDINGS = "LOCK TABLE dashboard_api_finding IN SHARE ROW EXCLUSIVE MODE"
AS_JSON = "COALESCE(json_agg(json_build_array({})), '[]')::text"  # a list of rows
UTC = ""  # times are stored with their zone
BY_KEY = ""
NUMBERS = "SELECT value::bigint FROM json_array_elements_text(%s)"  # of a JSON list
ONE_OF = "= ANY (%({})s)"  # the values of a parameter made by ``values``
values = list
_WORDS = {"status", "kind", "problem"}
ROW = "ctid"  # the position of a row


def plain_json(columns: str) -> str:
    """Return a list of rows of numbers and of words with nothing to escape, in half of the time."""
    row = ", ".join(f"""'"' || {name} || '"'""" if name in _WORDS else name for name in columns.split(", "))
    return f"COALESCE('[[' || string_agg(concat_ws(',', {row}), '],[') || ']]', '[]')"


def one_of_words(words: str) -> str:
    """Return the condition for one of ``words``, which have commas between; an array is planned at once."""
    return f"= ANY ('{{{words}}}'::text[])"


# The counts of findings by table, in the order of its columns: ``findings`` is the relation to be counted, in
# which a finding that goes away has the change -1. They are in the order of the keys, so that no two writers
# deadlock.
FINDINGS = "(SELECT *, 1 AS change FROM dashboard_api_finding) AS finding"
COUNTS = {
    "dashboard_api_bucketcount": """
        SELECT website_id, status, source_id, severity, kind, SUM(change)
        FROM {findings} GROUP BY website_id, status, source_id, severity, kind
        HAVING SUM(change) <> 0 ORDER BY website_id, status, source_id, severity, kind
    """,
    "dashboard_api_hostcount": """
        SELECT website_id, status, host, severity, source_id, kind, SUM(change)
        FROM {findings} GROUP BY website_id, status, host, severity, source_id, kind
        HAVING SUM(change) <> 0 ORDER BY website_id, status, host, severity, source_id, kind
    """,
    "dashboard_api_weekcount": """
        SELECT website_id, week, source_id, severity, kind, SUM(found), SUM(fixed) FROM (
            SELECT website_id, date_trunc('week', first_seen AT TIME ZONE 'UTC')::date AS week,
                source_id, severity, kind, change AS found, 0 AS fixed
            FROM {findings}
            UNION ALL
            SELECT website_id, date_trunc('week', fixed_at AT TIME ZONE 'UTC')::date,
                source_id, severity, kind, 0, change
            FROM {findings} WHERE fixed_at IS NOT NULL
        ) AS event GROUP BY website_id, week, source_id, severity, kind
        HAVING SUM(found) <> 0 OR SUM(fixed) <> 0 ORDER BY website_id, week, source_id, severity, kind
    """,
    "dashboard_api_daycount": """
        SELECT website_id, day, SUM(found), SUM(fixed), SUM(still_open) FROM (
            SELECT website_id, (first_seen AT TIME ZONE 'UTC')::date AS day, change AS found, 0 AS fixed,
                CASE status WHEN 'open' THEN change ELSE 0 END AS still_open
            FROM {findings}
            UNION ALL
            SELECT website_id, (fixed_at AT TIME ZONE 'UTC')::date, 0, change, 0
            FROM {findings} WHERE fixed_at IS NOT NULL
        ) AS event GROUP BY website_id, day
        HAVING SUM(found) <> 0 OR SUM(fixed) <> 0 OR SUM(still_open) <> 0 ORDER BY website_id, day
    """,
    "dashboard_api_problemcount": """
        SELECT website_id, status, severity, problem, source_id,
            SUM(CASE kind WHEN 'confirmed' THEN change ELSE 0 END) AS confirmed,
            SUM(CASE kind WHEN 'suspected' THEN change ELSE 0 END) AS suspected,
            SUM(CASE kind WHEN 'informational' THEN change ELSE 0 END) AS informational,
            SUM(change * locations_count) AS locations
        FROM {findings} GROUP BY website_id, status, severity, problem, source_id
        ORDER BY website_id, status, severity, problem, source_id
    """,
}

_TODAY = "(now() AT TIME ZONE 'UTC')::date"
RECORD_OPEN = record_open("SELECT id AS website_id FROM dashboard_api_website{condition}", today=_TODAY)

_ADD_COUNTS = f"""
    INSERT INTO dashboard_api_bucketcount AS cell (website_id, status, source_id, severity, kind, findings)
    {COUNTS["dashboard_api_bucketcount"]}
    ON CONFLICT (website_id, status, source_id, severity, kind) DO UPDATE
    SET findings = cell.findings + excluded.findings;

    INSERT INTO dashboard_api_hostcount AS cell (
        website_id, status, host, severity, source_id, kind, findings
    )
    {COUNTS["dashboard_api_hostcount"]}
    ON CONFLICT (website_id, status, host, severity, source_id, kind) DO UPDATE
    SET findings = cell.findings + excluded.findings;

    INSERT INTO dashboard_api_weekcount AS cell (website_id, week, source_id, severity, kind, found, fixed)
    {COUNTS["dashboard_api_weekcount"]}
    ON CONFLICT (website_id, week, source_id, severity, kind) DO UPDATE
    SET found = cell.found + excluded.found, fixed = cell.fixed + excluded.fixed;

    INSERT INTO dashboard_api_daycount AS cell (website_id, day, found, fixed, still_open)
    {COUNTS["dashboard_api_daycount"]}
    ON CONFLICT (website_id, day) DO UPDATE
    SET found = cell.found + excluded.found, fixed = cell.fixed + excluded.fixed,
        still_open = cell.still_open + excluded.still_open;

    INSERT INTO dashboard_api_problemcount AS cell (
        website_id, status, severity, problem, source_id, confirmed, suspected, informational, locations
    )
    {COUNTS["dashboard_api_problemcount"]}
    ON CONFLICT (website_id, status, severity, problem, source_id) DO UPDATE
    SET confirmed = cell.confirmed + excluded.confirmed, suspected = cell.suspected + excluded.suspected,
        informational = cell.informational + excluded.informational,
        locations = cell.locations + excluded.locations;

    {record_open("SELECT DISTINCT website_id FROM {findings}", today=_TODAY)};
"""
_DELETE_EMPTY = """
    DELETE FROM dashboard_api_bucketcount
    WHERE website_id IN (SELECT website_id FROM old_rows) AND findings = 0;

    DELETE FROM dashboard_api_hostcount WHERE (website_id, status, host, severity, source_id, kind) IN (
        SELECT website_id, status, host, severity, source_id, kind FROM old_rows
    ) AND findings = 0;

    DELETE FROM dashboard_api_weekcount
    WHERE website_id IN (SELECT website_id FROM old_rows) AND found = 0 AND fixed = 0;

    DELETE FROM dashboard_api_daycount
    WHERE website_id IN (SELECT website_id FROM old_rows) AND found = 0 AND fixed = 0;

    DELETE FROM dashboard_api_problemcount WHERE (website_id, status, severity, problem, source_id) IN (
        SELECT website_id, status, severity, problem, source_id FROM old_rows
    ) AND confirmed = 0 AND suspected = 0 AND informational = 0;
"""
# Most updates change nothing that is counted.
_RETURN_IF_UNCHANGED = """
    PERFORM website_id, status, source_id, severity, kind, host, problem,
        first_seen, fixed_at, locations_count
    FROM new_rows EXCEPT ALL
    SELECT website_id, status, source_id, severity, kind, host, problem,
        first_seen, fixed_at, locations_count
    FROM old_rows;
    IF NOT FOUND THEN RETURN NULL; END IF;
"""
_INSERTED = "(SELECT *, 1 AS change FROM new_rows) AS finding"
_UPDATED = "(SELECT *, 1 AS change FROM new_rows UNION ALL SELECT *, -1 FROM old_rows) AS finding"
_DELETED = "(SELECT *, -1 AS change FROM old_rows) AS finding"


def _function(name: str, body: str) -> str:
    return f"""
        CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
        #variable_conflict use_column
        BEGIN {body} RETURN NULL; END $$
    """


COUNT_TRIGGERS = TriggerSet(
    "dashboard_api_counts",
    [
        _function("dashboard_api_count_inserted", _ADD_COUNTS.format(findings=_INSERTED)),
        _function(
            "dashboard_api_count_updated",
            _RETURN_IF_UNCHANGED + _ADD_COUNTS.format(findings=_UPDATED) + _DELETE_EMPTY,
        ),
        _function("dashboard_api_count_deleted", _ADD_COUNTS.format(findings=_DELETED) + _DELETE_EMPTY),
        _function(
            "dashboard_api_count_website_deleted",
            "DELETE FROM dashboard_api_opencount WHERE website_id IN (SELECT id FROM old_rows);",
        ),
        _function("dashboard_api_count_nothing", "".join(f"DELETE FROM {table};" for table in COUNTS)),
        """
        CREATE TRIGGER dashboard_api_counts_insert AFTER INSERT ON dashboard_api_finding
        REFERENCING NEW TABLE AS new_rows
        FOR EACH STATEMENT EXECUTE FUNCTION dashboard_api_count_inserted()
        """,
        """
        CREATE TRIGGER dashboard_api_counts_update AFTER UPDATE ON dashboard_api_finding
        REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
        FOR EACH STATEMENT EXECUTE FUNCTION dashboard_api_count_updated()
        """,
        """
        CREATE TRIGGER dashboard_api_counts_delete AFTER DELETE ON dashboard_api_finding
        REFERENCING OLD TABLE AS old_rows
        FOR EACH STATEMENT EXECUTE FUNCTION dashboard_api_count_deleted()
        """,
        """
        CREATE TRIGGER dashboard_api_counts_website AFTER DELETE ON dashboard_api_website
        REFERENCING OLD TABLE AS old_rows
        FOR EACH STATEMENT EXECUTE FUNCTION dashboard_api_count_website_deleted()
        """,
        """
        CREATE TRIGGER dashboard_api_counts_truncate AFTER TRUNCATE ON dashboard_api_finding
        FOR EACH STATEMENT EXECUTE FUNCTION dashboard_api_count_nothing()
        """,
    ],
)

# A random number of as many bits as a double has, for each website; in the order of the websites, so that two
# statements never wait for each other.
_BUMP = """
INSERT INTO dashboard_api_revision (website_id, tag)
SELECT website_id, (random() * 9007199254740991)::bigint
FROM ({websites}) AS changed (website_id) GROUP BY website_id ORDER BY website_id
ON CONFLICT (website_id) DO UPDATE SET tag = excluded.tag
"""
BUMP_WEBSITE = _BUMP.format(websites="SELECT %s::bigint")
BUMP_EVERY_WEBSITE = _BUMP.format(websites="SELECT 0")
_CHANGED_WEBSITES = {
    "insert": "SELECT website_id FROM new_rows",
    "update": "SELECT website_id FROM old_rows UNION SELECT website_id FROM new_rows",
    "delete": "SELECT website_id FROM old_rows",
}
_TRANSITIONS = {
    "insert": "REFERENCING NEW TABLE AS new_rows",
    "update": "REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows",
    "delete": "REFERENCING OLD TABLE AS old_rows",
}


def _revision_triggers() -> Iterator[str]:
    yield _function("dashboard_api_bump_every_website", f"{BUMP_EVERY_WEBSITE};")
    for change, websites in _CHANGED_WEBSITES.items():
        yield _function(f"dashboard_api_bump_websites_{change}", f"{_BUMP.format(websites=websites)};")
        for table in ("finding", "coverage", "analystnote"):
            yield f"""
                CREATE TRIGGER dashboard_api_revisions_{table}_{change}
                AFTER {change} ON dashboard_api_{table} {_TRANSITIONS[change]}
                FOR EACH STATEMENT EXECUTE FUNCTION dashboard_api_bump_websites_{change}()
            """
    yield """
        CREATE TRIGGER dashboard_api_revisions_source_insert AFTER insert ON dashboard_api_source
        FOR EACH ROW WHEN (NEW.enabled) EXECUTE FUNCTION dashboard_api_bump_every_website()
    """
    shared = [("source", change) for change in ("update", "delete", "truncate")]
    emptied = [(table, "truncate") for table in ("finding", "coverage", "analystnote")]
    for table, change in (*shared, *emptied):
        yield f"""
            CREATE TRIGGER dashboard_api_revisions_{table}_{change} AFTER {change} ON dashboard_api_{table}
            FOR EACH STATEMENT EXECUTE FUNCTION dashboard_api_bump_every_website()
        """


REVISION_TRIGGERS = TriggerSet("dashboard_api_revisions", list(_revision_triggers()))

REBUILD_SEARCH = ["REINDEX INDEX dashboard_api_finding_search"]

# The ids of findings by their fingerprints, a JSON list; then a website and a source. What comes next is
# sought in the order of the unique index, which no other index has. Asked for what is equal, PostgreSQL would
# read all findings of a website that it has not counted yet, for each thousand reported.
KNOWN_FINDINGS = """
SELECT next.id FROM json_array_elements_text(%s) AS reported (fingerprint),
    (SELECT %s::bigint AS website_id, %s::bigint AS source_id) AS whose,
    LATERAL (
        SELECT * FROM dashboard_api_finding AS finding
        WHERE (finding.website_id, finding.source_id, finding.fingerprint)
            >= (whose.website_id, whose.source_id, reported.fingerprint)
        ORDER BY finding.website_id, finding.source_id, finding.fingerprint LIMIT 1
    ) AS next
WHERE next.website_id = whose.website_id AND next.source_id = whose.source_id
    AND next.fingerprint = reported.fingerprint
"""

# No indexed column is touched. Rows by column, as arrays.
SEE_AGAIN = """
UPDATE dashboard_api_finding AS finding SET last_seen = reported.last_seen
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

# The first or last findings with one status of a part: a problem with a severity in a JSON list.
PART_OF_PROBLEM = """
SELECT id FROM (
    SELECT id FROM dashboard_api_finding WHERE website_id = %(website)s AND problem = part ->> 0
        AND severity = (part ->> 1)::smallint AND status = '{status}' ORDER BY {order}
) AS part_with_status
"""
# The id of each part that comes first in an order.
PROBLEM_ENDS = """
SELECT part ->> 0, (part ->> 1)::smallint, ({first})
FROM json_array_elements(%(parts)s::json) AS part
"""
# Findings that describe problems: the newest ones of each part, and the first one.
PROBLEM_SAMPLES = """
SELECT id, problem, severity, kind, title, rule, SUBSTR(remediation, 1, %(fix)s), location, first_seen
FROM dashboard_api_finding WHERE id IN (
    SELECT chosen.id FROM json_array_elements(%(parts)s::json) AS part, LATERAL (
        ({newest}) UNION ALL ({first})
    ) AS chosen
)
"""
