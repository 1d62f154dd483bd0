"""Add what Django cannot describe, in the SQL of each database: above all the search index (record 0012)."""

from pathlib import Path

from django.db import migrations


def build(apps, schema_editor):
    """Run the statements of the file for this database; blank lines separate them."""
    path = Path(__file__).with_suffix(f".{schema_editor.connection.vendor}.sql")
    for statement in path.read_text(encoding="utf-8").split("\n\n"):
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("dashboard_api", "0001_initial")]

    operations = [migrations.RunPython(build)]
