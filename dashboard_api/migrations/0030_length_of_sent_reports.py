"""Store the length of each report that was sent over HTTP: an account has a limit of it in a day."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    """Add the column."""

    dependencies: ClassVar = [("dashboard_api", "0029_problems_by_key_on_sqlite")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="reportjob",
            name="length",
            field=models.BigIntegerField(db_default=0, default=0, help_text="Bytes after unpacking."),
        ),
    ]
