"""The reader of a list, and the names of the account's members in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _

from foundation.texts.people import reference_of
from portal.models import Membership
from portal.pages.forms import ME
from signed_api.answers import UNASSIGNED


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """The names of an account's members by their references; ``me`` is the reader's, or empty.

    Visitors have no ``names``: for them everyone is "a member".
    """

    names: Mapping[str, str] | None = None
    me: str = ""

    def name(self, reference: str) -> str:
        """Return the name of a member; empty for an empty reference."""
        if not reference:
            return ""
        if self.names is None:
            return _("A member")
        return self.names.get(reference) or _("A former member")

    def label(self, value: str) -> str:
        """Return a value of the filter by assignee as the reader sees it."""
        if value == UNASSIGNED:
            return _("Unassigned")
        return _("Me") if value and value in (ME, self.me) else self.name(value)

    def filter_value(self, reference: str) -> str:
        """Return a reference as the filter by assignee has it: ``me`` for the reader's own."""
        return ME if reference == self.me else reference

    def is_known(self, value: str) -> bool:
        """Return whether a value of the filter by assignee still means someone, or nobody."""
        return value in (ME, UNASSIGNED) or self.names is None or value in self.names


VISITOR = Reader()


def reader_of(account_id: int, user: AbstractBaseUser | AnonymousUser | None = None) -> Reader:
    """Return ``user`` as reader, with the account's members, which are read once a page names one."""
    members = Membership.objects.filter(account=account_id)
    names: Any = SimpleLazyObject(members.names)
    return Reader(names=names, me=reference_of(user.pk) if user and user.pk else "")
