"""Add the modification time of an imported file, which separates equal files of two scans: record 0037."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("dashboard_api", "0021_renewing_plans")]

    operations = [
        migrations.AddField(
            model_name="importrun",
            name="file_modified_at",
            field=models.DateTimeField(
                editable=False,
                help_text="When the file was last written to, where it came from an inbox.",
                null=True,
            ),
        ),
    ]
