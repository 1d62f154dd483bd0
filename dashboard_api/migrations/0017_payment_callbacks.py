"""Events of payment providers, and an unguessable reference of each account (record 0122)."""

import uuid

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


def give_references(apps, schema_editor):
    """Give each account its own reference for payments."""
    accounts = apps.get_model("dashboard_api", "Account").objects.using(schema_editor.connection.alias)
    for pk in accounts.values_list("pk", flat=True):
        accounts.filter(pk=pk).update(billing_ref=uuid.uuid4())


class Migration(migrations.Migration):
    dependencies = [
        ("dashboard_api", "0016_scan_profiles"),
    ]

    operations = [
        migrations.AddField(
            model_name="account",
            name="billing_ref",
            field=models.UUIDField(
                editable=False,
                null=True,
                verbose_name="reference for payments",
            ),
        ),
        migrations.RunPython(give_references, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="account",
            name="billing_ref",
            field=models.UUIDField(
                default=uuid.uuid4,
                editable=False,
                null=True,
                unique=True,
                verbose_name="reference for payments",
            ),
        ),
        migrations.CreateModel(
            name="BillingCustomer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("provider", models.CharField(max_length=20, verbose_name="provider")),
                ("customer", models.CharField(max_length=255, verbose_name="customer of the provider")),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="billing_customers",
                        to="dashboard_api.account",
                        verbose_name="customer",
                    ),
                ),
            ],
            options={
                "verbose_name": "customer of a provider",
                "verbose_name_plural": "customers of providers",
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("provider", "customer"), name="dashboard_api_billingcustomer_one_account"
                    ),
                    models.UniqueConstraint(
                        fields=("provider", "account"), name="dashboard_api_billingcustomer_one_customer"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CallbackEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("provider", models.CharField(max_length=20, verbose_name="provider")),
                ("event_id", models.CharField(max_length=255, verbose_name="event")),
                ("type", models.CharField(blank=True, max_length=100, verbose_name="type")),
                ("occurred_at", models.DateTimeField(null=True, verbose_name="occurred")),
                (
                    "received_at",
                    models.DateTimeField(default=django.utils.timezone.now, verbose_name="received"),
                ),
                ("object_id", models.CharField(blank=True, max_length=255, verbose_name="subscription")),
                (
                    "customer",
                    models.CharField(blank=True, max_length=255, verbose_name="customer of the provider"),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("received", "received"),
                            ("applied", "applied"),
                            ("duplicate", "duplicate"),
                            ("superseded", "superseded"),
                            ("ignored", "ignored"),
                            ("waiting", "waiting for its account"),
                            ("failed", "failed"),
                            ("dead", "given up"),
                        ],
                        default="received",
                        max_length=10,
                        verbose_name="state",
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0, verbose_name="attempts")),
                ("next_at", models.DateTimeField(null=True, verbose_name="next attempt")),
                ("error", models.CharField(blank=True, max_length=100, verbose_name="error")),
                ("before", models.JSONField(null=True, verbose_name="before")),
                ("after", models.JSONField(null=True, verbose_name="after")),
                ("sealed_body", models.TextField(blank=True)),
                (
                    "account",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="callbacks",
                        to="dashboard_api.account",
                        verbose_name="customer",
                    ),
                ),
            ],
            options={
                "verbose_name": "payment callback",
                "verbose_name_plural": "payment callbacks",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("next_at__isnull", False)),
                        fields=["next_at"],
                        name="dashboard_api_callback_due",
                    ),
                    models.Index(fields=["received_at"], name="dashboard_api_callback_age"),
                    models.Index(fields=["state"], name="dashboard_api_callback_state"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("provider", "event_id"), name="dashboard_api_callback_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="PlanPrice",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "provider",
                    models.CharField(help_text="Such as stripe.", max_length=20, verbose_name="provider"),
                ),
                (
                    "price",
                    models.CharField(
                        help_text="As the provider names it, such as price_1PgafmB7.",
                        max_length=255,
                        verbose_name="price",
                    ),
                ),
                (
                    "plan",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="prices",
                        to="dashboard_api.plan",
                        verbose_name="plan",
                    ),
                ),
            ],
            options={
                "verbose_name": "price of a plan",
                "verbose_name_plural": "prices of plans",
                "ordering": ["provider", "price"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("provider", "price"), name="dashboard_api_planprice_one_plan"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Subscription",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("provider", models.CharField(max_length=20, verbose_name="provider")),
                ("object_id", models.CharField(max_length=255, verbose_name="subscription")),
                ("held", models.JSONField(default=list, verbose_name="snapshots")),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="subscriptions",
                        to="dashboard_api.account",
                        verbose_name="customer",
                    ),
                ),
            ],
            options={
                "verbose_name": "subscription",
                "verbose_name_plural": "subscriptions",
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("provider", "object_id"), name="dashboard_api_subscription_of_provider"
                    )
                ],
            },
        ),
    ]
