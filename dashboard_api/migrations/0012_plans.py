"""Plans, whose used revisions triggers keep as they are, and the limits of entitlements (record 0119).

SQLite drops triggers with their table: a migration that rebuilds this table must create them again.
"""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models


def create(apps, schema_editor):
    """Run the statements of the file for this database; blank lines separate them."""
    path = Path(__file__).with_suffix(f".{schema_editor.connection.vendor}.sql")
    for statement in path.read_text(encoding="utf-8").split("\n\n"):
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [
        ("dashboard_api", "0011_public_telemetry"),
    ]

    operations = [
        migrations.AddField(
            model_name="entitlement",
            name="calls_per_day",
            field=models.PositiveIntegerField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name="entitlement",
            name="cancels",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="The customer has cancelled: the plan ends on its last day.",
            ),
        ),
        migrations.AddField(
            model_name="entitlement",
            name="history_days",
            field=models.PositiveIntegerField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name="entitlement",
            name="overrides",
            field=models.JSONField(
                db_default=models.Value([], models.JSONField()), default=list, editable=False
            ),
        ),
        migrations.AddField(
            model_name="entitlement",
            name="scans_per_month",
            field=models.PositiveIntegerField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name="entitlement",
            name="seats",
            field=models.PositiveIntegerField(editable=False, null=True),
        ),
        migrations.CreateModel(
            name="Plan",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "slug",
                    models.SlugField(
                        help_text="Such as team; it cannot change.", verbose_name="name in programs"
                    ),
                ),
                ("revision", models.PositiveIntegerField(default=1, editable=False, verbose_name="revision")),
                (
                    "name",
                    models.JSONField(
                        help_text='By language, such as {"en": "Team", "de": "Team"}.', verbose_name="name"
                    ),
                ),
                (
                    "rank",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="Smaller plans come first.", verbose_name="rank"
                    ),
                ),
                (
                    "limits",
                    models.JSONField(
                        default=dict,
                        help_text='Such as {"websites": 5, "seats": 3}; a limit that is left out is none.',
                        verbose_name="limits",
                    ),
                ),
                (
                    "features",
                    models.JSONField(
                        blank=True,
                        default=list,
                        help_text='Such as ["scans_daily", "deep_scans"].',
                        verbose_name="features",
                    ),
                ),
                ("trial_days", models.PositiveSmallIntegerField(default=0, verbose_name="days of trial")),
                (
                    "price_text",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="By language, as customers read it.",
                        verbose_name="price",
                    ),
                ),
                (
                    "is_offered",
                    models.BooleanField(
                        default=True, help_text="Customers see it among the plans.", verbose_name="offered"
                    ),
                ),
                ("used_at", models.DateTimeField(editable=False, null=True, verbose_name="used since")),
            ],
            options={
                "verbose_name": "plan",
                "verbose_name_plural": "plans",
                "ordering": ["rank", "slug", "-revision"],
                "constraints": [
                    models.UniqueConstraint(fields=("slug", "revision"), name="dashboard_api_plan_revision"),
                    models.CheckConstraint(
                        condition=models.Q(("revision__gte", 1)), name="dashboard_api_plan_revision_from_1"
                    ),
                ],
            },
        ),
        migrations.AddField(
            model_name="entitlement",
            name="plan_revision",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="entitlements",
                to="dashboard_api.plan",
            ),
        ),
        migrations.RunPython(create, hints={"model_name": "plan"}),
    ]
