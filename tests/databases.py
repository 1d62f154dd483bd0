"""The test databases: their addresses for other processes, and emptying them after a test."""

from contextlib import contextmanager

from django.db import connections, transaction

_migrated = {}  # by alias and table, the rows that migrations wrote; most tables have none


def url_of(connection):
    """Return the DATABASE_URL of the test database."""
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{database['NAME']}"
    password = f":{database['PASSWORD']}" if database["PASSWORD"] else ""
    address = f"{database['HOST']}:{database['PORT'] or 5432}"
    return f"postgres://{database['USER']}{password}@{address}/{database['NAME']}"


def remember_migrated():
    """Note what the databases hold before the first test."""
    for alias in connections:
        connection = connections[alias]
        tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
        with connection.cursor() as cursor:
            _migrated[alias] = {table: _rows(cursor, table) for table in tables}


def empty(alias):
    """Restore what the database held before the first test.

    Django's ``flush`` does the same in 40 times the time: it truncates tables that are empty already, and
    creates every permission again.
    """
    connection = connections[alias]
    with transaction.atomic(alias), connection.cursor() as cursor:
        for table in _changed(cursor, alias):
            with _deletable(cursor, table):
                cursor.execute(f'DELETE FROM "{table}"')
        # What triggers wrote meanwhile is left, and what migrations had written is missing.
        for table in _changed(cursor, alias):
            cursor.execute(f'DELETE FROM "{table}"')
            for row in _migrated[alias][table]:
                cursor.execute(f'INSERT INTO "{table}" VALUES ({", ".join(["%s"] * len(row))})', row)


def end_other_sessions():
    """End other sessions, such as of a thread of a server: PostgreSQL drops no database that is in use."""
    for connection in connections.all():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )


@contextmanager
def _deletable(cursor, table):
    """Let used plans be deleted, which a trigger refuses."""
    if table != "dashboard_api_plan":
        yield
    elif cursor.db.vendor == "postgresql":
        cursor.execute("SET LOCAL session_replication_role = replica")
        yield
        cursor.execute("SET LOCAL session_replication_role = origin")
    else:
        cursor.execute("SELECT sql FROM sqlite_master WHERE name = 'plan_kept'")
        (trigger,) = cursor.fetchone()
        cursor.execute("DROP TRIGGER plan_kept")
        yield
        cursor.execute(trigger)


def _changed(cursor, alias):
    """Return the names of tables that hold something else than after the migrations."""
    known = _migrated[alias]
    filled = " UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT * FROM \"{name}\")" for name in known)
    cursor.execute(filled)
    found = {name for (name,) in cursor.fetchall()}
    return [name for name, rows in known.items() if (_rows(cursor, name) != rows if rows else name in found)]


def _rows(cursor, table):
    cursor.execute(f'SELECT * FROM "{table}" ORDER BY 1')
    return cursor.fetchall()
