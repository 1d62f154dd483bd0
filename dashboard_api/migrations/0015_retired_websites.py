"""Websites of former owners, whose host has a new website: decision record 0113."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("dashboard_api", "0014_billing_notices")]

    operations = [
        migrations.AddField(
            model_name="website",
            name="retired_at",
            field=models.DateTimeField(editable=False, null=True),
        ),
    ]
