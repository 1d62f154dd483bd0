"""The errors of a call to the service.

GatewayError
    Refused                  the service refused the request, with a code of its contract
        SignatureRefused     401: our secret or our clock is wrong; the operator must act
        InactiveEntitlement  403 inactive_entitlement: plan, status, starts_on, ends_on, reason
        RevokedLink          403 revoked_link: revoked_at, reason
        UnknownLink          404 unknown_link
        UnknownFinding       404 unknown_finding
        UnknownClaim         404 unknown_claim
        ClaimRefused         409 claim_refused: reasons, in English
        ClaimEnded           409 wrong_state: the claim has ended
        UnknownScan          404 unknown_job
        ScanRefused          403, 409, 429 or 503: no scan can begin now; code, reason, allowed_at
        RateLimited          429: retry_after seconds
            CheckTooSoon     429 check_too_soon
        SlowRequest          503 unavailable with the reason slow_question: retry_after seconds
        Rejected             any other 4xx: the service does not accept what the portal sent
            UnknownScanner   400 invalid_request about source: the website has no such scanner
    Unreachable              no connection, connection lost, or any other 5xx
        CannotConnect        nothing was sent
        Unavailable          503: the service, or its storage, cannot work now; retry_after seconds
        ServiceDown          nothing was sent, because the calls before failed
    TimedOut                 the deadline passed
    TooManyCalls             not sent: too many calls are waiting already
    BadResponse              not the promised response: not JSON, wrong shape, too large, a redirect
    Misconfigured            the portal has no usable secret or base URL
"""

from collections.abc import Sequence
from datetime import date, datetime


class GatewayError(Exception):
    """A failed call; ``request_id`` is the service's, if it sent one. Its text is never shown on a page."""

    def __init__(self, message: str = "", *, request_id: str = "") -> None:
        self.request_id = request_id
        super().__init__(message)


class Refused(GatewayError):
    """An error body of the contract: ``status`` and ``code``."""

    def __init__(self, *, status: int, code: str, request_id: str = "") -> None:
        self.status = status
        self.code = code
        super().__init__(f"{status} {code}", request_id=request_id)


class SignatureRefused(Refused):
    """401 with any code; ``skew_seconds`` is our clock minus the service's, if it sent its time."""

    def __init__(self, *, code: str, skew_seconds: int | None = None, request_id: str = "") -> None:
        self.skew_seconds = skew_seconds
        super().__init__(status=401, code=code, request_id=request_id)


class InactiveEntitlement(Refused):
    """The account's plan does not cover the dashboard now."""

    def __init__(
        self,
        *,
        plan: str,
        entitlement_status: str,
        ends_on: date | None,
        starts_on: date | None = None,
        reason: str = "",
        request_id: str = "",
    ) -> None:
        self.reason = reason
        self.starts_on = starts_on  # only if the plan begins later
        self.plan = plan
        self.entitlement_status = entitlement_status
        self.ends_on = ends_on
        super().__init__(status=403, code="inactive_entitlement", request_id=request_id)


class RevokedLink(Refused):
    """The website's link has been revoked."""

    def __init__(self, *, revoked_at: datetime | None, reason: str = "", request_id: str = "") -> None:
        self.revoked_at, self.reason = revoked_at, reason
        super().__init__(status=403, code="revoked_link", request_id=request_id)


class UnknownLink(Refused):
    """The link id and the host do not belong together."""

    def __init__(self, *, request_id: str = "") -> None:
        super().__init__(status=404, code="unknown_link", request_id=request_id)


class UnknownFinding(Refused):
    """The website has no such finding."""

    def __init__(self, *, request_id: str = "") -> None:
        super().__init__(status=404, code="unknown_finding", request_id=request_id)


class UnknownClaim(Refused):
    """The account has no such claim."""

    def __init__(self, *, request_id: str = "") -> None:
        super().__init__(status=404, code="unknown_claim", request_id=request_id)


class ClaimRefused(Refused):
    """The website cannot be claimed, for these ``reasons``."""

    def __init__(self, *, reasons: Sequence[str] = (), request_id: str = "") -> None:
        self.reasons = tuple(reasons)
        super().__init__(status=409, code="claim_refused", request_id=request_id)


class SecretRefused(Refused):
    """No secret is issued or retired; ``reason`` says why."""

    def __init__(self, *, reason: str = "", request_id: str = "") -> None:
        self.reason = reason
        super().__init__(status=409, code="secret_refused", request_id=request_id)


class ClaimEnded(Refused):
    """The claim has ended, so it is neither checked nor withdrawn."""

    def __init__(self, *, request_id: str = "") -> None:
        super().__init__(status=409, code="wrong_state", request_id=request_id)


class UnknownScan(Refused):
    """The website has no such scan."""

    def __init__(self, *, request_id: str = "") -> None:
        super().__init__(status=404, code="unknown_job", request_id=request_id)


class ScanRefused(Refused):
    """No scan can begin: ``code`` says why, ``reason`` more of it, and ``allowed_at`` when one can."""

    CODES = frozenset(
        {
            "consent_missing",
            "crawler_stopped",
            "not_scannable",
            "opted_out",
            "scan_cooldown",
            "scans_not_included",
        }
    )

    def __init__(
        self,
        *,
        status: int,
        code: str,
        reason: str = "",
        allowed_at: datetime | None = None,
        request_id: str = "",
    ) -> None:
        self.reason, self.allowed_at = reason, allowed_at
        super().__init__(status=status, code=code, request_id=request_id)


class RateLimited(Refused):
    """Too many requests; ``retry_after`` in seconds, 0 without the header."""

    def __init__(self, *, retry_after: int = 0, code: str = "rate_limited", request_id: str = "") -> None:
        self.retry_after = retry_after
        super().__init__(status=429, code=code, request_id=request_id)


class CheckTooSoon(RateLimited):
    """The claim was checked a moment ago, or another check is running; ``retry_after`` in seconds."""

    def __init__(self, *, retry_after: int = 0, request_id: str = "") -> None:
        super().__init__(retry_after=retry_after, code="check_too_soon", request_id=request_id)


class SlowRequest(Refused):
    """The service stopped a request that took too long; ``retry_after`` in seconds, 0 without the header."""

    def __init__(self, *, retry_after: int = 0, request_id: str = "") -> None:
        self.retry_after = retry_after
        super().__init__(status=503, code="unavailable", request_id=request_id)


class Rejected(Refused):
    """The service does not accept what the portal sent."""


class UnknownScanner(Rejected):
    """The request names a scanner that the website does not have, such as one of an old bookmark."""

    def __init__(self, *, request_id: str = "") -> None:
        super().__init__(status=400, code="invalid_request", request_id=request_id)


class Unreachable(GatewayError):
    """The service is down or cannot be reached."""


class CannotConnect(Unreachable):
    """Nothing was sent, so a retry is safe."""


class Unavailable(Unreachable):
    """The service says that it cannot work now; ``retry_after`` in seconds, 0 without the header."""

    def __init__(self, *, retry_after: int = 0, request_id: str = "") -> None:
        self.retry_after = retry_after
        super().__init__("the service answered 503", request_id=request_id)


class ServiceDown(Unreachable):
    """Nothing was sent: several calls in a row failed, and the next probe is not due yet."""


class TimedOut(GatewayError):
    """The response did not arrive before the deadline."""


class TooManyCalls(GatewayError):
    """Nothing was sent because too many calls are waiting; other pages keep their threads."""


class BadResponse(GatewayError):
    """The response breaks the contract."""


class Misconfigured(GatewayError):
    """The portal lacks a setting or a secret that a call needs."""
