from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("dashboard_api", "0002_search")]

    operations = [
        migrations.AddField(
            model_name="secret",
            name="is_test",
            field=models.BooleanField(
                db_default=False,
                default=False,
                editable=False,
                help_text="Calls signed with it get the example website, and count nowhere.",
                verbose_name="test",
            ),
        ),
    ]
