"""Column of the websites that stay in a smaller plan, as their owner chose. Decision record 0126."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("dashboard_api", "0021_pinned_notes")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="sitelink",
            name="chosen_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
    ]
