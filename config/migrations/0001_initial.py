"""Tables of sign-in and operation; later migrations only add to them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Attempts",
            fields=[
                ("key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("times", models.JSONField(default=list)),
                ("until", models.DateTimeField(db_index=True)),
            ],
            options={
                "ordering": ["key"],
            },
        ),
        migrations.CreateModel(
            name="CacheEntry",
            fields=[
                ("key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("value", models.TextField()),
                ("expires_at", models.FloatField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name="Session",
            fields=[
                (
                    "session_key",
                    models.CharField(
                        max_length=40, primary_key=True, serialize=False, verbose_name="session key"
                    ),
                ),
                ("session_data", models.TextField(verbose_name="session data")),
                ("expire_date", models.DateTimeField(db_index=True, verbose_name="expire date")),
                ("user_id", models.BigIntegerField(db_index=True, null=True)),
                ("last_page_at", models.DateTimeField(null=True)),
            ],
            options={
                "verbose_name": "session",
                "verbose_name_plural": "sessions",
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="GivenPermission",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("group", models.CharField(max_length=150)),
                ("permission", models.CharField(max_length=200)),
            ],
            options={
                "ordering": ["group", "permission"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("group", "permission"), name="config_givenpermission_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Run",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("command", models.CharField(max_length=64, verbose_name="command")),
                ("interval", models.DurationField(verbose_name="interval")),
                ("began", models.DateTimeField(verbose_name="began")),
                ("ended", models.DateTimeField(verbose_name="ended")),
                ("ok", models.BooleanField(verbose_name="successful")),
                ("summary", models.CharField(blank=True, max_length=200, verbose_name="summary")),
                ("found", models.PositiveIntegerField(null=True, verbose_name="found")),
            ],
            options={
                "verbose_name": "run of a command",
                "verbose_name_plural": "runs of commands",
                "ordering": ["-pk"],
                "indexes": [models.Index(fields=["command", "ended"], name="config_run_command")],
            },
        ),
    ]
