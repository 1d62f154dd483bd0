"""The portal's client of the service: signs calls and returns typed answers. Only it uses HTTP."""

from portal.gateway.client import fetch_changes, fetch_dashboard, fetch_finding
from portal.gateway.errors import (
    BadAnswer,
    CannotConnect,
    GatewayError,
    InactiveEntitlement,
    Misconfigured,
    RateLimited,
    Refused,
    Rejected,
    RevokedLink,
    SignatureRefused,
    SlowQuestion,
    TimedOut,
    TooManyCalls,
    UnknownFinding,
    UnknownLink,
    Unreachable,
)
from portal.gateway.messages import Changes, ChangesQuestion, Dashboard, FindingAnswer, Question
from portal.gateway.target import LinkedSite, Upstream

__all__ = [
    "BadAnswer",
    "CannotConnect",
    "Changes",
    "ChangesQuestion",
    "Dashboard",
    "FindingAnswer",
    "GatewayError",
    "InactiveEntitlement",
    "LinkedSite",
    "Misconfigured",
    "Question",
    "RateLimited",
    "Refused",
    "Rejected",
    "RevokedLink",
    "SignatureRefused",
    "SlowQuestion",
    "TimedOut",
    "TooManyCalls",
    "UnknownFinding",
    "UnknownLink",
    "Unreachable",
    "Upstream",
    "fetch_changes",
    "fetch_dashboard",
    "fetch_finding",
]
