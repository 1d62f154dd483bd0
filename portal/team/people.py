"""New people of the portal: an e-mail address has one, even if two links are used at the same moment."""

from django.contrib.auth.models import User
from django.db import IntegrityError, connections, router, transaction
from django.views.decorators.debug import sensitive_variables

_ADDRESSES, _NAMES = 7_320_119, 7_320_120  # any numbers that no other lock of this database has


class AddressTaken(Exception):
    """The address has a person."""


class NameTaken(Exception):
    """Another person got the user name since the form was checked."""


@sensitive_variables()
def add_person(person: User, email: str) -> None:
    """Store ``person``, who is new, with this address, within a transaction.

    Raises AddressTaken and NameTaken. Staff may give two people one address, so no constraint of the database
    refuses the second one.
    """
    _lock(_ADDRESSES, email)
    if User.objects.filter(email__iexact=email).exists():
        raise AddressTaken
    person.email = email
    add_named(person)


@sensitive_variables()
def add_named(person: User) -> None:
    """Store ``person``, who is new, within a transaction; raises NameTaken."""
    name = person.get_username()
    _lock(_NAMES, name)
    if User.objects.filter(username__iexact=name).exists():
        raise NameTaken
    try:
        with transaction.atomic():
            person.save()
    except IntegrityError as error:  # staff took the name, who wait for no lock
        raise NameTaken from error


def _lock(kind: int, text: str) -> None:
    """Let others wait who add a person with this text until the transaction ends."""
    connection = connections[router.db_for_write(User)]
    if connection.vendor == "postgresql":  # SQLite has one writer at a time
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [kind, text.lower()])
