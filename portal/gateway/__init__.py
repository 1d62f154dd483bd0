"""The portal's client of the dashboard service: signs requests and returns typed responses.

Only this package uses HTTP.
"""

from portal.gateway.client import fetch_calls, fetch_changes, fetch_dashboard, fetch_finding
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
from portal.gateway.messages import (
    Calls,
    CallsRequest,
    Changes,
    ChangesRequest,
    Dashboard,
    DashboardRequest,
    FindingResponse,
    SignedCall,
)
from portal.gateway.target import LinkedSite, Service, SigningAccount

__all__ = [
    "BadResponse",
    "Calls",
    "CallsRequest",
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
    "SignedCall",
    "SigningAccount",
    "SlowRequest",
    "TimedOut",
    "TooManyCalls",
    "Unavailable",
    "UnknownFinding",
    "UnknownLink",
    "Unreachable",
    "fetch_calls",
    "fetch_changes",
    "fetch_dashboard",
    "fetch_finding",
]
