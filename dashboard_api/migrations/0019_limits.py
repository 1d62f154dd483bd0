from django.db import migrations, models
from django.db.models import Value


class Migration(migrations.Migration):
    dependencies = [
        ("dashboard_api", "0018_operator_suspensions"),
    ]

    operations = [
        migrations.AddField(
            model_name="sitelink",
            name="paused_at",
            field=models.DateTimeField(
                blank=True,
                editable=False,
                help_text="Calls are refused, because the plan includes fewer websites.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="entitlement",
            name="limit_states",
            field=models.JSONField(db_default=Value([], models.JSONField()), default=list, editable=False),
        ),
        migrations.AlterField(
            model_name="billingnotice",
            name="kind",
            field=models.CharField(
                choices=[
                    ("limit_near", "Limit Near"),
                    ("limit_reached", "Limit Reached"),
                    ("trial_ends", "Trial Ends"),
                    ("plan_ends", "Plan Ends"),
                    ("past_due", "Past Due"),
                    ("suspended", "Suspended"),
                    ("expired", "Expired"),
                    ("websites_over", "Websites Over"),
                ],
                max_length=20,
            ),
        ),
    ]
