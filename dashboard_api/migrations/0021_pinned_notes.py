from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("dashboard_api", "0020_label_of_skipped_runs"),
    ]

    operations = [
        migrations.AddField(
            model_name="analystnote",
            name="is_pinned",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Customers see it first, next to what to do first. The newest pinned note comes first.",
                verbose_name="pinned",
            ),
        ),
    ]
