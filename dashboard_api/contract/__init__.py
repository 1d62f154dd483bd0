"""The contract of the signed API: requests, responses, and their OpenAPI document."""

from dashboard_api.contract.cursor import Cursor
from dashboard_api.contract.envelope import Envelope, read_envelope
from dashboard_api.contract.requests import (
    CHANGES_PATH,
    DASHBOARD_PATH,
    FINDING_PATH,
    NEXT_IMPORT,
    PROBLEM,
    ChangesRequest,
    DashboardRequest,
    FindingRequest,
    read_changes_request,
    read_dashboard_request,
    read_finding_request,
)

__all__ = [
    "CHANGES_PATH",
    "DASHBOARD_PATH",
    "FINDING_PATH",
    "NEXT_IMPORT",
    "PROBLEM",
    "ChangesRequest",
    "Cursor",
    "DashboardRequest",
    "Envelope",
    "FindingRequest",
    "read_changes_request",
    "read_dashboard_request",
    "read_envelope",
    "read_finding_request",
]
