"""Find the counts of the problems of topics by their keys on SQLite, too (record 0183)."""

from typing import ClassVar

from django.db import migrations


def create(apps, schema_editor):
    """Create the index; PostgreSQL has one of all statuses since 0028."""
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute(
            "CREATE INDEX dashboard_api_problemcount_keys ON dashboard_api_problemcount (website_id, problem) "
            "WHERE status = 'open'",
            params=None,
        )


def drop(apps, schema_editor):
    """Drop the index."""
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute("DROP INDEX dashboard_api_problemcount_keys", params=None)


class Migration(migrations.Migration):
    dependencies: ClassVar = [("dashboard_api", "0028_problems_by_key")]

    operations: ClassVar = [migrations.RunPython(create, drop, hints={"model_name": "finding"})]
