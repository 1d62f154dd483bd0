"""The exceptions that a failed call raises.

CallError
    Refused                  the service refused the request, with a code of the contract
        SignatureRefused     401: the secret or the clock of the caller is wrong
        InvalidRequest       400 invalid_request
        InactiveEntitlement  403 inactive_entitlement
        RevokedLink          403 revoked_link
        UnknownLink          404 unknown_link
        UnknownFinding       404 unknown_finding
        UnknownClaim         404 unknown_claim
        ClaimRefused         409 claim_refused
        WrongState           409 wrong_state
        AlreadyAnswered      409 already_answered
        SelectionChanged     409 selection_changed
        TooManyDisputes      429 too_many_open
        ReusedKey            409 idempotency_key_reused
        UnknownScan          404 unknown_job
        UnknownRun           404 unknown_run
        ScanRefused          no scan can begin now (six codes)
        SecretRefused        409 secret_refused
        RateLimited          429
            CheckTooSoon     429 check_too_soon
        SlowRequest          503 unavailable with the reason slow_question
    Unreachable              no connection, connection lost, or any other 5xx
        CannotConnect        nothing was sent
        Unavailable          503
    TimedOut                 the deadline passed
    BadResponse              the response breaks the contract: not JSON, another shape, oversized, a redirect
"""

import time
from datetime import date
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from signed_api.values import Few, Moment, Number, exactly


class FieldError(msgspec.Struct, frozen=True, kw_only=True):
    """A field of the request that breaks a rule."""

    field: str = ""
    message: str = ""


class ErrorDetail(msgspec.Struct, frozen=True, kw_only=True):
    """The reason for a refusal; the members after doc_url depend on the code."""

    code: Annotated[str, exactly("[a-z_]{1,64}")]
    message: str = ""
    request_id: str = ""
    doc_url: Annotated[str, Meta(description="The address of the page that explains the code.")] = ""
    reason: str = ""
    reasons: Few[str] = []
    errors: list[FieldError] = []
    mistake: str = ""
    header: str = ""
    expected: str = ""
    method: str = ""
    path: str = ""
    body_sha256: str = ""
    canonical_sha256: str = ""
    canonical_length: Number = 0
    server_time: Number | None = None
    window_seconds: Number = 0
    skew_seconds: Number = 0
    host: str = ""
    plan: str | None = None
    status: str = ""
    ended_reason: str = ""
    starts_on: date | None = None
    ends_on: date | None = None
    revoked_at: Moment | None = None
    limit: Number = 0
    used: Number = 0
    resets_at: Moment | None = None
    allowed_at: Moment | None = None
    remaining_today: Number = 0
    limit_seconds: float = 0
    max_bytes: Number = 0
    total: Number = 0
    added: Number = 0
    removed: Number = 0


class ErrorResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The body of every refusal."""

    ok: Annotated[bool, Meta(description="Always false.")]
    error: ErrorDetail


class CallError(Exception):
    """A failed call; ``request_id`` is the id that the service sent, or empty."""

    def __init__(self, message: str = "", *, request_id: str = "") -> None:
        self.request_id = request_id
        super().__init__(message)


class Refused(CallError):
    """The service refused the request; ``status``, ``code`` and ``detail`` say why.

    ``retry_after`` has the seconds until a new attempt may succeed; 0 without the header.
    """

    default_status: ClassVar[int] = 400
    codes: ClassVar[tuple[str, ...]] = ()  # error codes that raise this class

    def __init__(
        self,
        detail: ErrorDetail | None = None,
        *,
        status: int = 0,
        retry_after: int = 0,
        request_id: str = "",
    ) -> None:
        self.status = status or self.default_status
        self.detail = detail or ErrorDetail(code=self.codes[0] if self.codes else "refused")
        self.retry_after = retry_after
        super().__init__(f"{self.status} {self.code}", request_id=request_id)

    @property
    def code(self) -> str:
        """The error code of the contract."""
        return self.detail.code


class SignatureRefused(Refused):
    """The secret or the clock of the caller is wrong; ``detail`` says what the service received."""

    default_status, codes = 401, ("invalid_signature", "stale_timestamp", "replayed_nonce")

    @property
    def skew_seconds(self) -> int | None:
        """The seconds by which the caller's clock is ahead, if the service sent its time."""
        server_time = self.detail.server_time
        return None if server_time is None else int(time.time()) - server_time


class InvalidRequest(Refused):
    """Fields break their rules; ``detail.errors`` lists them."""

    codes = ("invalid_request",)


class InactiveEntitlement(Refused):
    """The account's plan does not cover the call now; ``detail`` has plan, status, starts_on and ends_on."""

    default_status, codes = 403, ("inactive_entitlement",)


class RevokedLink(Refused):
    """The link was revoked; ``detail`` has revoked_at and reason."""

    default_status, codes = 403, ("revoked_link",)


class UnknownLink(Refused):
    """No website is linked to the account by this link_id and host."""

    default_status, codes = 404, ("unknown_link",)


class UnknownFinding(Refused):
    """The website has no finding with this id."""

    default_status, codes = 404, ("unknown_finding",)


class UnknownClaim(Refused):
    """The account has no claim with this id."""

    default_status, codes = 404, ("unknown_claim",)


class ClaimRefused(Refused):
    """The website cannot be claimed; ``detail.reasons`` say why."""

    default_status, codes = 409, ("claim_refused",)


class WrongState(Refused):
    """The claim has ended, or the finding, answer, message or script is not in a state for this call."""

    default_status, codes = 409, ("wrong_state",)


ClaimEnded = WrongState  # its name before version 1.2.0


class AlreadyAnswered(Refused):
    """A finding has an open answer, which the call was not to replace."""

    default_status, codes = 409, ("already_answered",)


class SelectionChanged(Refused):
    """Other findings match than in the preview; ``detail`` has total, added and removed."""

    default_status, codes = 409, ("selection_changed",)


class TooManyDisputes(Refused):
    """The account has as many open disputes as it may have."""

    default_status, codes = 429, ("too_many_open",)


class ReusedKey(Refused):
    """The request_key was used for another request."""

    default_status, codes = 409, ("idempotency_key_reused",)


class UnknownScan(Refused):
    """The website has no scan with this id."""

    default_status, codes = 404, ("unknown_job",)


class UnknownRun(Refused):
    """The website has no two runs of one scanner with these ids, or none to compare."""

    default_status, codes = 404, ("unknown_run",)


class UnknownScript(Refused):
    """No scan saw a script with this address on the home page."""

    default_status, codes = 404, ("unknown_script",)


class ScanRefused(Refused):
    """No scan can begin now; ``code`` says why, and ``detail`` can have reason and allowed_at."""

    default_status = 409
    codes = (
        "not_scannable",
        "consent_missing",
        "crawler_stopped",
        "opted_out",
        "scan_cooldown",
        "scans_not_included",
    )


class SecretRefused(Refused):
    """The secret cannot be issued or retired; ``detail.reason`` says why."""

    default_status, codes = 409, ("secret_refused",)


class RateLimited(Refused):
    """The account made too many requests; try again after ``retry_after`` seconds."""

    default_status, codes = 429, ("rate_limited",)


class CheckTooSoon(RateLimited):
    """The claim was checked a moment ago, or another check is running."""

    codes = ("check_too_soon",)


class SlowRequest(Refused):
    """The service stopped a request that took too long; the reason tells this 503 from an outage."""

    default_status, codes = 503, ("unavailable",)


class Unreachable(CallError):
    """The service is down or cannot be reached."""


class CannotConnect(Unreachable):
    """The connection failed before the request was sent, so another attempt is safe."""


class Unavailable(Unreachable):
    """The service reports an outage; ``retry_after`` is in seconds, 0 without the header."""

    def __init__(self, *, retry_after: int = 0, request_id: str = "") -> None:
        self.retry_after = retry_after
        super().__init__("the service answered 503", request_id=request_id)


class TimedOut(CallError):
    """The response did not arrive before the deadline."""


class BadResponse(CallError):
    """The response breaks the contract."""


BY_CODE: dict[str, type[Refused]] = {
    code: kind
    for kind in (
        *(InvalidRequest, InactiveEntitlement, RevokedLink, UnknownLink, UnknownFinding, UnknownClaim),
        *(ClaimRefused, WrongState, UnknownScan, UnknownRun, UnknownScript, ScanRefused, SecretRefused),
        *(AlreadyAnswered, SelectionChanged, TooManyDisputes, ReusedKey),
    )
    for code in kind.codes
}
