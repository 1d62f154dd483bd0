"""New people of the portal: one for each e-mail address, even if two links are used at the same moment."""

from django.contrib.auth.models import User
from django.db import IntegrityError, connections, router, transaction
from django.views.decorators.debug import sensitive_variables

_ADDRESSES, _NAMES = 7_320_119, 7_320_120  # arbitrary numbers that no other advisory lock uses


class AddressTaken(Exception):
    """Another person has the address."""


class NameTaken(Exception):
    """Another person got the user name since the form was checked."""


@sensitive_variables()
def add_person(person: User, email: str) -> None:
    """Store a new ``person`` with this address, within a transaction; raises AddressTaken and NameTaken.

    The database has no unique constraint on addresses, because staff may give one to two people.
    """
    _lock(_ADDRESSES, email)
    if User.objects.filter(email__iexact=email).exists():
        raise AddressTaken
    person.email = email
    add_named(person)


@sensitive_variables()
def add_named(person: User) -> None:
    """Store a new ``person`` within a transaction; raises NameTaken."""
    name = person.get_username()
    _lock(_NAMES, name)
    if User.objects.filter(username__iexact=name).exists():
        raise NameTaken
    try:
        with transaction.atomic():
            person.save()
    except IntegrityError as error:  # staff took the name: the admin uses no lock
        raise NameTaken from error


def _lock(kind: int, text: str) -> None:
    """Make others who add a person with this text wait until the transaction ends."""
    connection = connections[router.db_for_write(User)]
    if connection.vendor == "postgresql":  # SQLite has one writer at a time
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [kind, text.lower()])
