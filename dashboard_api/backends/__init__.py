"""What is said to each engine in words of its own, above all what the database keeps true beside the rows.

Triggers are named by a digest of what they do. Whichever are not there after a ``migrate`` are made, and
because changes may have been missed meanwhile, what they keep is made anew from the rows: after the first
``migrate``, after an upgrade, and after SQLite dropped the triggers of a table that a migration remade.
"""

from types import ModuleType

from django.db.backends.base.base import BaseDatabaseWrapper

from dashboard_api.backends import postgresql, sqlite


def engine_of(connection: BaseDatabaseWrapper) -> ModuleType:
    """The module that knows how this database says it."""
    return {"sqlite": sqlite, "postgresql": postgresql}[connection.vendor]
