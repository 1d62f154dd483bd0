from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("portal", "0005_helper_links"),
    ]

    operations = [
        migrations.AddField(
            model_name="feedcursor",
            name="version",
            field=models.CharField(
                db_default="",
                default="",
                help_text="The version of the website's data that was read; empty if it is not known.",
                max_length=64,
            ),
        ),
    ]
