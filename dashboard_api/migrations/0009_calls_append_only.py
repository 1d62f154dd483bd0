"""Refuse every change of calls on record by triggers, as of audit events (records 0087 and 0089).

SQLite drops triggers with their table: a migration that rebuilds this table must create them again.
"""

from pathlib import Path

from django.db import migrations, models


def create(apps, schema_editor):
    """Run the statements of the file for this database; blank lines separate them."""
    path = Path(__file__).with_suffix(f".{schema_editor.connection.vendor}.sql")
    for statement in path.read_text(encoding="utf-8").split("\n\n"):
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("dashboard_api", "0008_ownership_claims")]

    operations = [
        migrations.CreateModel(
            name="ForgottenAccount",
            fields=[
                ("account_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField()),
            ],
        ),
        migrations.RunPython(create, hints={"model_name": "callrecord"}),
    ]
