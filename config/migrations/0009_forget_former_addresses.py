from django.db import migrations


def forget(apps, _):
    """Delete the addresses that allauth kept of people; the one of a person is stored with the person."""
    apps.get_model("account", "EmailAddress").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [
        ("config", "0008_found_by_runs"),
        ("account", "0009_emailaddress_unique_primary_email"),
    ]
    operations = [migrations.RunPython(forget, migrations.RunPython.noop)]
