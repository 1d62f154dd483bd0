"""Routes: the path, request and response of each signed call."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

Request = TypeVar("Request", bound=msgspec.Struct)
Response = TypeVar("Response", bound=msgspec.Struct)

# Groups of routes, with the names of the specification, section 1
CUSTOMER, AUDIT, BILLING = "Customer threat intelligence", "Audit and security", "Billing and entitlement"
OWNERSHIP, SCANS = "Ownership and onboarding", "Crawler operations"

NO_LINK = ("unknown_link", "revoked_link")


@dataclass(frozen=True, slots=True, kw_only=True)
class Route(Generic[Request, Response]):
    """A signed route.

    ``own_codes`` has codes of errors that only some routes return, and ``absent_codes`` has common codes that
    this route never returns. ``between_fields`` gets the given fields, and yields name and message of each
    field that breaks a rule about another one.
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
    advice_for_pages: str = ""  # appended to the error for a page beyond the limit
    changes: bool = False  # the call can change data
    is_counted: bool = True  # counts towards the calls of a day; programs poll the other routes
    is_repeatable: bool = True  # repeating the call after a lost response does no harm
    seconds: float = 0  # the client waits at least so long
