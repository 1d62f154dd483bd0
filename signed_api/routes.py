"""A signed route: its path, its request and its response."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

Request = TypeVar("Request", bound=msgspec.Struct)
Response = TypeVar("Response", bound=msgspec.Struct)

# The names of the specification, section 1.
CUSTOMER, AUDIT, BILLING = "Customer threat intelligence", "Audit and security", "Billing and entitlement"
OWNERSHIP, SCANS = "Ownership and onboarding", "Crawler operations"

NO_LINK = ("unknown_link", "revoked_link")


@dataclass(frozen=True, slots=True, kw_only=True)
class Route(Generic[Request, Response]):
    """A signed route.

    ``own_codes`` are codes of errors that only some routes have, and ``absent_codes`` those that this one
    never has. ``between_fields`` gets the fields that were given, and yields each broken rule between them.
    """

    path: str
    name: str
    summary: str
    description: str
    request: type[Request]
    response: type[Response]
    group: str = CUSTOMER
    own_codes: tuple[str, ...] = ()
    absent_codes: tuple[str, ...] = ()
    between_fields: Callable[[Mapping[str, Any]], Iterable[tuple[str, str]]] | None = None
    advice_for_pages: str = ""  # ends the error of a page that is too far back
    changes: bool = False  # it can write
    is_counted: bool = True  # as a call of the day; programs repeat the others to learn what is new
    is_repeatable: bool = True  # a second call after a lost response does no harm
    seconds: float = 0  # that it may take at least
