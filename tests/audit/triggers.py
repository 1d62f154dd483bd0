"""The triggers of audit events and seals, which tests go without: each ends by emptying every table."""

import importlib
from types import SimpleNamespace

TABLES = ("audit_auditevent", "audit_auditseal")
_NAMES = {
    "sqlite": "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'audit_%'",
    "postgresql": (
        "SELECT tgname, tgrelid::regclass::text FROM pg_trigger "
        "WHERE NOT tgisinternal AND tgname LIKE 'audit_%'"
    ),
}


def install(connection):
    """Create the triggers as the migration does."""
    migration = importlib.import_module("audit.migrations.0002_append_only")
    with connection.cursor() as cursor:
        editor = SimpleNamespace(
            connection=connection, execute=lambda sql, params: cursor.execute(sql, params)
        )
        migration.create(None, editor)


def remove(connection):
    """Drop the triggers and their function."""
    with connection.cursor() as cursor:
        cursor.execute(_NAMES[connection.vendor])
        for name, table in cursor.fetchall():
            on = f" ON {table}" if connection.vendor == "postgresql" else ""
            cursor.execute(f"DROP TRIGGER {name}{on}")
        if connection.vendor == "postgresql":
            cursor.execute("DROP FUNCTION IF EXISTS audit_refuse()")
