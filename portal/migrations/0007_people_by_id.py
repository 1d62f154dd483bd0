from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("portal", "0006_read_versions"),
    ]

    operations = [
        migrations.AddField(
            model_name=model_name,
            name=name,
            field=models.ForeignKey(
                db_constraint=False,  # the code of before deletes users without setting it to null
                editable=False,
                null=True,
                on_delete=models.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        )
        for model_name, name in (("invitation", "invited_by"), ("sharelink", "creator"))
    ]
