from django.db import migrations, models


def keep_suspensions(apps, schema_editor):
    """No payment has suspended an account without a subscription: staff have, and it holds."""
    rows = apps.get_model("dashboard_api", "Entitlement").objects.using(schema_editor.connection.alias)
    rows.filter(status="suspended", account__subscriptions=None).update(suspended_by_staff=True)


class Migration(migrations.Migration):
    dependencies = [
        ("dashboard_api", "0017_payment_callbacks"),
    ]

    operations = [
        migrations.AddField(
            model_name="entitlement",
            name="suspended_by_staff",
            field=models.BooleanField(
                db_default=False,
                default=False,
                editable=False,
                help_text="Payments do not lift it: staff set another status.",
                verbose_name="suspended by staff",
            ),
        ),
        migrations.AddField(
            model_name="subscription",
            name="late_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="subscription",
            name="settled_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="subscription",
            name="unclear_until",
            field=models.DateTimeField(null=True),
        ),
        migrations.RunPython(keep_suspensions, migrations.RunPython.noop, elidable=True),
    ]
