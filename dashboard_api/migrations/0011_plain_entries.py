"""What PostgreSQL does to make the entries of a finding takes half the time again: decision record 0012."""

from pathlib import Path

from django.db import migrations

HERE = Path(__file__).with_suffix(".postgresql.sql")
EARLIER = Path(__file__).with_name("0007_quicker_entries.postgresql.sql")


def defining_as(path):
    """Have the function that makes the entries do what the file says."""

    def define(apps, schema_editor):
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(path.read_text(encoding="utf-8"), params=None)

    return define


class Migration(migrations.Migration):
    dependencies = [("dashboard_api", "0010_imports_told_apart")]

    operations = [migrations.RunPython(defining_as(HERE), defining_as(EARLIER))]
