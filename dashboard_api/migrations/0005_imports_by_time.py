from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("dashboard_api", "0004_calls_on_record"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="importrun",
            index=models.Index(fields=["-imported_at", "-id"], name="dashboard_api_importrun_time"),
        ),
    ]
