"""The modification time of an imported file, which tells the same bytes of two scans apart: decision record 0037."""

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
