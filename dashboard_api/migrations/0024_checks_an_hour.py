"""Columns that count a claim's checks by hand in an hour."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("dashboard_api", "0023_counted_calls")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="ownershipclaim", name="asked_since", field=models.DateTimeField(null=True)
        ),
        migrations.AddField(
            model_name="ownershipclaim",
            name="asked_count",
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
    ]
