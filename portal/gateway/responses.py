"""Decoding of the service's HTTP responses into messages or errors."""

import re
import time
from datetime import date
from typing import Annotated, Any, TypeVar

import msgspec

from portal.gateway.errors import (
    BadResponse,
    CheckTooSoon,
    ClaimEnded,
    ClaimRefused,
    GatewayError,
    InactiveEntitlement,
    RateLimited,
    Rejected,
    RevokedLink,
    ScanRefused,
    SecretRefused,
    SignatureRefused,
    SlowRequest,
    Unavailable,
    UnknownClaim,
    UnknownFinding,
    UnknownLink,
    UnknownScan,
    UnknownScanner,
    Unreachable,
)
from portal.gateway.exchange import Exchange
from portal.gateway.messages import (
    AccountChanges,
    AccountPlan,
    AccountWebsites,
    Calls,
    Changes,
    ClaimResponse,
    Claims,
    Dashboard,
    Few,
    FindingResponse,
    Moment,
    Publicity,
    ScanResponse,
    ScanRules,
    Scans,
    Secrets,
)

Response = TypeVar(
    "Response",
    Dashboard,
    FindingResponse,
    Changes,
    Calls,
    AccountChanges,
    AccountPlan,
    AccountWebsites,
    ClaimResponse,
    Claims,
    Publicity,
    ScanResponse,
    Scans,
    ScanRules,
    Secrets,
)
_DECODE_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
MAX_WAIT_SECONDS = 3600  # the longest wait that a page names, even where Retry-After is longer
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)


class _FieldError(msgspec.Struct):
    """A field of the request that breaks a rule."""

    field: str = ""


class _ErrorDetail(msgspec.Struct):
    """The ``error`` member: its code, and the details of some codes."""

    code: Annotated[str, msgspec.Meta(pattern=r"\A[a-z_]{1,64}\Z")]
    reason: str = ""
    server_time: int | None = None
    plan: str | None = ""  # null for an account without one
    status: str = ""
    starts_on: date | None = None
    ends_on: date | None = None
    revoked_at: Moment | None = None
    reasons: Few[str] = []
    errors: list[_FieldError] = []
    allowed_at: Moment | None = None


class _ErrorBody(msgspec.Struct):
    """The error body of the contract."""

    ok: bool
    error: _ErrorDetail


# Created at import: msgspec crashes when several threads use a type for the first time at once.
_DECODERS: dict[Any, msgspec.json.Decoder[Any]] = {
    kind: msgspec.json.Decoder(kind)
    for kind in (
        *(Dashboard, FindingResponse, Changes, Calls, AccountChanges, AccountPlan),
        *(ClaimResponse, Claims, Publicity, AccountWebsites),
        *(ScanResponse, Scans, ScanRules, Secrets),
    )
}
_ERRORS = msgspec.json.Decoder(_ErrorBody)


def read_response(exchange: Exchange, kind: type[Response], *, host: str = "") -> Response:
    """Return the response, about ``host`` if given; raises Refused, Unreachable or BadResponse."""
    request_id = _request_id(exchange)
    if exchange.status != 200:
        raise _error(exchange, request_id)
    try:
        response: Response = _DECODERS[kind].decode(exchange.body)
    except _DECODE_ERRORS as error:
        raise BadResponse(f"no {kind.__name__}: {error}", request_id=request_id) from error
    if not response.ok or getattr(response, "host", "") != host:
        raise BadResponse("the response is about another website, or not ok", request_id=request_id)
    return response


def lacks_route(exchange: Exchange) -> bool:
    """Return whether the service does not know the path, as older services do not know newer calls."""
    if exchange.status != 404:
        return False
    return _code(exchange) in ("not_found", "")


def _error(exchange: Exchange, request_id: str) -> GatewayError:
    """Return the error for a status other than 200."""
    wait = min(exchange.retry_after or 0, MAX_WAIT_SECONDS)
    if _code(exchange) in ScanRefused.CODES:
        detail = _ERRORS.decode(exchange.body).error
        return ScanRefused(
            status=exchange.status,
            code=detail.code,
            reason=detail.reason,
            allowed_at=detail.allowed_at,
            request_id=request_id,
        )
    if exchange.status == 503 and is_slow_request(exchange):
        return SlowRequest(retry_after=wait, request_id=request_id)
    if exchange.status == 503:
        return Unavailable(retry_after=wait, request_id=request_id)
    if exchange.status >= 500:
        return Unreachable(f"the service answered {exchange.status}", request_id=request_id)
    if exchange.status == 429:  # often from a proxy, without a body of the contract
        error = CheckTooSoon if _code(exchange) == "check_too_soon" else RateLimited
        return error(retry_after=wait, request_id=request_id)
    if exchange.status < 400:
        return BadResponse(f"the service answered {exchange.status}", request_id=request_id)
    try:
        body = _ERRORS.decode(exchange.body)
    except _DECODE_ERRORS as error:
        return BadResponse(f"{exchange.status} without a reason: {error}", request_id=request_id)
    if body.ok:
        return BadResponse(f"{exchange.status} with ok set to true", request_id=request_id)
    return _refused(exchange, body.error, request_id)


def is_outage(exchange: Exchange) -> bool:
    """Return whether the service, or a proxy in front of it, says that it cannot work now."""
    is_outage = exchange.status in (502, 503, 504) and not is_slow_request(exchange)
    return is_outage and _code(exchange) not in ScanRefused.CODES


def is_slow_request(exchange: Exchange) -> bool:
    """Return whether a 503 is about this one request; most are about the whole service."""
    try:
        return _ERRORS.decode(exchange.body).error.reason == "slow_question"
    except _DECODE_ERRORS:
        return False


def _code(exchange: Exchange) -> str:
    """Return the code of an error; empty without a body of the contract."""
    try:
        return _ERRORS.decode(exchange.body).error.code
    except _DECODE_ERRORS:
        return ""


def _refused(exchange: Exchange, detail: _ErrorDetail, request_id: str) -> GatewayError:
    match exchange.status, detail.code:
        case 400, "invalid_request" if any(each.field == "source" for each in detail.errors):
            return UnknownScanner(request_id=request_id)
        case 401, code:
            skew = None if detail.server_time is None else int(time.time()) - detail.server_time
            return SignatureRefused(code=code, skew_seconds=skew, request_id=request_id)
        case 403, "inactive_entitlement":
            return InactiveEntitlement(
                plan=detail.plan or "",
                entitlement_status=detail.status,
                starts_on=detail.starts_on,
                ends_on=detail.ends_on,
                reason=detail.reason or "",
                request_id=request_id,
            )
        case 403, "revoked_link":
            return RevokedLink(
                revoked_at=detail.revoked_at, reason=detail.reason or "", request_id=request_id
            )
        case 404, "unknown_link":
            return UnknownLink(request_id=request_id)
        case 404, "unknown_finding":
            return UnknownFinding(request_id=request_id)
        case 404, "unknown_claim":
            return UnknownClaim(request_id=request_id)
        case 404, "unknown_job":
            return UnknownScan(request_id=request_id)
        case 409, "claim_refused":
            return ClaimRefused(reasons=detail.reasons, request_id=request_id)
        case 409, "secret_refused":
            return SecretRefused(reason=detail.reason, request_id=request_id)
        case 409, "wrong_state":
            return ClaimEnded(request_id=request_id)
        case status, code:
            return Rejected(status=status, code=code, request_id=request_id)


def _request_id(exchange: Exchange) -> str:
    """Return the service's id of this call; empty for a header that is not safe to log."""
    request_id = exchange.headers.get("x-request-id", "")
    return request_id if _REQUEST_ID.fullmatch(request_id) else ""
