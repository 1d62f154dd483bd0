"""SQL for PostgreSQL. Triggers run once a statement, so a thousand rows cost little more than one."""

from collections.abc import Iterator

from dashboard_api.backends.trigger_set import TriggerSet

LIST_TRIGGERS = "SELECT tgname, tgrelid::regclass FROM pg_trigger WHERE NOT tgisinternal"
DROP_TRIGGER = "DROP TRIGGER {name} ON {table}"
AS_JSON = "COALESCE(json_agg(json_build_array({})), '[]')::text"  # rows of these columns, as a list of lists
UTC_SUFFIX = ""  # times are stored with their zone
NUMBERS = "SELECT value::bigint FROM json_array_elements_text(%s)"  # the items of a JSON list, as rows


def _function(name: str, body: str) -> str:
    return f"""
        CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
        #variable_conflict use_column
        BEGIN {body} RETURN NULL; END $$
    """


# Sets a random data version of 53 bits, as a double has, for each website. The order by website prevents
# deadlocks between two statements.
_BUMP = """
INSERT INTO dashboard_api_revision (website_id, tag)
SELECT website_id, (random() * 9007199254740991)::bigint
FROM ({websites}) AS changed (website_id) GROUP BY website_id ORDER BY website_id
ON CONFLICT (website_id) DO UPDATE SET tag = excluded.tag
"""
BUMP_EVERY_WEBSITE = _BUMP.format(websites="SELECT 0")
_CHANGED_WEBSITES = {
    "insert": "SELECT website_id FROM new_rows",
    "update": "SELECT website_id FROM old_rows UNION SELECT website_id FROM new_rows",
    "delete": "SELECT website_id FROM old_rows",
}
# The names under which a trigger sees the changed rows.
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
    # These change every website, or do not say which.
    for_all = [("source", change) for change in ("update", "delete", "truncate")]
    emptied = [(table, "truncate") for table in ("finding", "coverage", "analystnote")]
    for table, change in (*for_all, *emptied):
        yield f"""
            CREATE TRIGGER dashboard_api_revisions_{table}_{change} AFTER {change} ON dashboard_api_{table}
            FOR EACH STATEMENT EXECUTE FUNCTION dashboard_api_bump_every_website()
        """


REVISION_TRIGGERS = TriggerSet("dashboard_api_revisions", list(_revision_triggers()))
