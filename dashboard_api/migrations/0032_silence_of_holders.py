"""Store when a token was last found, and from when the silence about a contested claim counts."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    """Add the columns: without a value, silence does not count."""

    dependencies: ClassVar = [("dashboard_api", "0031_agreed_plans")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="ownershipclaim", name="found_at", field=models.DateTimeField(null=True)
        ),
        migrations.AddField(
            model_name="ownershipclaim", name="silent_since", field=models.DateTimeField(null=True)
        ),
    ]
