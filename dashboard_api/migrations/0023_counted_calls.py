"""View of SQLite whose trigger spends a nonce and counts the call in one statement (record 0089).

A migration that rebuilds the table of nonces or of usage on SQLite must drop this view before, and create it
again.
"""

from pathlib import Path
from typing import ClassVar

from django.db import migrations


def create(apps, schema_editor):
    """Run the statements of the file on SQLite; blank lines separate them. PostgreSQL needs no view."""
    if schema_editor.connection.vendor == "sqlite":
        path = Path(__file__).with_suffix(".sqlite.sql")
        for statement in path.read_text(encoding="utf-8").split("\n\n"):
            schema_editor.execute(statement, params=None)


def drop(apps, schema_editor):
    """Drop the view, and its trigger with it."""
    schema_editor.execute("DROP VIEW IF EXISTS dashboard_api_countedcall", params=None)


class Migration(migrations.Migration):
    dependencies: ClassVar = [("dashboard_api", "0022_chosen_websites")]

    operations: ClassVar = [migrations.RunPython(create, drop, hints={"model_name": "nonce"})]
