"""PostgreSQL leaves half of a page free, so that a finding that is seen again is told there: record 0023."""

from django.db import migrations

FINDING = "ALTER TABLE dashboard_api_finding"


def on_postgresql(statement):
    """Run it there; the pages that there are stay as they are."""

    def run(apps, schema_editor):
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(statement)

    return run


class Migration(migrations.Migration):
    dependencies = [("dashboard_api", "0013_analysts_queue")]

    operations = [
        migrations.RunPython(
            on_postgresql(f"{FINDING} SET (fillfactor = 50)"), on_postgresql(f"{FINDING} RESET (fillfactor)")
        )
    ]
