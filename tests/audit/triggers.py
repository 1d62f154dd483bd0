"""The triggers of audit events, seals and calls on record; tests go without, because each empties tables."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLES = ("audit_auditevent", "audit_auditseal")
OF_CALLS = ("dashboard_api", "callrecord"), ("dashboard_api", "nonce")
OF_EVENTS = (("audit", "auditevent"),)
_OURS = "(name LIKE 'audit!_%' ESCAPE '!' OR name LIKE 'call!_record!_%' ESCAPE '!')"
_NAMES = {
    "sqlite": f"SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger' AND {_OURS}",
    "postgresql": (
        "SELECT name, of_table FROM (SELECT tgname AS name, tgrelid::regclass::text AS of_table "
        f"FROM pg_trigger WHERE NOT tgisinternal) AS triggers WHERE {_OURS}"
    ),
}


def install(connection, files=OF_EVENTS):
    """Create the triggers as the migrations do."""
    with connection.cursor() as cursor:
        for app, model in files:
            path = ROOT / app / "migrations" / f"0001_{model}.{connection.vendor}.sql"
            for statement in path.read_text().split("\n\n"):
                if "audit_" in statement or "call_record_" in statement:
                    cursor.execute(statement)


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
