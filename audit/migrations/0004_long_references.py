"""Let events name accounts whose reference has up to 128 characters; SQLite enforces no length."""

from typing import ClassVar

from django.db import migrations, models

COLUMNS = ("account", "object_id")


def widen(apps, schema_editor):
    """Change the columns without rewriting the table, whose rows may not change."""
    if schema_editor.connection.vendor != "postgresql":
        return
    for column in COLUMNS:
        schema_editor.execute(
            f"ALTER TABLE audit_auditevent ALTER COLUMN {column} TYPE varchar(128)", params=None
        )


class Migration(migrations.Migration):
    """Widen two columns."""

    dependencies: ClassVar = [("audit", "0003_always_append_only")]

    operations: ClassVar = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(widen, migrations.RunPython.noop)],
            state_operations=[
                migrations.AlterField(
                    "auditevent",
                    "account",
                    models.CharField(blank=True, max_length=128, verbose_name="account"),
                ),
                migrations.AlterField(
                    "auditevent",
                    "object_id",
                    models.CharField(blank=True, max_length=128, verbose_name="number of the object"),
                ),
            ],
        )
    ]
