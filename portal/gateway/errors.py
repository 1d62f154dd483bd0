"""Errors raised before a call is sent; ``signed_api.errors`` has all others."""

from signed_api.errors import CallError, Unreachable


class ServiceDown(Unreachable):
    """The circuit breaker is open: several calls in a row failed, and the next probe is not due yet."""


class TooManyCalls(CallError):
    """Too many calls are waiting already; this one is refused so that other pages keep their threads."""


class Misconfigured(CallError):
    """The portal lacks a setting or a secret that a call needs."""
