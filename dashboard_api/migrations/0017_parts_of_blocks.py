"""PostgreSQL reads a part of a block where a whole one holds more than is told: decision record 0012."""

from pathlib import Path

from django.db import migrations

HERE = Path(__file__)
EARLIER = (
    HERE.with_name("0011_plain_entries.postgresql.sql"),
    HERE.with_name("0015_block_after_block.postgresql.sql"),
)
# A slice is such a block as there was before.
UNDONE = [
    "DROP INDEX dashboard_api_search_block_first",
    "ALTER TABLE dashboard_api_search_block ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY",
    """
    SELECT setval(pg_get_serial_sequence('dashboard_api_search_block', 'id'), coalesce(max(id), 0) + 1, false)
    FROM dashboard_api_search_block
    """,
    "DROP SEQUENCE dashboard_api_search_block_number",
]


def build(apps, schema_editor):
    """By the statements of the file, which blank lines set apart."""
    if schema_editor.connection.vendor == "postgresql":
        for statement in HERE.with_suffix(".postgresql.sql").read_text(encoding="utf-8").split("\n\n"):
            schema_editor.execute(statement, params=None)


def undo(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for path in EARLIER:
            schema_editor.execute(path.read_text(encoding="utf-8"), params=None)
        for statement in UNDONE:
            schema_editor.execute(statement)
        schema_editor.execute("REINDEX INDEX dashboard_api_finding_search")


class Migration(migrations.Migration):
    dependencies = [("dashboard_api", "0016_stretches_of_a_bucket")]

    operations = [migrations.RunPython(build, undo)]
