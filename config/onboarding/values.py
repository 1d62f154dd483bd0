"""Values of a new customer: the operator's input, and the created rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dashboard_api.models import Account, Entitlement, SiteLink, Website


@dataclass(frozen=True, slots=True, kw_only=True)
class Customer:
    """Input of the operator about a customer; ``plan`` maps fields of the entitlement to values."""

    ref: str
    host: str = ""  # in its stored form; empty if the customer adds the website
    owner: str = ""  # e-mail address; empty to invite no one
    name: str = ""
    plan: Mapping[str, Any] = field(default_factory=dict)
    method: str = Website.Method.MANUAL
    shared: bool = False  # other accounts may also have the website


@dataclass(slots=True, kw_only=True)
class Onboarded:
    """Result of onboarding; the secrets and ``invitation_link`` can be shown only once."""

    account: Account
    entitlement: Entitlement
    link: SiteLink | None
    created: list[str] = field(default_factory=list)
    secret: str = field(default="", repr=False)
    test_secret: str = field(default="", repr=False)
    invitation_link: str = field(default="", repr=False)
    is_invited: bool = False

    @property
    def changed(self) -> bool:
        """Whether anything was created."""
        return bool(self.created)
