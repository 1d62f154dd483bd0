"""Names of the people in answers and messages: only current members of the account have one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from django.utils.translation import gettext as _

from foundation.texts.people import user_id_of
from portal.models import Membership


@dataclass(frozen=True, slots=True)
class People:
    """The names of an account's current members by their references, in alphabetical order."""

    names: Mapping[str, str]

    @classmethod
    def of(cls, account_id: int) -> Self:
        """Read the members of an account."""
        return cls(Membership.objects.filter(account=account_id).order_by("user__username").names())

    def name(self, reference: str, *, typed: str = "") -> str:
        """Return who acted; ``typed`` is a name from a shared page, which nobody has verified."""
        if typed:
            return _("%(name)s (through a share link, not verified)") % {"name": typed}
        if reference in self.names:
            return self.names[reference]
        return _("Through the API") if user_id_of(reference) is None else _("A former member")
