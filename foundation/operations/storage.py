"""Faults of storage: a database or a disk that is busy, full, read-only, damaged or absent.

Each is temporary for the caller, so it is a 503 with Retry-After, never a 500.
"""

import errno

from django.db import DatabaseError, InterfaceError, OperationalError

_POSTGRESQL_CODES = {
    "25006",  # read-only, such as a standby
    "42P01",  # a table is missing: the database is empty, or not restored yet
}
_SQLITE_NAMES = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
_ERRNOS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO}


def is_storage_fault(error: BaseException | None) -> bool:
    """Return whether storage caused ``error``, directly or through a chain of errors."""
    while error is not None:
        if isinstance(error, (OperationalError, InterfaceError)) or _is_damaged_or_read_only(error):
            return True
        if isinstance(error, OSError) and error.errno in _ERRNOS:
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_damaged_or_read_only(error: BaseException) -> bool:
    """Return whether a driver's error concerns the whole database, not one statement."""
    if not isinstance(error, DatabaseError):
        return False
    cause = error.__cause__
    name = str(getattr(cause, "sqlite_errorname", ""))
    return getattr(cause, "sqlstate", None) in _POSTGRESQL_CODES or name.startswith(_SQLITE_NAMES)
