"""PostgreSQL reads no more blocks of matches than it takes to find enough: decision record 0012."""

from pathlib import Path

from django.db import migrations

FUNCTION = Path(__file__).with_suffix(".postgresql.sql")


def replace(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(FUNCTION.read_text(encoding="utf-8"), params=None)


class Migration(migrations.Migration):
    dependencies = [("dashboard_api", "0014_room_for_last_seen")]

    # What the earlier one finds is the same, so there is nothing to undo.
    operations = [migrations.RunPython(replace, migrations.RunPython.noop)]
