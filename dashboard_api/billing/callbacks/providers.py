"""Payment providers; callbacks are accepted from providers with a secret in the environment."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from django.conf import settings

from dashboard_api.billing.callbacks import standard, stripe
from dashboard_api.billing.snapshots import Content, Snapshot


class Adapter(Protocol):
    """The provider-specific part of a callback: verifies and decodes it, without the database."""

    def verify(self, headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: datetime) -> str:
        """Verify signature and time, and return the event's id; raises Refused."""

    def read(self, body: bytes, *, livemode: bool) -> Content:
        """Return the decoded event; raises CannotApply."""


ADAPTERS: dict[str, Adapter] = {"standard": standard, "stripe": stripe}


def adapter_of(provider: str) -> Adapter | None:
    """Return the provider's adapter, if the provider is known and has a secret."""
    return ADAPTERS.get(provider) if settings.CALLBACK_SECRETS.get(provider) else None


def verify(provider: str, adapter: Adapter, headers: Mapping[str, str], body: bytes, now: datetime) -> str:
    """Verify a callback with the provider's secrets, and return the event's id; raises Refused."""
    return adapter.verify(headers, body, settings.CALLBACK_SECRETS[provider], now)


def read(provider: str, body: bytes) -> Content:
    """Return the decoded event of a stored body; raises CannotApply."""
    return ADAPTERS[provider].read(body, livemode=settings.CALLBACK_LIVEMODE)


def can_fetch(provider: str) -> bool:
    """Return whether the provider has an API to ask for current subscriptions."""
    return provider == "stripe" and bool(settings.STRIPE_API_KEY)


def fetch(provider: str, customer: str, now: datetime) -> list[Snapshot]:
    """Return the customer's current subscriptions; raises CannotApply."""
    if not can_fetch(provider):
        return []
    return stripe.fetch(customer, settings.STRIPE_API_KEY, now, livemode=settings.CALLBACK_LIVEMODE)
