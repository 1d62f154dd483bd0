"""SQL that differs between SQLite and PostgreSQL: triggers of revisions, and calls.

Names of triggers end in a digest of the SQL, so ``migrate`` replaces triggers with another text.
"""

from types import ModuleType

from django.db.backends.base.base import BaseDatabaseWrapper

from dashboard_api.backends import postgresql, sqlite


def backend_of(connection: BaseDatabaseWrapper) -> ModuleType:
    """Return the module with the SQL of this database."""
    return {"sqlite": sqlite, "postgresql": postgresql}[connection.vendor]
