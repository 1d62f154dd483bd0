from django.db import migrations, models
from django.db.models import F, OuterRef, Q, Subquery


def tell_what_is_known(apps, schema_editor):
    """Events know their website, and visible notes since when they are."""
    findings = apps.get_model("dashboard_api", "Finding").objects.filter(pk=OuterRef("finding_id"))
    events = apps.get_model("dashboard_api", "FindingEvent").objects
    events.update(website_id=Subquery(findings.values("website_id")[:1]))
    notes = apps.get_model("dashboard_api", "AnalystNote").objects
    notes.filter(is_internal=False).update(published_at=F("created_at"))


class Migration(migrations.Migration):
    dependencies = [
        ("dashboard_api", "0007_quicker_entries"),
    ]

    operations = [
        migrations.AddField(
            model_name="findingevent",
            name="website_id",
            field=models.BigIntegerField(
                default=0, help_text="The finding's; what came back is found by it."
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="analystnote",
            name="published_at",
            field=models.DateTimeField(
                editable=False,
                help_text="Since when whom it is for can read it; empty: it is internal.",
                null=True,
            ),
        ),
        migrations.RunPython(tell_what_is_known, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="findingevent",
            index=models.Index(
                condition=Q(("event", "regressed")),
                fields=["website_id", "id"],
                name="dashboard_api_event_regressed",
            ),
        ),
        migrations.AddConstraint(
            model_name="analystnote",
            constraint=models.CheckConstraint(
                condition=Q(("is_internal", True), ("published_at__isnull", True))
                | Q(("is_internal", False), ("published_at__isnull", False)),
                name="dashboard_api_note_published_has_time",
            ),
        ),
    ]
