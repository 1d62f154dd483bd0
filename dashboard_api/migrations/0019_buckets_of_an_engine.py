"""The buckets of an engine lie together, and are summed up over all engines, too: decision record 0013.

Made anew and empty, whichever way: without triggers, which are made after a migration, and with them everything
is counted anew.
"""

from django.db import migrations, models

from dashboard_api.backends import triggers

TABLE = "dashboard_api_bucketcount"


def forget_triggers(apps, schema_editor):
    triggers.forget(schema_editor.connection)


def put_in_one_tree(apps, schema_editor):
    """As migration 0012 has it for SQLite."""
    if schema_editor.connection.vendor == "sqlite":
        with schema_editor.connection.cursor() as cursor:
            cursor.execute("SELECT sql FROM sqlite_master WHERE name = %s", [TABLE])
            (made,) = cursor.fetchone()
            cursor.execute(f"DROP TABLE {TABLE}")
            cursor.execute(f"{made} WITHOUT ROWID")


class Migration(migrations.Migration):
    dependencies = [("dashboard_api", "0018_longer_lists")]

    operations = [
        migrations.RunPython(forget_triggers, forget_triggers),
        migrations.DeleteModel("BucketCount"),
        migrations.CreateModel(
            name="BucketCount",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "website_id",
                        "status",
                        "source_id",
                        "severity",
                        "kind",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("website_id", models.BigIntegerField()),
                ("status", models.CharField(max_length=14)),
                ("source_id", models.BigIntegerField(help_text="0: every source together.")),
                ("severity", models.PositiveSmallIntegerField()),
                ("kind", models.CharField(max_length=13)),
                ("findings", models.IntegerField()),
            ],
        ),
        migrations.RunPython(put_in_one_tree, migrations.RunPython.noop),
    ]
