"""Responses to calls signed with a test secret: the examples of the documentation. Decision record 0091.

The example website is no row of the database, so these calls read and count nothing of a customer.
"""

import msgspec

from dashboard_api.api.request import Reply
from dashboard_api.contract import (
    CallsRequest,
    ChangesRequest,
    ClaimCheckRequest,
    ClaimRequest,
    ClaimsRequest,
    ClaimWithdrawRequest,
    DashboardRequest,
    FindingRequest,
    examples,
    openapi,
)
from dashboard_api.errors import UnknownFinding, UnknownLink

_OfAccount = CallsRequest | ClaimRequest | ClaimCheckRequest | ClaimWithdrawRequest | ClaimsRequest
Request = DashboardRequest | FindingRequest | ChangesRequest | _OfAccount
_BODIES = {
    request: msgspec.json.encode(examples.RESPONSES[response])
    for request, response in (
        (DashboardRequest, "DashboardResponse"),
        (FindingRequest, "FindingResponse"),
        (ChangesRequest, "ChangesResponse"),
        (CallsRequest, "CallsResponse"),
        (ClaimRequest, "ClaimResponse"),
        (ClaimCheckRequest, "ClaimResponse"),
        (ClaimWithdrawRequest, "ClaimResponse"),
        (ClaimsRequest, "ClaimsResponse"),
    )
}
_FINDING_ID = examples.REQUESTS["FindingRequest"]["finding_id"]


def example_reply(request: Request) -> Reply:
    """Return the example response, whatever the filters; raises UnknownLink and UnknownFinding."""
    if isinstance(request, _OfAccount):
        return _example(request)
    host, link_id = examples.LINK["host"], examples.LINK["link_id"]
    if (request.host, request.link_id) != (host, link_id):
        raise UnknownLink(f"A test secret has one website only: host {host}, link_id {link_id}.")
    if isinstance(request, FindingRequest) and request.finding_id != _FINDING_ID:
        raise UnknownFinding(f"The example website has one finding only: finding_id {_FINDING_ID}.")
    return _example(request)


def _example(request: Request) -> Reply:
    return Reply(_BODIES[type(request)], 200, {openapi.TEST_HEADER: "true"})
