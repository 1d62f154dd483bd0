"""New people of the portal: an e-mail address has one, even if two links are used at the same moment."""

from django.contrib.auth.models import User
from django.db import connections, router
from django.views.decorators.debug import sensitive_variables

_LOCK = 7_320_119  # any number that no other lock of this database has


class AddressTaken(Exception):
    """The address has a person."""


@sensitive_variables()
def add_person(person: User, email: str) -> None:
    """Store ``person``, who is new, with this address, within a transaction; raises AddressTaken.

    Staff may give two people one address, so no constraint of the database refuses the second one.
    """
    connection = connections[router.db_for_write(User)]
    if connection.vendor == "postgresql":  # SQLite has one writer at a time
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [_LOCK, email.lower()])
    if User.objects.filter(email__iexact=email).exists():
        raise AddressTaken
    person.email = email
    person.save()
