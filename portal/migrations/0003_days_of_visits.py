from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("portal", "0002_last_answers"),
    ]

    operations = [
        migrations.CreateModel(
            name="DayOfVisit",
            fields=[
                ("user_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("day", models.DateField()),
                ("before", models.DateField(null=True)),
            ],
            options={
                "ordering": ["user_id"],
            },
        ),
    ]
