"""The providers whose callbacks are accepted: those with a secret in the environment."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from django.conf import settings

from dashboard_api.billing.callbacks import standard, stripe
from dashboard_api.billing.snapshots import Content, Snapshot


class Adapter(Protocol):
    """The part that differs between providers; it reads values and nothing else."""

    def verify(self, headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: datetime) -> str:
        """Return the id of the event; raises Refused."""

    def read(self, body: bytes, *, livemode: bool) -> Content:
        """Return what the event says; raises CannotApply."""


ADAPTERS: dict[str, Adapter] = {"standard": standard, "stripe": stripe}


def adapter_of(provider: str) -> Adapter | None:
    """Return the adapter of a provider; None if it is unknown or has no secret."""
    return ADAPTERS.get(provider) if settings.CALLBACK_SECRETS.get(provider) else None


def verify(provider: str, adapter: Adapter, headers: Mapping[str, str], body: bytes, now: datetime) -> str:
    """Return the id of the event; raises Refused."""
    return adapter.verify(headers, body, settings.CALLBACK_SECRETS[provider], now)


def read(provider: str, body: bytes) -> Content:
    """Return what the body says; raises CannotApply."""
    return ADAPTERS[provider].read(body, livemode=settings.CALLBACK_LIVEMODE)


def can_fetch(provider: str) -> bool:
    """Return whether the provider can be asked for what its customers have now."""
    return provider == "stripe" and bool(settings.STRIPE_API_KEY)


def fetch(provider: str, customer: str, now: datetime) -> list[Snapshot]:
    """Return the subscriptions that a customer has now; raises CannotApply."""
    if not can_fetch(provider):
        return []
    return stripe.fetch(customer, settings.STRIPE_API_KEY, now, livemode=settings.CALLBACK_LIVEMODE)
