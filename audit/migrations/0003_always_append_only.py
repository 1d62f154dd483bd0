"""Refuse changes of audit events and seals on PostgreSQL also where rows arrive by logical replication.

There, and with ``session_replication_role = replica``, only triggers that are always enabled fire.
"""

from django.db import migrations

TRIGGERS = {
    "audit_auditevent": ("audit_event_unchanged", "audit_event_kept", "audit_event_not_truncated"),
    "audit_auditseal": ("audit_seal_kept", "audit_seal_not_truncated"),
}


def create(apps, schema_editor):
    """Let the triggers fire always."""
    if schema_editor.connection.vendor != "postgresql":
        return
    for table, names in TRIGGERS.items():
        for name in names:
            schema_editor.execute(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}", params=None)


class Migration(migrations.Migration):
    dependencies = [("audit", "0002_append_only")]

    operations = [migrations.RunPython(create)]
