"""The portal's client of the dashboard service: signs requests and returns typed responses.

Only this package uses HTTP.
"""

from portal.gateway.client import fetch_changes, fetch_dashboard, fetch_finding
from portal.gateway.errors import (
    BadResponse,
    CannotConnect,
    GatewayError,
    InactiveEntitlement,
    Misconfigured,
    RateLimited,
    Refused,
    Rejected,
    RevokedLink,
    ServiceDown,
    SignatureRefused,
    SlowRequest,
    TimedOut,
    TooManyCalls,
    Unavailable,
    UnknownFinding,
    UnknownLink,
    Unreachable,
)
from portal.gateway.messages import Changes, ChangesRequest, Dashboard, DashboardRequest, FindingResponse
from portal.gateway.target import LinkedSite, Service

__all__ = [
    "BadResponse",
    "CannotConnect",
    "Changes",
    "ChangesRequest",
    "Dashboard",
    "DashboardRequest",
    "FindingResponse",
    "GatewayError",
    "InactiveEntitlement",
    "LinkedSite",
    "Misconfigured",
    "RateLimited",
    "Refused",
    "Rejected",
    "RevokedLink",
    "Service",
    "ServiceDown",
    "SignatureRefused",
    "SlowRequest",
    "TimedOut",
    "TooManyCalls",
    "Unavailable",
    "UnknownFinding",
    "UnknownLink",
    "Unreachable",
    "fetch_changes",
    "fetch_dashboard",
    "fetch_finding",
]
