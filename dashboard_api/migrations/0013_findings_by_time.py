from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("dashboard_api", "0012_plans"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(
                models.F("website"),
                models.F("status"),
                models.OrderBy(models.F("severity"), descending=True),
                models.OrderBy(models.F("first_seen"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                name="dashboard_api_finding_seen",
            ),
        ),
        migrations.AddIndex(
            model_name="finding",
            index=models.Index(
                models.F("website"),
                models.OrderBy(models.F("severity"), descending=True),
                models.OrderBy(models.F("fixed_at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                condition=models.Q(("fixed_at__isnull", False)),
                name="dashboard_api_finding_fixed",
            ),
        ),
    ]
