"""Tables of actions on record; later migrations only add to them."""

from pathlib import Path

from django.db import migrations, models


def sql_of(model):
    """Return the operation that runs the file of ``model`` for this database; blank lines part statements."""

    def create(apps, schema_editor):
        path = Path(__file__).with_name(f"0001_{model}.{schema_editor.connection.vendor}.sql")
        for statement in path.read_text(encoding="utf-8").split("\n\n") if path.exists() else ():
            schema_editor.execute(statement, params=None)

    return migrations.RunPython(create, hints={"model_name": model})


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="AuditActor",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("user_id", models.BigIntegerField(editable=False, null=True, unique=True)),
                ("name", models.CharField(db_index=True, editable=False, max_length=254)),
            ],
        ),
        migrations.CreateModel(
            name="AuditOrigin",
            fields=[
                ("event_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField(db_index=True)),
                ("address", models.CharField(max_length=45)),
                ("browser", models.CharField(blank=True, max_length=100)),
            ],
        ),
        migrations.CreateModel(
            name="AuditSeal",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField()),
                ("after_id", models.BigIntegerField(unique=True)),
                ("last_id", models.BigIntegerField()),
                ("newest_at", models.DateTimeField(help_text="The latest time of its events.")),
                ("previous", models.CharField(blank=True, max_length=64)),
                ("events_digest", models.CharField(max_length=64, null=True)),
                ("digest", models.CharField(max_length=64)),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="WaitingEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("content", models.JSONField()),
            ],
        ),
        migrations.CreateModel(
            name="AuditEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(verbose_name="time")),
                (
                    "actor_kind",
                    models.CharField(
                        choices=[
                            ("person", "Person"),
                            ("staff", "Staff"),
                            ("command", "Command"),
                            ("provider", "Provider"),
                            ("system", "System"),
                        ],
                        max_length=10,
                        verbose_name="kind",
                    ),
                ),
                ("actor", models.BigIntegerField(null=True, verbose_name="who")),
                ("account", models.CharField(blank=True, max_length=128, verbose_name="account")),
                ("host", models.CharField(blank=True, max_length=253, verbose_name="website")),
                ("action", models.CharField(max_length=100, verbose_name="action")),
                ("object_type", models.CharField(blank=True, max_length=100, verbose_name="kind of object")),
                (
                    "object_id",
                    models.CharField(blank=True, max_length=128, verbose_name="number of the object"),
                ),
                ("label", models.CharField(blank=True, max_length=200, verbose_name="name of the object")),
                ("before", models.JSONField(null=True, verbose_name="before")),
                ("after", models.JSONField(null=True, verbose_name="after")),
                ("reason", models.CharField(blank=True, max_length=200, verbose_name="reason")),
                ("request_id", models.CharField(blank=True, max_length=64, verbose_name="request")),
                (
                    "outcome",
                    models.CharField(
                        choices=[("done", "Done"), ("refused", "Refused")],
                        default="done",
                        max_length=10,
                        verbose_name="outcome",
                    ),
                ),
            ],
            options={
                "verbose_name": "audit event",
                "verbose_name_plural": "audit events",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["account", "id"], name="audit_event_account"),
                    models.Index(fields=["host", "id"], name="audit_event_host"),
                    models.Index(fields=["actor"], name="audit_event_actor"),
                    models.Index(fields=["object_type", "object_id"], name="audit_event_object"),
                    models.Index(fields=["request_id"], name="audit_event_request"),
                ],
            },
        ),
        sql_of("auditevent"),
    ]
