"""Reminders before certificates and domains expire."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("portal", "0003_contributors"),
    ]

    operations = [
        migrations.AddField(
            model_name="subscription",
            name="reminders",
            field=models.BooleanField(
                help_text="Whether to remind before certificates and domains expire; empty: by the member's role.",
                null=True,
            ),
        ),
        migrations.CreateModel(
            name="SentReminder",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=300)),
                ("days", models.PositiveSmallIntegerField(help_text="So many days before the last day.")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "account",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sent_reminders",
                        to="portal.account",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(fields=("account", "key", "days"), name="portal_reminder_once")
                ],
            },
        ),
    ]
