"""Responses to calls with a test secret: the examples of the documentation.

The example website is not in the database, so these calls never read or count a customer's data.
"""

from typing import Any

import msgspec

from dashboard_api.api.request import Reply
from dashboard_api.contract.openapi import TEST_HEADER
from dashboard_api.errors import UnknownFinding, UnknownLink, UnknownScan
from signed_api.all_routes import ROUTES
from signed_api.example_calls import LINK, example_of
from signed_api.findings import FINDING, FindingRequest
from signed_api.routes import Route
from signed_api.scans import SCAN_STATUS, ScanCancelRequest, ScanStatusRequest
from signed_api.values import SiteRequest

_EXAMPLE_BODIES = {route.path: msgspec.json.encode(example_of(route)["response"]) for route in ROUTES}
_FINDING_ID = example_of(FINDING)["request"]["finding_id"]
_JOB_ID = example_of(SCAN_STATUS)["request"]["job_id"]


def example_reply(route: Route[Any, Any], request: msgspec.Struct) -> Reply:
    """Return the example response; filters have no effect.

    Raises UnknownLink, UnknownFinding or UnknownScan for ids that differ from the example.
    """
    if isinstance(request, SiteRequest):
        host, link_id = LINK["host"], LINK["link_id"]
        if (request.host, request.link_id) != (host, link_id):
            raise UnknownLink(f"A test secret has one website only: host {host}, link_id {link_id}.")
    if isinstance(request, FindingRequest) and request.finding_id != _FINDING_ID:
        raise UnknownFinding(f"The example website has one finding only: finding_id {_FINDING_ID}.")
    if isinstance(request, ScanStatusRequest | ScanCancelRequest) and request.job_id != _JOB_ID:
        raise UnknownScan(f"The example website has one scan only: job_id {_JOB_ID}.")
    return Reply(_EXAMPLE_BODIES[route.path], 200, {TEST_HEADER: "true"})
