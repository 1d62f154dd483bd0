"""Refuse changes of the facts and outcomes of calls before ``prune`` moves them to the calls on record, too.

A nonce with facts may be deleted once its record is stored, or when its account is forgotten. SQLite drops
triggers with their table: a migration that rebuilds one of these tables must create them again.
"""

from pathlib import Path

from django.db import migrations


def create(apps, schema_editor):
    """Run the statements of the file for this database; blank lines separate them."""
    path = Path(__file__).with_suffix(f".{schema_editor.connection.vendor}.sql")
    for statement in path.read_text(encoding="utf-8").split("\n\n"):
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("dashboard_api", "0009_calls_append_only")]

    operations = [migrations.RunPython(create, hints={"model_name": "nonce"})]
