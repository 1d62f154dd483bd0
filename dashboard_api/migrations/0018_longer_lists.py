"""What PostgreSQL merges when a statement ends is merged at once, also of a thousand long texts: record 0024."""

from django.db import migrations

INDEX = "ALTER INDEX dashboard_api_finding_search SET (gin_pending_list_limit = {})"  # kB


def limiting(kilobytes):
    """Let the list of new entries become so long before it is merged amid a statement."""

    def limit(apps, schema_editor):
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(INDEX.format(kilobytes))

    return limit


class Migration(migrations.Migration):
    dependencies = [("dashboard_api", "0017_parts_of_blocks")]

    operations = [migrations.RunPython(limiting(8192), limiting(2048))]
