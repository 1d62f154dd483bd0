"""Errors of calls that the portal does not send; ``signed_api.errors`` has the others."""

from signed_api.errors import CallError, Unreachable


class ServiceDown(Unreachable):
    """Nothing was sent: several calls in a row failed, and the next probe is not due yet."""


class TooManyCalls(CallError):
    """Nothing was sent because too many calls are waiting; other pages keep their threads."""


class Misconfigured(CallError):
    """The portal lacks a setting or a secret that a call needs."""
