"""Refuse changes of calls on record on PostgreSQL also where rows arrive by logical replication.

There, and with ``session_replication_role = replica``, only triggers that are always enabled fire. The process
that applies the rows has no search path, so each function keeps the one of now.
"""

from django.db import migrations

TRIGGERS = {
    "dashboard_api_callrecord": ("call_record_unchanged", "call_record_kept", "call_record_not_truncated"),
    "dashboard_api_nonce": (
        "call_record_nonce_unchanged",
        "call_record_nonce_kept",
        "call_record_nonce_not_truncated",
    ),
    "dashboard_api_calloutcome": (
        "call_record_outcome_unchanged",
        "call_record_outcome_kept",
        "call_record_outcome_not_truncated",
    ),
}
FUNCTIONS = ("call_record_refuse", "call_record_nonce_refuse", "call_record_outcome_refuse")


def create(apps, schema_editor):
    """Let the triggers fire always."""
    if schema_editor.connection.vendor != "postgresql":
        return
    for function in FUNCTIONS:
        schema_editor.execute(f"ALTER FUNCTION {function}() SET search_path FROM CURRENT", params=None)
    for table, names in TRIGGERS.items():
        for name in names:
            schema_editor.execute(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}", params=None)


class Migration(migrations.Migration):
    dependencies = [("dashboard_api", "0024_checks_an_hour")]

    operations = [migrations.RunPython(create)]
