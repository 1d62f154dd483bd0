"""The contract of the signed API: requests, responses, and their OpenAPI document."""

from dashboard_api.contract.cursor import CallPosition, Cursor
from dashboard_api.contract.envelope import Envelope, read_envelope
from dashboard_api.contract.requests import (
    CALLS_PATH,
    CHANGES_PATH,
    DASHBOARD_PATH,
    FINDING_PATH,
    NEXT_IMPORT,
    PROBLEM,
    REFUSED,
    CallsRequest,
    ChangesRequest,
    DashboardRequest,
    FindingRequest,
    read_calls_request,
    read_changes_request,
    read_dashboard_request,
    read_finding_request,
)

__all__ = [
    "CALLS_PATH",
    "CHANGES_PATH",
    "DASHBOARD_PATH",
    "FINDING_PATH",
    "NEXT_IMPORT",
    "PROBLEM",
    "REFUSED",
    "CallPosition",
    "CallsRequest",
    "ChangesRequest",
    "Cursor",
    "DashboardRequest",
    "Envelope",
    "FindingRequest",
    "read_calls_request",
    "read_changes_request",
    "read_dashboard_request",
    "read_envelope",
    "read_finding_request",
]
