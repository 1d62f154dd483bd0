"""Keep the plans that staff set: payments only better them."""

from typing import ClassVar

from django.db import migrations, models

NAMES = ("plan", "renews", "sites_limit", "features")


def keep_plans(apps, schema_editor):
    """No payment has set the active plan of an account without a subscription: staff have."""
    rows = apps.get_model("dashboard_api", "Entitlement").objects.using(schema_editor.connection.alias)
    for row in rows.filter(status="active", account__subscriptions=None).iterator():
        agreed = {name: getattr(row, name) for name in NAMES} | {"plan_revision": row.plan_revision_id}
        agreed |= {name: getattr(row, name).isoformat() for name in ("starts_on", "ends_on")}
        rows.filter(pk=row.pk).update(agreed=agreed)


class Migration(migrations.Migration):
    """Add the column, and fill it."""

    dependencies: ClassVar = [("dashboard_api", "0030_length_of_sent_reports")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="entitlement",
            name="agreed",
            field=models.JSONField(editable=False, null=True),
        ),
        migrations.RunPython(keep_plans, migrations.RunPython.noop, elidable=True),
    ]
