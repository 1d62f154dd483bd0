"""The triggers of audit events, seals and calls on record; tests go without, because each empties tables."""

import importlib
from types import SimpleNamespace

TABLES = ("audit_auditevent", "audit_auditseal")
OF_CALLS = (
    "dashboard_api.migrations.0009_calls_append_only",
    "dashboard_api.migrations.0010_nonces_append_only",
    "dashboard_api.migrations.0025_calls_always_append_only",
)
OF_EVENTS = ("audit.migrations.0002_append_only", "audit.migrations.0003_always_append_only")
_OURS = "(name LIKE 'audit!_%' ESCAPE '!' OR name LIKE 'call!_record!_%' ESCAPE '!')"
_NAMES = {
    "sqlite": f"SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger' AND {_OURS}",
    "postgresql": (
        "SELECT name, of_table FROM (SELECT tgname AS name, tgrelid::regclass::text AS of_table "
        f"FROM pg_trigger WHERE NOT tgisinternal) AS triggers WHERE {_OURS}"
    ),
}


def install(connection, migrations=OF_EVENTS):
    """Create the triggers as the migrations do."""
    with connection.cursor() as cursor:
        editor = SimpleNamespace(
            connection=connection, execute=lambda sql, params: cursor.execute(sql, params)
        )
        for migration in migrations:
            importlib.import_module(migration).create(None, editor)


def remove(connection):
    """Drop the triggers and their functions."""
    with connection.cursor() as cursor:
        cursor.execute(_NAMES[connection.vendor])
        for name, table in cursor.fetchall():
            on = f" ON {table}" if connection.vendor == "postgresql" else ""
            cursor.execute(f"DROP TRIGGER {name}{on}")
        if connection.vendor == "postgresql":
            for function in (
                "audit_refuse",
                "call_record_refuse",
                "call_record_nonce_refuse",
                "call_record_outcome_refuse",
            ):
                cursor.execute(f"DROP FUNCTION IF EXISTS {function}()")
