from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("portal", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="LastAnswer",
            fields=[
                ("digest", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("website_id", models.BigIntegerField()),
                ("received_at", models.DateTimeField()),
                ("sealed", models.TextField()),
            ],
            options={
                "ordering": ["-received_at"],
                "indexes": [
                    models.Index(fields=["website_id", "received_at"], name="portal_lastanswer_website"),
                    models.Index(fields=["received_at"], name="portal_lastanswer_received"),
                ],
            },
        ),
    ]
