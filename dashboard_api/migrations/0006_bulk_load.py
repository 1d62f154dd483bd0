"""Findings written by the thousand: decision record 0023.

SQLite's triggers learn to stand aside. And two indexes go, each the beginning of a unique one.
"""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models

STANDING_ASIDE = (
    "SELECT name FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%dashboard_api_bulkload%'"
)
REVERSED = [
    "DROP TABLE dashboard_api_bulkload",
    """
    CREATE TRIGGER dashboard_api_search_insert AFTER INSERT ON dashboard_api_finding
    BEGIN
        INSERT INTO dashboard_api_search (rowid, entries) VALUES (new.id, dashboard_api_search_entries(
            new.website_id, new.status, new.severity, new.source_id, new.kind,
            new.title, new.location, new.rule, new.cve, new.description, new.other_locations
        ));
    END
    """,
]

INDEXES = {
    "dashboard_api_finding_website_id_e967d305": "dashboard_api_finding (website_id)",
    "dashboard_api_occurrence_finding_id_27ec1a14": "dashboard_api_occurrence (finding_id)",
}


def build(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        statements = Path(__file__).with_suffix(".sqlite.sql").read_text(encoding="utf-8")
        for statement in statements.split("\n\n"):
            schema_editor.execute(statement, params=None)


def remove(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        with schema_editor.connection.cursor() as cursor:
            triggers = [f"DROP TRIGGER {name}" for (name,) in cursor.execute(STANDING_ASIDE).fetchall()]
        for statement in triggers + REVERSED:
            schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("dashboard_api", "0005_lives_of_findings")]

    operations = [
        migrations.CreateModel(
            name="BulkLoad",
            fields=[("unfinished", models.BigIntegerField(primary_key=True, serialize=False))],
            options={"managed": False},
        ),
        migrations.RunPython(build, remove),
        # By hand, because SQLite would make both tables anew, and drop their triggers.
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(f"DROP INDEX {name}", f"CREATE INDEX {name} ON {columns}")
                for name, columns in INDEXES.items()
            ],
            state_operations=[
                migrations.AlterField(
                    model_name="finding",
                    name="website",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="findings",
                        to="dashboard_api.website",
                    ),
                ),
                migrations.AlterField(
                    model_name="occurrence",
                    name="finding",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="occurrences",
                        to="dashboard_api.finding",
                    ),
                ),
            ],
        ),
    ]
