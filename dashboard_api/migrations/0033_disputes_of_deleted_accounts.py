"""Store that there was a dispute about a claim of an account that was deleted."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    """Add the column, with a default of the database for code that does not know it."""

    dependencies: ClassVar = [("dashboard_api", "0032_silence_of_holders")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="ownershipclaim",
            name="had_dispute",
            field=models.BooleanField(default=False, db_default=False),
        ),
    ]
