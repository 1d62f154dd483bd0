"""From an answer of the service to what it tells, or to the error that it means."""

import re
import time
from datetime import date
from typing import Annotated, Any, TypeVar

import msgspec

from portal.gateway.errors import (
    BadAnswer,
    GatewayError,
    InactiveEntitlement,
    RateLimited,
    Rejected,
    RevokedLink,
    SignatureRefused,
    SlowQuestion,
    UnknownFinding,
    UnknownLink,
    Unreachable,
)
from portal.gateway.exchange import Exchange
from portal.gateway.messages import Changes, Dashboard, FindingAnswer, Moment

Answer = TypeVar("Answer", Dashboard, FindingAnswer, Changes)
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
MAX_WAIT_SECONDS = 3600  # the longest wait that a page names, even where Retry-After is longer
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)


class _Detail(msgspec.Struct):
    """The ``error`` member: its code, and the details that some codes carry."""

    code: Annotated[str, msgspec.Meta(pattern=r"\A[a-z_]{1,64}\Z")]
    reason: str = ""
    server_time: int | None = None
    plan: str = ""
    status: str = ""
    ends_on: date | None = None
    revoked_at: Moment | None = None


class _Refusal(msgspec.Struct):
    """The contract's error body."""

    ok: bool
    error: _Detail


# Made at import: msgspec crashes where several threads use a type for the first time at once.
_DECODERS: dict[Any, msgspec.json.Decoder[Any]] = {
    kind: msgspec.json.Decoder(kind) for kind in (Dashboard, FindingAnswer, Changes)
}
_REFUSALS = msgspec.json.Decoder(_Refusal)


def read_answer(exchange: Exchange, kind: type[Answer], *, host: str) -> Answer:
    """What ``exchange`` brought about ``host``; raises Refused, Unreachable or BadAnswer."""
    request_id = _request_id(exchange)
    if exchange.status != 200:
        raise _refusal(exchange, request_id)
    try:
        answer: Answer = _DECODERS[kind].decode(exchange.body)
    except _UNREADABLE as error:
        raise BadAnswer(f"no {kind.__name__}: {error}", request_id=request_id) from error
    if not answer.ok or answer.host != host:
        raise BadAnswer("an answer about another website, or none", request_id=request_id)
    return answer


def lacks_route(exchange: Exchange) -> bool:
    """Whether the service does not know the path at all: whatever it says, it is no code of that path's."""
    if exchange.status != 404:
        return False
    try:
        return _REFUSALS.decode(exchange.body).error.code == "not_found"
    except _UNREADABLE:
        return True


def _refusal(exchange: Exchange, request_id: str) -> GatewayError:
    """The error that a status other than 200 means."""
    if exchange.status == 503 and _is_slow_question(exchange):
        wait = min(exchange.retry_after or 0, MAX_WAIT_SECONDS)
        return SlowQuestion(retry_after=wait, request_id=request_id)
    if exchange.status >= 500:
        return Unreachable(f"the service answered {exchange.status}", request_id=request_id)
    if exchange.status == 429:  # often a proxy's, without a body of the contract
        return RateLimited(
            retry_after=min(exchange.retry_after or 0, MAX_WAIT_SECONDS), request_id=request_id
        )
    if exchange.status < 400:
        return BadAnswer(f"the service answered {exchange.status}", request_id=request_id)
    try:
        refusal = _REFUSALS.decode(exchange.body)
    except _UNREADABLE as error:
        return BadAnswer(f"{exchange.status} without a reason: {error}", request_id=request_id)
    if refusal.ok:
        return BadAnswer(f"{exchange.status} that says ok", request_id=request_id)
    return _refused(exchange, refusal.error, request_id)


def _is_slow_question(exchange: Exchange) -> bool:
    """Most of 503 is not the service's own: a proxy's page, say."""
    try:
        return _REFUSALS.decode(exchange.body).error.reason == "slow_question"
    except _UNREADABLE:
        return False


def _refused(exchange: Exchange, detail: _Detail, request_id: str) -> GatewayError:
    match exchange.status, detail.code:
        case 401, code:
            skew = None if detail.server_time is None else int(time.time()) - detail.server_time
            return SignatureRefused(code=code, skew_seconds=skew, request_id=request_id)
        case 403, "inactive_entitlement":
            return InactiveEntitlement(
                plan=detail.plan,
                entitlement_status=detail.status,
                ends_on=detail.ends_on,
                request_id=request_id,
            )
        case 403, "revoked_link":
            return RevokedLink(revoked_at=detail.revoked_at, request_id=request_id)
        case 404, "unknown_link":
            return UnknownLink(request_id=request_id)
        case 404, "unknown_finding":
            return UnknownFinding(request_id=request_id)
        case status, code:
            return Rejected(status=status, code=code, request_id=request_id)


def _request_id(exchange: Exchange) -> str:
    """The service's id of this call, unless it is something else that a log should not hold."""
    request_id = exchange.headers.get("x-request-id", "")
    return request_id if _REQUEST_ID.fullmatch(request_id) else ""
