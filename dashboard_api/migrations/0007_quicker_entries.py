"""What PostgreSQL does to make the entries of a finding takes half the time: decision record 0012."""

from pathlib import Path

from django.db import migrations

EARLIER = Path(__file__).with_name("0002_search_index.postgresql.sql")


def _statement(path, beginning):
    """The one of the file, whose statements blank lines set apart."""
    statements = path.read_text(encoding="utf-8").split("\n\n")
    return next(statement for statement in statements if beginning in statement)


def replace(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        path = Path(__file__).with_suffix(".postgresql.sql")
        schema_editor.execute(path.read_text(encoding="utf-8"), params=None)


def restore(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        earlier = _statement(EARLIER, "CREATE FUNCTION dashboard_api_search_entries(")
        schema_editor.execute(earlier.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION"), params=None)


class Migration(migrations.Migration):
    dependencies = [("dashboard_api", "0006_bulk_load")]

    operations = [migrations.RunPython(replace, restore)]
