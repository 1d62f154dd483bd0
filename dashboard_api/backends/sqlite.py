"""SQL for SQLite. Triggers run once a row."""

from collections.abc import Iterator

from dashboard_api.backends.trigger_set import TriggerSet

LIST_TRIGGERS = "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'"
DROP_TRIGGER = "DROP TRIGGER {name}"
AS_JSON = "json_group_array(json_array({}))"  # rows of these columns, as a list of lists
UTC_SUFFIX = " || 'Z'"  # times are stored without their zone
NUMBERS = "SELECT value FROM json_each(%s)"  # the items of a JSON list, as rows

_CHANGED_WEBSITES = {
    "insert": "SELECT NEW.website_id AS website_id",
    "update": "SELECT NEW.website_id AS website_id UNION SELECT OLD.website_id",
    "delete": "SELECT OLD.website_id AS website_id",
}
# Sets a random data version for each website. SQLite needs WHERE to read ON CONFLICT after SELECT.
_BUMP = """
INSERT INTO dashboard_api_revision (website_id, tag)
SELECT website_id, random() FROM ({websites}) AS changed WHERE true
ON CONFLICT (website_id) DO UPDATE SET tag = excluded.tag
"""
BUMP_EVERY_WEBSITE = _BUMP.format(websites="SELECT 0 AS website_id")


def _revision_triggers() -> Iterator[str]:
    for change, websites in _CHANGED_WEBSITES.items():
        for table in ("finding", "coverage", "analystnote"):
            yield f"""
                CREATE TRIGGER dashboard_api_revisions_{table}_{change}
                AFTER {change} ON dashboard_api_{table}
                BEGIN {_BUMP.format(websites=websites)}; END
            """
        yield f"""
            CREATE TRIGGER dashboard_api_revisions_source_{change} AFTER {change} ON dashboard_api_source
            {"WHEN NEW.enabled" if change == "insert" else ""}
            BEGIN {BUMP_EVERY_WEBSITE}; END
        """


REVISION_TRIGGERS = TriggerSet("dashboard_api_revisions", list(_revision_triggers()))
