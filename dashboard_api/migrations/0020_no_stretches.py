"""Drop the counts by stretches of ids: no page is deeper than 10,000 findings (decision record 0048).

The triggers that keep them are dropped first; every ``migrate`` ends by making those that are missing.
"""

from django.db import migrations

FIND_TRIGGERS = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'dashboard_api_counts_%'",
    "postgresql": "SELECT tgname FROM pg_trigger WHERE tgname LIKE 'dashboard_api_counts_%'",
}
DROP_TRIGGER = {"sqlite": "DROP TRIGGER {}", "postgresql": "DROP FUNCTION {}() CASCADE"}


def drop_triggers(apps, schema_editor):
    vendor = schema_editor.connection.vendor
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(FIND_TRIGGERS[vendor])
        for (name,) in cursor.fetchall():
            cursor.execute(DROP_TRIGGER[vendor].format(name))


class Migration(migrations.Migration):
    dependencies = [("dashboard_api", "0019_buckets_of_an_engine")]

    operations = [
        migrations.RunPython(drop_triggers, drop_triggers),
        migrations.DeleteModel("StretchCount"),
    ]
