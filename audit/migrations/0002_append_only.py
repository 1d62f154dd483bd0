"""Refuse every change of audit events and seals by triggers (record 0087).

SQLite drops triggers with their table: a migration that rebuilds one of these tables must create them again.
"""

from pathlib import Path

from django.db import migrations


def create(apps, schema_editor):
    """Run the statements of the file for this database; blank lines separate them."""
    path = Path(__file__).with_suffix(f".{schema_editor.connection.vendor}.sql")
    for statement in path.read_text(encoding="utf-8").split("\n\n"):
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]

    operations = [migrations.RunPython(create)]
