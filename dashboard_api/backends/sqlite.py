"""SQL for SQLite: triggers see a row at a time, and leave new findings to ``bulk_insert`` if asked."""

import json
from collections.abc import Iterator

from dashboard_api.backends.open_history import record_open
from dashboard_api.backends.trigger_set import TriggerSet

LIST_TRIGGERS = "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'"
DROP_TRIGGER = "DROP TRIGGER {name}"
LOCK_FINDINGS = "SELECT 1"  # a transaction that writes is alone
AS_JSON = "json_group_array(json_array({}))"  # a list of rows
UTC = " || 'Z'"  # times are stored without their zone
BY_KEY = " INDEXED BY dashboard_api_problemcount_keys"
NUMBERS = "SELECT value FROM json_each(%s)"  # of a JSON list
ONE_OF = "IN (SELECT value FROM json_each(%({})s))"  # the values of a parameter made by ``values``
values = json.dumps
ROW = "rowid"  # the position of a row


def plain_json(columns: str) -> str:
    """Return a list of rows of numbers and words."""
    return AS_JSON.format(columns)


def one_of_words(words: str) -> str:
    """Return the condition for one of ``words``, which have commas between."""
    return "IN ('" + words.replace(",", "', '") + "')"


# The counts of findings by table, in the order of its columns: ``findings`` is the relation to be counted.
# date() would round the last microsecond of a day into the next one.
FINDINGS = "dashboard_api_finding"
COUNTS = {
    "dashboard_api_bucketcount": """
        SELECT website_id, status, source_id, severity, kind, COUNT(*)
        FROM {findings} GROUP BY website_id, status, source_id, severity, kind
    """,
    "dashboard_api_hostcount": """
        SELECT website_id, status, host, severity, source_id, kind, COUNT(*)
        FROM {findings} GROUP BY website_id, status, host, severity, source_id, kind
    """,
    "dashboard_api_weekcount": """
        SELECT website_id, week, source_id, severity, kind, SUM(found), SUM(fixed) FROM (
            SELECT website_id, date(substr(first_seen, 1, 10), 'weekday 0', '-6 days') AS week,
                source_id, severity, kind, 1 AS found, 0 AS fixed
            FROM {findings}
            UNION ALL
            SELECT website_id, date(substr(fixed_at, 1, 10), 'weekday 0', '-6 days'),
                source_id, severity, kind, 0, 1
            FROM {findings} WHERE fixed_at IS NOT NULL
        ) AS events GROUP BY website_id, week, source_id, severity, kind
    """,
    "dashboard_api_daycount": """
        SELECT website_id, day, SUM(found), SUM(fixed), SUM(still_open) FROM (
            SELECT website_id, substr(first_seen, 1, 10) AS day,
                1 AS found, 0 AS fixed, status = 'open' AS still_open
            FROM {findings}
            UNION ALL
            SELECT website_id, substr(fixed_at, 1, 10), 0, 1, 0 FROM {findings} WHERE fixed_at IS NOT NULL
        ) AS events GROUP BY website_id, day
    """,
    "dashboard_api_problemcount": """
        SELECT website_id, status, severity, problem, source_id, SUM(kind = 'confirmed'),
            SUM(kind = 'suspected'), SUM(kind = 'informational'), SUM(locations_count)
        FROM {findings} GROUP BY website_id, status, severity, problem, source_id
    """,
}

_CHANGED_WEBSITES = {
    "insert": "SELECT NEW.website_id AS website_id",
    "update": "SELECT NEW.website_id AS website_id UNION SELECT OLD.website_id",
    "delete": "SELECT OLD.website_id AS website_id",
}
_TODAY = "date('now')"
_RECORD = {change: record_open(websites, today=_TODAY) for change, websites in _CHANGED_WEBSITES.items()}
RECORD_OPEN = record_open("SELECT id AS website_id FROM dashboard_api_website{condition}", today=_TODAY)

# Of new findings by their first and last ids.
_NEW = "(SELECT * FROM dashboard_api_finding WHERE id BETWEEN %(first)s AND %(last)s)"
ADD_COUNTS = [
    f"""
    INSERT INTO dashboard_api_bucketcount (website_id, status, source_id, severity, kind, findings)
    {COUNTS["dashboard_api_bucketcount"].format(findings=_NEW)}
    ON CONFLICT (website_id, status, source_id, severity, kind) DO UPDATE
    SET findings = findings + excluded.findings
    """,
    f"""
    INSERT INTO dashboard_api_hostcount (website_id, status, host, severity, source_id, kind, findings)
    {COUNTS["dashboard_api_hostcount"].format(findings=_NEW)}
    ON CONFLICT (website_id, status, host, severity, source_id, kind) DO UPDATE
    SET findings = findings + excluded.findings
    """,
    f"""
    INSERT INTO dashboard_api_weekcount (website_id, week, source_id, severity, kind, found, fixed)
    {COUNTS["dashboard_api_weekcount"].format(findings=_NEW)}
    ON CONFLICT (website_id, week, source_id, severity, kind) DO UPDATE
    SET found = found + excluded.found, fixed = fixed + excluded.fixed
    """,
    f"""
    INSERT INTO dashboard_api_daycount (website_id, day, found, fixed, still_open)
    {COUNTS["dashboard_api_daycount"].format(findings=_NEW)}
    ON CONFLICT (website_id, day) DO UPDATE
    SET found = found + excluded.found, fixed = fixed + excluded.fixed,
        still_open = still_open + excluded.still_open
    """,
    f"""
    INSERT INTO dashboard_api_problemcount (
        website_id, status, severity, problem, source_id, confirmed, suspected, informational, locations
    )
    {COUNTS["dashboard_api_problemcount"].format(findings=_NEW)}
    ON CONFLICT (website_id, status, severity, problem, source_id) DO UPDATE
    SET confirmed = confirmed + excluded.confirmed, suspected = suspected + excluded.suspected,
        informational = informational + excluded.informational, locations = locations + excluded.locations
    """,
    record_open(f"SELECT DISTINCT website_id FROM {_NEW} AS added", today=_TODAY),
]

_ADD = """
    INSERT INTO dashboard_api_bucketcount (website_id, status, source_id, severity, kind, findings)
    VALUES (NEW.website_id, NEW.status, NEW.source_id, NEW.severity, NEW.kind, 1)
    ON CONFLICT DO UPDATE SET findings = findings + 1;

    INSERT INTO dashboard_api_hostcount (website_id, status, host, severity, source_id, kind, findings)
    VALUES (NEW.website_id, NEW.status, NEW.host, NEW.severity, NEW.source_id, NEW.kind, 1)
    ON CONFLICT DO UPDATE SET findings = findings + 1;

    INSERT INTO dashboard_api_weekcount (website_id, week, source_id, severity, kind, found, fixed)
    VALUES (NEW.website_id, date(substr(NEW.first_seen, 1, 10), 'weekday 0', '-6 days'),
        NEW.source_id, NEW.severity, NEW.kind, 1, 0)
    ON CONFLICT DO UPDATE SET found = found + 1;

    INSERT INTO dashboard_api_weekcount (website_id, week, source_id, severity, kind, found, fixed)
    SELECT NEW.website_id, date(substr(NEW.fixed_at, 1, 10), 'weekday 0', '-6 days'),
        NEW.source_id, NEW.severity, NEW.kind, 0, 1
    WHERE NEW.fixed_at IS NOT NULL
    ON CONFLICT DO UPDATE SET fixed = fixed + 1;

    INSERT INTO dashboard_api_daycount (website_id, day, found, fixed, still_open)
    VALUES (NEW.website_id, substr(NEW.first_seen, 1, 10), 1, 0, NEW.status = 'open')
    ON CONFLICT DO UPDATE SET found = found + 1, still_open = still_open + excluded.still_open;

    INSERT INTO dashboard_api_daycount (website_id, day, found, fixed, still_open)
    SELECT NEW.website_id, substr(NEW.fixed_at, 1, 10), 0, 1, 0 WHERE NEW.fixed_at IS NOT NULL
    ON CONFLICT DO UPDATE SET fixed = fixed + 1;

    INSERT INTO dashboard_api_problemcount (
        website_id, status, severity, problem, source_id, confirmed, suspected, informational, locations
    ) VALUES (
        NEW.website_id, NEW.status, NEW.severity, NEW.problem, NEW.source_id,
        NEW.kind = 'confirmed', NEW.kind = 'suspected', NEW.kind = 'informational', NEW.locations_count
    )
    ON CONFLICT DO UPDATE
    SET confirmed = confirmed + excluded.confirmed, suspected = suspected + excluded.suspected,
        informational = informational + excluded.informational, locations = locations + excluded.locations;
"""
# A count of nothing is deleted.
_SUBTRACT = """
    UPDATE dashboard_api_bucketcount SET findings = findings - 1
    WHERE (website_id, status, source_id, severity, kind)
        = (OLD.website_id, OLD.status, OLD.source_id, OLD.severity, OLD.kind);
    DELETE FROM dashboard_api_bucketcount
    WHERE (website_id, status, source_id, severity, kind)
        = (OLD.website_id, OLD.status, OLD.source_id, OLD.severity, OLD.kind) AND findings = 0;

    UPDATE dashboard_api_hostcount SET findings = findings - 1
    WHERE (website_id, status, host, severity, source_id, kind)
        = (OLD.website_id, OLD.status, OLD.host, OLD.severity, OLD.source_id, OLD.kind);
    DELETE FROM dashboard_api_hostcount
    WHERE (website_id, status, host, severity, source_id, kind)
        = (OLD.website_id, OLD.status, OLD.host, OLD.severity, OLD.source_id, OLD.kind) AND findings = 0;

    UPDATE dashboard_api_weekcount SET found = found - 1
    WHERE (website_id, week, source_id, severity, kind)
        = (OLD.website_id, date(substr(OLD.first_seen, 1, 10), 'weekday 0', '-6 days'),
            OLD.source_id, OLD.severity, OLD.kind);
    UPDATE dashboard_api_weekcount SET fixed = fixed - 1
    WHERE (website_id, week, source_id, severity, kind)
        = (OLD.website_id, date(substr(OLD.fixed_at, 1, 10), 'weekday 0', '-6 days'),
            OLD.source_id, OLD.severity, OLD.kind);
    DELETE FROM dashboard_api_weekcount
    WHERE website_id = OLD.website_id AND week IN (
        date(substr(OLD.first_seen, 1, 10), 'weekday 0', '-6 days'),
        date(substr(OLD.fixed_at, 1, 10), 'weekday 0', '-6 days')
    ) AND (source_id, severity, kind) = (OLD.source_id, OLD.severity, OLD.kind) AND found = 0 AND fixed = 0;

    UPDATE dashboard_api_daycount SET found = found - 1, still_open = still_open - (OLD.status = 'open')
    WHERE (website_id, day) = (OLD.website_id, substr(OLD.first_seen, 1, 10));
    UPDATE dashboard_api_daycount SET fixed = fixed - 1
    WHERE (website_id, day) = (OLD.website_id, substr(OLD.fixed_at, 1, 10));
    DELETE FROM dashboard_api_daycount
    WHERE website_id = OLD.website_id AND day IN (substr(OLD.first_seen, 1, 10), substr(OLD.fixed_at, 1, 10))
        AND found = 0 AND fixed = 0;

    UPDATE dashboard_api_problemcount
    SET confirmed = confirmed - (OLD.kind = 'confirmed'), suspected = suspected - (OLD.kind = 'suspected'),
        informational = informational - (OLD.kind = 'informational'),
        locations = locations - OLD.locations_count
    WHERE (website_id, status, severity, problem, source_id)
        = (OLD.website_id, OLD.status, OLD.severity, OLD.problem, OLD.source_id);
    DELETE FROM dashboard_api_problemcount
    WHERE (website_id, status, severity, problem, source_id)
        = (OLD.website_id, OLD.status, OLD.severity, OLD.problem, OLD.source_id)
        AND confirmed = 0 AND suspected = 0 AND informational = 0;
"""
COUNT_TRIGGERS = TriggerSet(
    "dashboard_api_counts",
    [
        f"""
        CREATE TRIGGER dashboard_api_counts_insert AFTER INSERT ON dashboard_api_finding
        WHEN NOT EXISTS (SELECT 1 FROM dashboard_api_bulkload) BEGIN {_ADD} {_RECORD["insert"]}; END
        """,
        f"""
        CREATE TRIGGER dashboard_api_counts_update
        AFTER UPDATE OF
            website_id, status, source_id, severity, kind, first_seen, fixed_at, problem, locations_count,
            host
        ON dashboard_api_finding
        WHEN (
            OLD.website_id, OLD.status, OLD.source_id, OLD.severity, OLD.kind, OLD.first_seen, OLD.fixed_at,
            OLD.problem, OLD.locations_count, OLD.host
        ) IS NOT (
            NEW.website_id, NEW.status, NEW.source_id, NEW.severity, NEW.kind, NEW.first_seen, NEW.fixed_at,
            NEW.problem, NEW.locations_count, NEW.host
        )
        BEGIN {_SUBTRACT} {_ADD} {_RECORD["update"]}; END
        """,
        f"""
        CREATE TRIGGER dashboard_api_counts_delete AFTER DELETE ON dashboard_api_finding
        BEGIN {_SUBTRACT} {_RECORD["delete"]}; END
        """,
        """
        CREATE TRIGGER dashboard_api_counts_website AFTER DELETE ON dashboard_api_website
        BEGIN DELETE FROM dashboard_api_opencount WHERE website_id = OLD.id; END
        """,
    ],
)

_BUMP = """
INSERT INTO dashboard_api_revision (website_id, tag)
SELECT website_id, random() FROM ({websites}) AS changed WHERE true
ON CONFLICT (website_id) DO UPDATE SET tag = excluded.tag
"""
BUMP_WEBSITE = _BUMP.format(websites="SELECT %s AS website_id")
BUMP_EVERY_WEBSITE = _BUMP.format(websites="SELECT 0 AS website_id")


def _revision_triggers() -> Iterator[str]:
    for change, websites in _CHANGED_WEBSITES.items():
        for table in ("finding", "coverage", "analystnote"):
            is_bulk = (table, change) == ("finding", "insert")
            yield f"""
                CREATE TRIGGER dashboard_api_revisions_{table}_{change}
                AFTER {change} ON dashboard_api_{table}
                {"WHEN NOT EXISTS (SELECT 1 FROM dashboard_api_bulkload)" if is_bulk else ""}
                BEGIN {_BUMP.format(websites=websites)}; END
            """
        yield f"""
            CREATE TRIGGER dashboard_api_revisions_source_{change} AFTER {change} ON dashboard_api_source
            {"WHEN NEW.enabled" if change == "insert" else ""}
            BEGIN {BUMP_EVERY_WEBSITE}; END
        """


REVISION_TRIGGERS = TriggerSet("dashboard_api_revisions", list(_revision_triggers()))

REBUILD_SEARCH = [
    "INSERT INTO dashboard_api_search (dashboard_api_search) VALUES ('delete-all')",
    """
    INSERT INTO dashboard_api_search (rowid, entries) SELECT id, dashboard_api_search_entries(
        website_id, status, severity, source_id, kind, problem, host,
        title, location, rule, cve, description, other_locations
    ) FROM dashboard_api_finding ORDER BY id
    """,
    "INSERT INTO dashboard_api_search (dashboard_api_search) VALUES ('optimize')",
]

# The ids of findings by their fingerprints, a JSON list; then a website and a source.
KNOWN_FINDINGS = """
SELECT finding.id FROM json_each(%s) AS reported CROSS JOIN dashboard_api_finding AS finding
WHERE website_id = %s AND source_id = %s AND fingerprint = reported.value
"""

# No indexed column is changed. A row at a time.
SEE_AGAIN = "UPDATE dashboard_api_finding SET last_seen = %s WHERE id = %s"
SEE_PLACES = """
UPDATE dashboard_api_occurrence
SET first_seen = %s, last_seen = %s, gone_at = %s, evidence = COALESCE(%s, evidence),
    category = COALESCE(%s, category)
WHERE id = %s
"""

# The first or last findings with one status of a part: a problem with a severity in a JSON list.
PART_OF_PROBLEM = """
SELECT id FROM (
    SELECT id FROM dashboard_api_finding
    WHERE website_id = %(website)s AND problem = json_extract(part.value, '$[0]')
        AND severity = json_extract(part.value, '$[1]') AND status = '{status}' ORDER BY {order}
) AS part_with_status
"""
# The id of each part that comes first in an order.
PROBLEM_ENDS = """
SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), ({first})
FROM json_each(%(parts)s) AS part
"""
# Findings that describe problems: the newest ones of each part, and the first one.
PROBLEM_SAMPLES = """
SELECT id, problem, severity, kind, title, rule, SUBSTR(remediation, 1, %(fix)s), location, first_seen
FROM dashboard_api_finding WHERE id IN (
    SELECT newest.value FROM json_each(%(parts)s) AS part, json_each((
        SELECT json_group_array(id) FROM ({newest}) AS newest
    )) AS newest
    UNION ALL
    SELECT ({first}) FROM json_each(%(parts)s) AS part
)
"""
