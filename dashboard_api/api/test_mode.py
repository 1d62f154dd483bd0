"""Responses to calls signed with a test secret: the examples of the documentation. Decision record 0091.

The example website is no row of the database, so these calls read and count nothing of a customer.
"""

import msgspec

from dashboard_api.api.authorization import OfScans
from dashboard_api.api.request import Reply
from dashboard_api.contract import (
    AccountChangesRequest,
    CallsRequest,
    ChangesRequest,
    ClaimCheckRequest,
    ClaimRequest,
    ClaimsRequest,
    ClaimWithdrawRequest,
    DashboardRequest,
    EntitlementRequest,
    FindingRequest,
    PublicityRequest,
    ScanCancelRequest,
    ScanStatusRequest,
    SecretsRequest,
    WebsitesRequest,
    examples,
    openapi,
)
from dashboard_api.errors import UnknownFinding, UnknownLink, UnknownScan

_OfClaims = ClaimRequest | ClaimCheckRequest | ClaimWithdrawRequest | ClaimsRequest
_OfPlan = EntitlementRequest | AccountChangesRequest | WebsitesRequest
_OfAccount = CallsRequest | _OfPlan | _OfClaims | PublicityRequest | SecretsRequest
Request = DashboardRequest | FindingRequest | ChangesRequest | OfScans | _OfAccount
_BODIES = {  # by the name of the request's type
    route.question: msgspec.json.encode(examples.RESPONSES[route.answer.__name__]) for route in openapi.ROUTES
}
_FINDING_ID = examples.REQUESTS["FindingRequest"]["finding_id"]
_JOB_ID = examples.REQUESTS["ScanStatusRequest"]["job_id"]


def example_reply(request: Request) -> Reply:
    """Return the example response, whatever the filters; raises UnknownLink, UnknownFinding, UnknownScan."""
    if isinstance(request, _OfAccount):
        return _example(request)
    host, link_id = examples.LINK["host"], examples.LINK["link_id"]
    if (request.host, request.link_id) != (host, link_id):
        raise UnknownLink(f"A test secret has one website only: host {host}, link_id {link_id}.")
    if isinstance(request, FindingRequest) and request.finding_id != _FINDING_ID:
        raise UnknownFinding(f"The example website has one finding only: finding_id {_FINDING_ID}.")
    if isinstance(request, ScanStatusRequest | ScanCancelRequest) and str(request.job_id) != _JOB_ID:
        raise UnknownScan(f"The example website has one scan only: job_id {_JOB_ID}.")
    return _example(request)


def _example(request: Request) -> Reply:
    return Reply(_BODIES[type(request).__name__], 200, {openapi.TEST_HEADER: "true"})
