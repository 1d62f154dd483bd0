"""An index of every finding's words, kept true by the database itself: decision record 0012."""

from pathlib import Path

from django.db import migrations, models

REVERSED = {
    "sqlite": [
        "DROP TRIGGER dashboard_api_search_insert",
        "DROP TRIGGER dashboard_api_search_delete",
        "DROP TRIGGER dashboard_api_search_update",
        "DROP TABLE dashboard_api_search_vocabulary",
        "DROP TABLE dashboard_api_search",
    ],
    "postgresql": [
        "DROP FUNCTION dashboard_api_search",
        "DROP INDEX dashboard_api_finding_search",
        "DROP FUNCTION dashboard_api_search_entries",
        "DROP TRIGGER dashboard_api_search_insert ON dashboard_api_finding",
        "DROP TRIGGER dashboard_api_search_update ON dashboard_api_finding",
        "DROP FUNCTION dashboard_api_search_choose_block",
        "ALTER TABLE dashboard_api_finding DROP COLUMN search_block",
        "DROP TABLE dashboard_api_search_block",
    ],
}


def build(apps, schema_editor):
    """By the statements of the file for this database, which blank lines set apart."""
    path = Path(__file__).with_suffix(f".{schema_editor.connection.vendor}.sql")
    for statement in path.read_text(encoding="utf-8").split("\n\n"):
        schema_editor.execute(statement, params=None)


def remove(apps, schema_editor):
    for statement in REVERSED[schema_editor.connection.vendor]:
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("dashboard_api", "0001_initial")]

    operations = [
        migrations.RemoveField(model_name="finding", name="search_words"),
        migrations.AddField(
            model_name="finding",
            name="other_locations",
            field=models.TextField(
                blank=True, help_text="Further places, one a line: as many as are searched."
            ),
        ),
        migrations.RunPython(build, remove),
    ]
