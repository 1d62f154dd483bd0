"""Find the counts of the problems of topics by their keys on PostgreSQL (record 0173)."""

from typing import ClassVar

from django.db import migrations


def create(apps, schema_editor):
    """Create the index; SQLite gets its own in 0029."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(
            "CREATE INDEX dashboard_api_problemcount_keys ON dashboard_api_problemcount (website_id, problem)",
            params=None,
        )


def drop(apps, schema_editor):
    """Drop the index."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP INDEX dashboard_api_problemcount_keys", params=None)


class Migration(migrations.Migration):
    dependencies: ClassVar = [("dashboard_api", "0027_planned_searches")]

    operations: ClassVar = [migrations.RunPython(create, drop, hints={"model_name": "finding"})]
